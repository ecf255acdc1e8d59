import Demux
import LiveRing
import Media
import Splice

extension ChannelPipeline {
    /// What a person may want to know of it, once per occasion.
    enum Event: Equatable, Sendable {
        case skipped(mediaSequence: UInt64, why: String)
        case periodBegan(PeriodDescription, mediaSequence: UInt64)
        /// Which programme of a transport stream is followed, and which of its streams.
        case programSelected(ProgramSelection, of: InputRendition)
        case published(mediaSequence: UInt64, upstream: UInt64, duration: Ticks)
        /// The first of those that the spool does not take, or one that it cannot take.
        case publishFailed(RingError)
        /// The spool takes segments again, behind so many that it did not take.
        case publishResumed(after: Int)
        /// The journal that an earlier process left is damaged: so many segments of it are listed as gaps, others are not
        /// listed any more.
        case journalDamaged(lost: Int)
        case subtitlePublishFailed(RingError)
        /// A run whose parameter sets cannot be described is left out.
        case periodRejected(MediaError)
        /// Sound that had to be encoded again could not be: there is silence instead.
        case audioTranscodeFailed(MediaError)
        /// So much time is missing in or in front of a segment on the upstream's own clock, the first of those in a row.
        case timestampGap(mediaSequence: UInt64, Ticks)
        /// Nothing comes: what stands in for it begins here.
        case fillerBegan(OutageFiller.Kind)
        /// The slate is another file than it was, or was written over, and is shown as it is now.
        case slateReloaded(SlateMovie.AudioTrackUse)
        /// A piece of the slate cannot be read, the first of those in a row; a gap is listed for it.
        case slateFailed(RelayError)
        case ended
    }
}
