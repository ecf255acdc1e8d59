package import Fetch
package import Playlist

/// A change in a channel's intake that an operator may want to know, reported once per change.
package enum UpstreamEvent: Equatable, Sendable {
    /// A variant was chosen from the upstream's multivariant playlist.
    ///
    /// The subtitles are those of the first such event for the life of the session, whatever a later playlist lists.
    case variantSelected(variant: Variant, audio: Rendition?, subtitles: [Rendition], captions: [Rendition])
    /// The audio renditions that are followed beside that of the variant, for the life of the session. Reported before
    /// the variant, if there are any. `leading`: the audio of the variant; nil if the playlist does not name it. `omitted`:
    /// how many are not followed because there are too many.
    case audioTracksSelected([Rendition], leading: Rendition?, omitted: Int)
    /// The variants that are followed beside the leading one, for the life of the session. Reported before the leading one, if
    /// there are any. `dropped`: those beyond `VideoTrackIdentity.limit`.
    case variantsSelected([Variant], dropped: Int)
    /// A variant is not followed any more, because another one may be usable.
    case variantRefused(Variant, VariantRefusal)
    /// Another variant is followed in the middle of play: the first one fell silent, or is the better one, which came back.
    case variantChanged(from: Variant, to: Variant, VariantChange)
    /// The playlist of the variant's audio rendition cannot be had. The audio in the variant's segments takes its place, if
    /// there is some.
    case audioAbandoned(Rendition, TrackerError)
    /// The first segments of a rendition are known.
    case joined(Joined)
    /// A step was taken because a playlist listed nothing new for that long.
    ///
    /// Steps that the upstream has no means for are not reported.
    case stalled(RenditionRole, StallEscalation.Step, silence: Duration)
    /// The playlist grows again.
    case resumed(RenditionRole, silence: Duration)
    /// A step was taken because nothing of what the main playlist lists could be published for that long.
    ///
    /// `late` is not reported, nor are steps that the upstream has no means for.
    case mediaStalled(StallEscalation.Step, silence: Duration, UnpublishedReason)
    /// Media is published again after an outage of media.
    case mediaResumed(silence: Duration)
    /// A stream continues on another connection, after `silence` without a byte.
    case reconnected(StreamBreak, silence: Duration, repeatedFrames: Int)
    case moved(RenditionRole, url: String)
    /// A variant is no longer followed, because nobody asks for it.
    case released(RenditionRole)
    /// A playlist ended before what was fetched, and was ignored. Only the first one in a row is reported.
    case stalePlaylist(RenditionRole)
    /// The upstream's URL has parameters with these names, which are not understood.
    case unknownParameters([String], url: String)
    /// The upstream restarted its media sequence numbers.
    case reset(RenditionRole, SegmentCursor.RejoinMethod, Renumbering)
    case lost(RenditionRole, SegmentLoss)
    /// A playlist could not be loaded; reported when the reason changes.
    case playlistFailed(RenditionRole, TrackerError)
    /// A playlist was read although a line of it is malformed; reported once for each kind of irregularity. nil: the
    /// multivariant playlist.
    case playlistIrregular(RenditionRole?, PlaylistError)
    /// A playlist exceeds a limit, and what exceeds it is dropped; reported once for each limit. nil: the multivariant
    /// playlist.
    case playlistLimitExceeded(RenditionRole?, PlaylistLimit, dropped: Int)
    /// The multivariant playlist could not be loaded again; reported when the reason changes.
    case multivariantReloadFailed(TrackerError)
    /// An attempt for a segment, key or map failed. `failures` counts from 1; after the last attempt it is lost.
    case fetchFailed(FetchRequest, FetchFailure, failures: Int, isLast: Bool)
    case keyFetched(url: String)
    /// A host asked for fewer requests. It gets none for `pause`, then one at a time.
    case hostLimited(host: String, status: Int, pause: Duration)
    /// A host has not asked for fewer requests for a while, after `answers` that did.
    case hostLimitEnded(host: String, answers: Int)
    case targetDurationChanged(RenditionRole, from: Duration, to: Duration)
    /// The playlist has an ENDLIST. A live one may continue for a while.
    case playlistEnded(RenditionRole)
    /// A playlist that had ended lists new segments, and is not finished any more.
    case playlistReopened(RenditionRole)
    /// A source is opened beside the active one, which is silent or is a backup while the primary is healthy again.
    ///
    /// Reported once per outage, however often the source is tried. Sources count as in `Delivery`.
    case trialStarted(source: Int, url: String)
    /// A source cannot be opened or followed; reported when the reason changes.
    case sourceFailed(Int, TrackerError)
    /// The active backup has ended with an ENDLIST.
    case sourceEnded(Int)
    case sourceSwitched(to: Int, url: String)
    /// An event of the active backup.
    indirect case backup(Int, UpstreamEvent)

    /// The numbers after a reset, compared with those before.
    package enum Renumbering: Equatable, Sendable {
        /// EXT-X-MEDIA-SEQUENCE is lower than before.
        case back
        /// All numbers are above those that were listed.
        case ahead
        /// The same numbers stand for other segments.
        case reused
    }

    package struct Joined: Equatable, Sendable {
        package let rendition: RenditionRole
        /// The media sequence number of the first segment to be delivered.
        package let mediaSequence: UInt64
        /// The playlist's target duration when it was joined, from which the output's own is determined.
        package let targetDuration: Duration
        /// Whether the playlist had ENDLIST or type VOD from the start, so that there is no live edge.
        package let isVOD: Bool
    }
}

/// Why another variant is followed than before.
package enum VariantChange: Equatable, Sendable {
    /// Nothing new of it was listed or could be published.
    case silent
    /// The variant that fell silent has media again.
    case returned
}

/// Why a variant is not followed.
package enum VariantRefusal: Equatable, Sendable {
    /// No video in it can be republished. The codecs, as far as they are known.
    case foreignVideo([String])
    /// Nothing of it was published before its session failed, or too many of its segments in a row are missing.
    case failed(TrackerError)
}
