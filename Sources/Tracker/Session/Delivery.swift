package import Playlist

/// The playlist of the channel that a segment came from.
package enum RenditionRole: Hashable, Sendable {
    case main, audio
    /// An audio rendition beside that of the variant, by its index in `UpstreamEvent.audioTracksSelected`.
    case furtherAudio(Int)
    /// A variant beside the leading one, by its index in `UpstreamEvent.variantsSelected`.
    case furtherVideo(Int)
    /// A rendition of the variant's SUBTITLES group, by its index in `UpstreamEvent.variantSelected`.
    case subtitles(Int)

    /// Whether no other rendition waits for this one.
    var isOptional: Bool { isSubtitles || isFurther }

    /// Whether it is audio or video beside the leading track, which leaves memory and connections to that.
    var isFurther: Bool {
        switch self {
        case .furtherAudio, .furtherVideo: true
        case .main, .audio, .subtitles: false
        }
    }

    /// Whether it is the main rendition or another variant, to which audio and subtitles belong.
    var isVideo: Bool { self == .main || isFurtherVideo }

    var isFurtherVideo: Bool { if case .furtherVideo = self { true } else { false } }

    var isSubtitles: Bool {
        if case .subtitles = self { true } else { false }
    }
}

/// A value that the tracker passes downstream: for each rendition in playlist order, each segment once.
package struct Delivery: Equatable, Sendable {
    package enum Content: Equatable, Sendable {
        case segment(TrackedSegment)
        /// Segments that will never be delivered. The next segment of the rendition follows a discontinuity.
        case lost(SegmentLoss)
        /// The end of the rendition: ENDLIST was reached, and everything before it delivered.
        ///
        /// `dateRanges` are the EXT-X-DATERANGEs that no delivered segment carried, because the last playlist had no
        /// new segment or that segment was lost.
        case ended(dateRanges: [DateRange])
        /// Media time that passed in an outage, of the main rendition only.
        case outageGap(Duration)
    }

    package let rendition: RenditionRole
    package let content: Content
    /// 0 is the channel's own upstream; backups count from 1.
    package var source = 0
    /// The session that can follow another variant if the video of the segment is foreign; nil if there is no other, or video
    /// of this one was published.
    package var variantTrial: UInt64?

    /// Whether the session gets the outcome of the delivery, as for all segments except subtitles.
    var isMedia: Bool {
        if case .segment = content { !rendition.isSubtitles } else { false }
    }

    var isMainSegment: Bool { isMedia && rendition == .main }
}

/// The result of an audio or video delivery, which only the downstream modules know.
package enum DeliveryOutcome: Equatable, Sendable {
    /// The segment, or media held until it arrived, was published.
    case published
    /// The segment can be published, but waits for the next one or for its audio.
    case held
    /// The segment can be published, but waits for a track beside the leading one, for as long as the channel's patience.
    case awaitingTrack
    case refused(UnpublishedReason)
}

/// The reason why nothing of what is listed is published.
package enum UnpublishedReason: Equatable, Sendable {
    /// No segment has arrived, and no attempt has failed yet.
    case pending
    /// The segment did not arrive, or will not.
    case lost(SegmentLoss.Reason)
    /// The segment appears to be encrypted with another key.
    case undecryptable
    /// The packets of the segment are scrambled (conditional access).
    case scrambled
    /// The segment has no media that can be republished.
    case unreadable
    /// The segment has no video but in codecs that cannot be republished, by their names. The session has another variant.
    case foreignVideo([String])
    /// The segment can be read, but has no video to present, or none that was not published before.
    case noVideo
    /// The segment has video, but no frame that decoding can begin with.
    case noRandomAccess
    /// The segment waits for audio that does not arrive.
    case noAudio
    /// The stream has no PAT, or no PMT.
    case noTables
    /// The times of the stream's frames do not advance.
    case frozenClock
}
