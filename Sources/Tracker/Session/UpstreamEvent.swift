package import Playlist

/// What an operator may want to know, once per change.
package enum UpstreamEvent: Equatable, Sendable {
    /// The upstream is a multivariant playlist, and this was taken from it. The subtitles are those of the first such
    /// event for the life of the session, whatever a later playlist lists.
    case variantSelected(variant: Variant, audio: Rendition?, subtitles: [Rendition])
    /// A rendition's first segments are known.
    case joined(Joined)
    /// Nothing new was listed for so long that the ladder's next step is taken. Steps that the upstream has no means
    /// for are not told.
    case stalled(RenditionRole, StallEscalation.Step, silence: Duration)
    /// The list grows again.
    case resumed(RenditionRole, silence: Duration)
    /// Nothing of what the main playlist lists could be published for so long that the ladder's next step is taken;
    /// `late` is not told, nor are steps that the upstream has no means for.
    case mediaStalled(StallEscalation.Step, silence: Duration, UnpublishedReason)
    /// Media are published again, after an outage of them.
    case mediaResumed(silence: Duration)
    /// A rendition is followed at another address from now on.
    case moved(RenditionRole, url: String)
    /// The list went back and was not believed; only the first one in a row is told.
    case stalePlaylist(RenditionRole)
    /// The upstream counts anew.
    case reset(RenditionRole, SegmentCursor.RejoinMethod)
    /// These will never be delivered.
    case lost(RenditionRole, SegmentLoss)
    /// A playlist could not be read; told when the reason changes.
    case playlistFailed(RenditionRole, TrackerError)
    /// Reading the multivariant playlist again failed; told when the reason changes.
    case multivariantReloadFailed(TrackerError)
    /// A segment, key or map did not come. `failures` counts from 1; after the last one it is lost.
    case fetchFailed(FetchRequest, FetchFailure, failures: Int, isLast: Bool)
    case keyFetched(url: String)
    /// A host asks for fewer requests: it is left alone for `pause`, then asked one thing at a time.
    case hostLimited(host: String, status: Int, pause: Duration)
    /// It has not asked so for a while, after `answers` that did.
    case hostLimitEnded(host: String, answers: Int)
    case targetDurationChanged(RenditionRole, from: Duration, to: Duration)
    /// It has an ENDLIST; a live one may begin again for a while.
    case playlistEnded(RenditionRole)
    /// One that had ended lists more, and nothing says any longer that it is finished.
    case playlistReopened(RenditionRole)
    /// A source is opened beside the one that is silent, or because the channel's own is well again; once in an outage,
    /// however often it is tried. Sources count as in `Delivery`.
    case trialStarted(source: Int, url: String)
    /// A source cannot be opened, or be followed any longer; told when the reason changes.
    case sourceFailed(Int, TrackerError)
    /// The backup that is published lists no more: it has an ENDLIST.
    case sourceEnded(Int)
    /// Another source is published from now on.
    case sourceSwitched(to: Int, url: String)
    /// Something happened to a backup that is published.
    indirect case backup(Int, UpstreamEvent)

    package struct Joined: Equatable, Sendable {
        package let rendition: RenditionRole
        /// Of the first segment to be delivered.
        package let mediaSequence: UInt64
        /// Of the playlist when it was joined: the output seals its own from the main rendition's.
        package let targetDuration: Duration
        /// ENDLIST, or type VOD, from the start: there is no live edge.
        package let isVOD: Bool

        package init(rendition: RenditionRole, mediaSequence: UInt64, targetDuration: Duration, isVOD: Bool) {
            self.rendition = rendition
            self.mediaSequence = mediaSequence
            self.targetDuration = targetDuration
            self.isVOD = isVOD
        }
    }
}

/// Why a session is over.
package enum SessionEnd: Equatable, Sendable {
    /// ENDLIST, and everything before it delivered.
    case drained
    /// The upstream was silent for longer than the policy allows.
    case gaveUp(TrackerError)
    /// It could not be opened, or cannot be read by any reader like this one.
    case failed(TrackerError)
}
