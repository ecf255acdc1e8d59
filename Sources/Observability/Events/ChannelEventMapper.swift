import Channel
import LiveRing
import Support
import Tracker

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
