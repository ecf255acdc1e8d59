package import Channel
import LiveRing
import Support
import Synchronization
import Tracker

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

/// Makes events for other programs of those that a channel reports: few, and each once.
struct ChannelEventMapper: Equatable, Sendable {
    private var isInOutage = false
    private var isSpoolFailing = false
    private var hasPeriod = false

    mutating func content(of event: RelayEvent) -> EventContent? {
        switch event.kind {
        case .upstream(let upstream): content(of: upstream)
        case .pipeline(let pipeline): content(of: pipeline)
        case .resumed, .breakSlate, .drained: nil
        }
    }

    private mutating func content(of event: UpstreamEvent) -> EventContent? {
        switch event {
        case .backup(_, let event): return content(of: event)
        case .stalled(.main, .outage, let silence):
            return beginOutage("Nothing new was listed for \(silence.secondsText).")
        case .mediaStalled(.outage, let silence, let reason):
            return beginOutage("Nothing could be published for \(silence.secondsText): \(reason.message).")
        case .resumed(.main, let silence), .mediaResumed(let silence):
            guard isInOutage else { return nil }
            isInOutage = false
            return .channelRecovery(.outage, seconds: silence.inSeconds)
        case .sourceSwitched(let source, let url):
            isInOutage = false
            return .channelFailover(source: source, url: url.redacted)
        default: return nil
        }
    }

    private mutating func beginOutage(_ reason: String) -> EventContent? {
        guard !isInOutage else { return nil }
        isInOutage = true
        return .channelError(.outage, reason: reason)
    }

    private mutating func content(of event: ChannelPipeline.Event) -> EventContent? {
        switch event {
        case .periodBegan(let period, let mediaSequence):
            // The first period is the channel's beginning.
            defer { hasPeriod = true }
            return hasPeriod ? .splice(period, mediaSequence: mediaSequence) : nil
        case .publishFailed(let error) where error.isDiskError:
            guard !isSpoolFailing else { return nil }
            isSpoolFailing = true
            return .channelError(.spool, reason: RelayError(error).message)
        case .publishResumed:
            guard isSpoolFailing else { return nil }
            isSpoolFailing = false
            return .channelRecovery(.spool, seconds: nil)
        default: return nil
        }
    }
}
