import LiveRing
import Splice

extension ChannelLine {
    /// What a person may want to know of it, once per occasion.
    enum Event: Equatable, Sendable {
        case skipped(mediaSequence: UInt64, why: String)
        case runBegan(RunDescription, mediaSequence: UInt64)
        /// Which programme of a transport stream is followed, and which of its streams.
        case programme(ProgramSelection, of: SourceRendition)
        case published(mediaSequence: UInt64, upstream: UInt64, duration: Ticks)
        /// The first of those that the spool does not take, or one that it cannot take.
        case notPublished(RingError)
        /// The spool takes segments again, behind so many that it did not take.
        case publishedAgain(after: Int)
        /// The journal that an earlier process left is damaged: so many segments of it are listed as gaps, others are not
        /// listed any more.
        case journalWasDamaged(lost: Int)
        case subtitlesNotPublished(RingError)
        /// A run whose parameter sets cannot be described is left out.
        case runRefused(SpliceError)
        /// Sound that had to be encoded again could not be: there is silence instead.
        case soundRefused(SpliceError)
        /// So much time is missing in or in front of a segment on the upstream's own clock, the first of those in a row.
        case lackedTime(mediaSequence: UInt64, Ticks)
        /// Nothing comes: what stands in for it begins here.
        case standInBegan(Interlude.Kind)
        /// The slate is another file than it was, or was written over, and is shown as it is now.
        case slateChanged(SlateMovie.Sound)
        /// A piece of the slate cannot be read, the first of those in a row; a gap is listed for it.
        case slateFailed(RelayError)
        case ended
    }
}
