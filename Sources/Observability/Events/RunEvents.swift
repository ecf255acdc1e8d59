package import Channel
import Support
import Synchronization

/// Publishes the events of one run of a channel.
package final class RunEvents: Sendable {
    private struct State {
        var mapper = ChannelEventMapper()
        var recording: String?
        var start = ContinuousClock.now
    }

    private let bus: EventBus
    private let channel: String?
    private let state = Mutex(State())

    /// - Parameter channel: nil in a process of one channel.
    package init(_ bus: EventBus, channel: String?) {
        self.bus = bus
        self.channel = channel
    }

    package func start(url: String) {
        state.withLock { $0.start = .now }
        publish(.channelStart(url: url.redacted))
    }

    package func record(_ event: RelayEvent) {
        if let content = state.withLock({ $0.mapper.content(of: event) }) { publish(content) }
    }

    package func startRecording(in directory: String) {
        state.withLock { $0.recording = directory }
        publish(.recordingStart(directory: directory))
    }

    /// Has no effect if nothing is recorded.
    package func endRecording() {
        let directory = state.withLock { state in
            defer { state.recording = nil }
            return state.recording
        }
        if let directory { publish(.recordingEnd(directory: directory)) }
    }

    /// - Parameter error: why the run failed; nil if it did not.
    package func end(_ reason: EventContent.StopReason, error: String? = nil, receivedBytes: UInt64) {
        endRecording()
        if let error { publish(.channelError(.failed, reason: error)) }
        let seconds = state.withLock { (ContinuousClock.now - $0.start).inSeconds }
        publish(.channelStop(reason, seconds: seconds, receivedBytes: receivedBytes))
    }

    package func publish(_ content: EventContent) { bus.publish(content, channel: channel) }
}
