import Demux
import Media
import Mux
import Transcode

/// Where a segment comes from: the variant's own playlist, or the audio rendition beside it.
package enum InputRendition: Hashable, Sendable { case main, audio }

/// One clear media segment with what its playlist said of it.
package struct SegmentInput: Sendable {
    package let rendition: InputRendition
    package let mediaSequence: UInt64
    /// The upstream's discontinuity sequence number; renditions are matched by it where clocks alone are ambiguous.
    package let discontinuitySequence: UInt64
    /// EXT-X-DISCONTINUITY stands before it.
    package let isDiscontinuous: Bool
    /// Segments before it were lost, or the list was reset.
    package let isAfterDiscontinuity: Bool
    /// EXT-X-PROGRAM-DATE-TIME of its first sample, milliseconds since 1970; nil when the upstream gave none.
    package let programDateTime: Int64?
    /// The clear bytes of the EXT-X-MAP section in force; nil when there is none.
    package let initialization: [UInt8]?
    package let bytes: [UInt8]

    package init(
        rendition: InputRendition, mediaSequence: UInt64, discontinuitySequence: UInt64 = 0,
        isDiscontinuous: Bool = false, isAfterSeam: Bool = false, programDateTime: Int64? = nil,
        initialization: [UInt8]? = nil, bytes: [UInt8]
    ) {
        self.rendition = rendition
        self.mediaSequence = mediaSequence
        self.discontinuitySequence = discontinuitySequence
        self.isDiscontinuous = isDiscontinuous
        self.isAfterDiscontinuity = isAfterSeam
        self.programDateTime = programDateTime
        self.initialization = initialization
        self.bytes = bytes
    }
}

/// What happens upstream, in the order in which each rendition's playlist has it.
package enum SpliceInput: Sendable {
    case segment(SegmentInput)
    /// Segments of this rendition will never come; what follows them is on the far side of a seam.
    case lost(InputRendition)
    /// The rendition's playlist ended and all of it was handed in.
    case ended(InputRendition)
}
