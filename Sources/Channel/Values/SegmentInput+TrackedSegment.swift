import Media
import Playlist
import Splice
import Support
import Tracker

extension SegmentInput {
    /// - Parameter clear: the decrypted bytes of `tracked`.
    init(_ tracked: TrackedSegment, _ clear: DecryptedSegment, of rendition: InputRendition) {
        self.init(
            rendition: rendition, mediaSequence: tracked.segment.mediaSequence,
            discontinuitySequence: tracked.segment.discontinuitySequence,
            isDiscontinuous: tracked.segment.isDiscontinuous, isAfterDiscontinuity: tracked.isAfterDiscontinuity,
            programDateTime: tracked.segment.programDateTime?.millisecondsSince1970,
            duration: Ticks(tracked.segment.duration), initialization: clear.initialization, bytes: clear.bytes)
    }
}
