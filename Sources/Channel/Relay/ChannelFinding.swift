import Conformance
import Demux
import Fetch
import Media
import Playlist
import Splice
import Support
import Tracker

/// A breach of a rule by an HLS upstream, as the relay's own events prove it without further analysis, or by the channel's
/// output, which is checked if the configuration says so.
struct ChannelFinding: Equatable {
    let side: FindingSide
    let rule: Rule
    /// For people; without secrets.
    let text: String
    let count: Int

    private init(_ rule: Rule, _ text: String, of side: FindingSide = .upstream, count: Int = 1) {
        (self.side, self.rule, self.text, self.count) = (side, rule, text, count)
    }

    /// - Returns: nil for an event that breaks no rule, or whose cause is not known. A silence is the upstream's only if the
    ///   playlist was answered meanwhile, and a period after a change of sources is no splice of either: the caller knows.
    init?(_ event: RelayEvent.Kind) {
        switch event {
        case .upstream(let event): self.init(event)
        case .pipeline(let event): self.init(event)
        case .resumed, .breakSlate, .drained, .found: return nil
        }
    }

    private init?(_ event: UpstreamEvent) {
        switch event {
        case .backup(_, let event): self.init(event)
        case .playlistIrregular(_, let error):
            let isHeader = error.tag == PlaylistTag.extm3u.rawValue
            self.init(isHeader ? .playlistHeader : .tagSyntax, "a line that is malformed")
        case .targetDurationChanged: self.init(.constantTargetDuration, "another target duration")
        case .reset(_, _, .back): self.init(.sequenceNeverBack, "media sequence numbers that went back")
        case .reset(_, _, .ahead): self.init(.sequenceGrowth, "media sequence numbers that jumped ahead")
        case .reset(_, _, .reused): self.init(.constantSegment, "media sequence numbers of other segments")
        case .stalled(.main, .outage, _):
            self.init(.publicationPace, "no new segment for nearly three target durations")
        case .playlistReopened: self.init(.endIsFinal, "an EXT-X-ENDLIST that was taken back")
        case .stalePlaylist: self.init(.caching, "a playlist that ends before the one before it")
        case .playlistFailed(_, let error): self.init(error)
        case .lost(_, let loss): self.init(loss.reason)
        case .fetchFailed(_, let failure, _, _): self.init(failure)
        default: return nil
        }
    }

    private init?(_ error: TrackerError) {
        switch error.reason {
        case .refused(let status): self.init(.transfers, "a playlist that is answered with status \(status)")
        case .notAPlaylist(let kind, _): self.init(.transfers, "\(kind) in place of a playlist")
        case .malformedPlaylist: self.init(.tagSyntax, "a playlist that cannot be read")
        default: return nil
        }
    }

    private init?(_ loss: SegmentLoss.Reason) {
        switch loss {
        case .unavailable(.refused(let status)):
            self.init(.removedSegments, "a listed segment that is answered with status \(status)")
        case .notMedia: self.init(.transfers, "something else in place of media")
        case .keyUnavailable(_, .refused(let status)): self.init(.keys, "a key that is answered with status \(status)")
        default: return nil
        }
    }

    private init?(_ failure: FetchFailure) {
        switch failure {
        case .unreachable(.shortBody, _), .truncated, .tooShort:
            self.init(.transfers, "an answer that ended before the whole body")
        case .shortRange, .wrongRange: self.init(.transfers, "other bytes than the range that was asked for")
        default: return nil
        }
    }

    private init?(_ event: ChannelPipeline.Event) {
        switch event {
        case .periodBegan(let period, _):
            switch period.cause {
            case .configuration, .clock, .audioConfiguration: self.init(.untaggedSplice, "a splice without a tag")
            case .joined, .tagged, .loss, .resumed: return nil
            }
        case .skipped(_, .undecryptable), .skipped(_, .undecryptableSubtitles):
            self.init(.keys, "a segment that its key does not decrypt")
        case .skipped(_, .unreadable(let error)) where !error.isProtected:
            self.init(.transfers, "a segment that is no media")
        case .warned(.foreignParameterSets): self.init(.initFits, "other parameter sets than the init section's")
        case .warned(.noRandomAccessPoint): self.init(.keyFrames, "no random access point")
        case .outputBroke(let breach):
            self.init(breach.rule, breach.text, of: .output, count: breach.count)
        default: return nil
        }
    }
}
