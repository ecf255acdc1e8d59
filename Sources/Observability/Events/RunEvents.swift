package import Channel
import LiveRing
import Support
import Synchronization
import Tracker

package final class RunEvents: Sendable {
    private struct State {
        var mapper = ChannelEventMapper()
        var capture: String?
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
        let contents = state.withLock { state in
            state.mapper.contents(of: event, at: ContinuousClock.now - state.start)
        }
        for content in contents { publish(content) }
    }

    package func startCapture(in directory: String) {
        state.withLock { $0.capture = directory }
        publish(.captureStart(directory: directory))
    }

    /// Does nothing if no capture is in progress.
    package func endCapture() {
        let directory = state.withLock { state in
            defer { state.capture = nil }
            return state.capture
        }
        if let directory { publish(.captureEnd(directory: directory)) }
    }

    /// - Parameter error: why the run failed; nil if it did not.
    package func end(_ reason: EventContent.StopReason, error: String? = nil, receivedBytes: UInt64) {
        endCapture()
        if let error { publish(.channelError(.failed, reason: error)) }
        let seconds = state.withLock { (ContinuousClock.now - $0.start).inSeconds }
        publish(.channelStop(reason, seconds: seconds, receivedBytes: receivedBytes))
    }

    package func publish(_ content: EventContent) { bus.publish(content, channel: channel) }
}

/// Selects and converts the channel's events that other programs receive: few, and each once.
struct ChannelEventMapper: Equatable, Sendable {
    /// When media last arrived before the reported outage; nil if no outage was reported.
    private var outageBegan: Duration?
    private var isSpoolFailing = false
    private var hasPeriod = false

    /// - Parameter now: time since the run began.
    mutating func contents(of event: RelayEvent, at now: Duration) -> [EventContent] {
        switch event.kind {
        case .upstream(let upstream): contents(of: upstream, at: now)
        case .pipeline(let pipeline): [content(of: pipeline)].compactMap(\.self)
        case .found(let side, let entry): [.channelFinding(side, entry)]
        case .resumed, .breakSlate, .drained: []
        }
    }

    private mutating func contents(of event: UpstreamEvent, at now: Duration) -> [EventContent] {
        switch event {
        case .backup(_, let event): return contents(of: event, at: now)
        case .stalled(.main, .outage, let silence):
            return beginOutage(at: now - silence, "Nothing new was listed for \(silence.secondsText).")
        case .mediaStalled(.outage, let silence, let reason):
            return beginOutage(
                at: now - silence, "Nothing could be published for \(silence.secondsText): \(reason.message)".asSentence
            )
        case .resumed(.main, let silence), .mediaResumed(let silence): return endOutage(after: silence)
        case .sourceSwitched(let source, let url):
            // A source that takes over has delivered media.
            let outage = outageBegan.map { now - $0 }
            return [.channelFailover(source: source, url: url.redacted)] + (outage.map { endOutage(after: $0) } ?? [])
        default: return []
        }
    }

    private mutating func beginOutage(at began: Duration, _ reason: String) -> [EventContent] {
        guard outageBegan == nil else { return [] }
        outageBegan = began
        return [.channelError(.outage, reason: reason)]
    }

    /// The recovery, if the outage was reported.
    private mutating func endOutage(after silence: Duration) -> [EventContent] {
        guard outageBegan != nil else { return [] }
        outageBegan = nil
        return [.channelRecovery(.outage, seconds: silence.inSeconds)]
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
