/// How the first payload of a segment relates to the PES packet that the preceding segment left open.
enum SegmentStart: Equatable, Sendable {
    /// A PES packet begins at the start of the segment.
    case newPacket
    /// The open PES packet continues, and its continuity counter fits.
    case continuation
    /// Transport packets between the two segments are missing.
    case discontinuous
}
