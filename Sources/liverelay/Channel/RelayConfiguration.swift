import Foundation
import LiveRing
import Playlist
import Splice
import Tracker
import Transcode

/// One channel as an operator wants it.
struct RelayConfiguration: Sendable {
    var upstream: String
    /// Addresses that stand in for it, in the order in which they are tried.
    var backups: [String] = []
    var variant = VariantChoice.highest
    /// Silence after which the channel is given up; nil: never.
    var giveUp: Duration? = .seconds(60)
    /// Directory of the ring; its parent exists.
    var spool: String
    var retention: RetentionPolicy
    var requests = CurlConfiguration()
    /// Requests to one host at once; nil: no limit.
    var maxConnections: Int?
    var audio = AudioSettings()
    /// Directory for a capture of what the upstream answers; nil: none is kept.
    var capture: URL?

    /// Stands in when nothing comes; nil: gaps do.
    var slate: SlateSource?

    /// Silence after which missing time is listed: an outage is shown, a late segment is not. Viewers who have to wait
    /// a moment are better off than those who are sent over a discontinuity.
    static let gapDelay = OutageGapTimer.Tolerance(.halves(7), atLeast: .seconds(8))
    /// Silence after which the slate is published: before viewers run dry.
    static let slateDelay = OutageGapTimer.Tolerance(.halves(3), atLeast: .seconds(3))

    /// What a session goes by that begins with nothing.
    var policy: ChannelSession.Policy {
        ChannelSession.Policy(
            session: UpstreamSession.Policy(
                variant: variant, giveUp: giveUp, maxConnections: maxConnections, followsAudio: audio.policy != .drop),
            backups: backups, gapTolerance: slate == nil ? Self.gapDelay : Self.slateDelay)
    }

    /// What a live channel's session goes by: it goes on behind what an earlier process left. A replay does not, or it
    /// would depend on what lies in its spool.
    func policy(after past: PreviousRing?) -> ChannelSession.Policy {
        var policy = policy
        guard let past else { return policy }
        policy.joinPoint = JoinPoint(after: past.lastPublished)
        if !past.hasEnded { policy.resumedTargetDuration = .seconds(past.targetDuration) }
        return policy
    }
}

extension JoinPoint {
    /// Where the channel's own upstream goes on behind `last`. An entry of an earlier version, which says nothing of its
    /// source, has its end's date.
    fileprivate init(after last: RingEntry) {
        guard let source = last.resumePoint.upstream else {
            self.init(date: last.programDateTimeEnd)
            return
        }
        self.init(date: source.programDateTime, mediaSequence: source.sourceIndex == 0 ? source.mediaSequence : nil)
    }
}

/// What becomes of a channel's sound.
struct AudioSettings: Sendable {
    var policy = AudioPolicy.copy
    /// Where the source has no sound there is silence, in the track's own coding.
    var fillsSilence = true
}
