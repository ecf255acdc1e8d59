package import Conformance
package import Decrypt
package import Demux
package import Export
package import LiveRing
package import Media
package import Splice
package import Tracker

extension ChannelPipeline {
    /// An event that an operator may want to know of, reported once per occasion.
    package enum Event: Equatable, Sendable {
        case skipped(mediaSequence: UInt64, SkipReason)
        /// `mediaSequence` is the upstream's.
        case periodBegan(PeriodDescription, mediaSequence: UInt64)
        /// The selected program of a transport stream, and the streams of it that are used.
        case programSelected(ProgramSelection, of: InputRendition)
        case published(mediaSequence: UInt64, upstream: UInt64, duration: Ticks)
        /// A segment was not written. Reported for the first of several disk errors in a row, and for each other error.
        case publishFailed(RingError)
        /// The spool accepts segments again. `after` is the number of segments that were not written.
        case publishResumed(after: Int)
        /// The journal of an earlier process is damaged. `lost` segments of it are listed as gaps; others are not listed
        /// any more.
        case journalDamaged(lost: Int)
        case subtitlePublishFailed(RingError)
        /// Ad markers were dropped because there were too many at once. Reported once for a channel.
        case adMarkersDropped
        /// It is known what a day of the archive takes on the disk. Once, if there is an archive.
        case archiveMeasured(StorageUse)
        /// A period was dropped because its parameter sets cannot be described.
        case periodRejected(MediaError)
        /// Audio could not be transcoded and was replaced with silence.
        case audioTranscodeFailed(MediaError)
        /// The upstream is published, but not as it may seem.
        case warned(SpliceWarning)
        /// The upstream's own clock skips media time in or before a segment. Reported for the first segment in a row.
        case timestampGap(mediaSequence: UInt64, Ticks)
        /// An outage began to be filled.
        case fillerBegan(OutageFiller.Kind)
        /// The slate file changed on disk and was read again.
        case slateReloaded(SlateMovie.AudioTrackUse)
        /// A chunk of the slate cannot be read, and a gap is listed instead. Reported for the first chunk in a row.
        case slateFailed(SlateError)
        /// The channel's own output breaks a rule.
        case outputBroke(PublicationChecker.Breach)
        case ended
    }

    /// The reason why nothing of an upstream segment is published.
    package enum SkipReason: Equatable, Sendable {
        case undecryptable(DecryptError)
        case unreadable(MediaError)
        /// The segment is one of a subtitle rendition.
        case undecryptableSubtitles(DecryptError)
    }
}

/// The reason why a channel ends, as a typed value; `liverelay` makes text and an exit status of it.
package enum ChannelError: Error, Equatable, Sendable {
    /// Segments in a row do not decrypt, and nothing was published before. `url` is the channel's upstream.
    case undecryptable(DecryptError, segments: Int, url: String)
    /// Segments in a row hold no usable media, and nothing was published before. `url` is the channel's upstream.
    case unusable(MediaError, segments: Int, isEncrypted: Bool, url: String)
    /// The upstream has ended, and nothing of it could be published.
    case empty(EmptyChannel, url: String)
    case upstream(TrackerError)
    case spool(RingError)
    case slate(SlateError)
    /// The task was canceled while it worked. Nothing of the delivery in hand is published.
    case canceled
}

/// Counts of a channel of which nothing could be published.
package struct EmptyChannel: Equatable, Sendable {
    /// Main segments that arrived, and those that did not.
    package var segments = 0
    package var lost: UInt64 = 0
    /// Why the last of these did not arrive.
    package var lossReason: SegmentLoss.Reason?
    package var counts = SpliceCounts()

    package init() {}

    mutating func record(_ loss: SegmentLoss) {
        lost += UInt64(loss.mediaSequences.count)
        lossReason = loss.reason
    }
}
