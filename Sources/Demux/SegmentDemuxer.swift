package import Media

/// The border between containers and the splice: clear segments in, packets out. One value per run of a rendition;
/// it may hold back what a segment's end left open and give it first with the next segment.
package protocol SegmentDemuxer: Sendable {
    /// The Media Initialization Section in force for what is fed next (RFC 8216 §4.3.2.5), clear; comes with each
    /// segment. Containers that need none pass it over.
    mutating func initialize(with section: [UInt8]) throws(MediaError)
    /// - Parameter segment: one whole clear media segment.
    mutating func feed(_ segment: [UInt8]) throws(MediaError) -> DemuxedSegment
    /// An announced discontinuity or a lost segment: what is open will never be continued. It is given when it is
    /// whole and counted when it is not.
    mutating func reset() -> DemuxedSegment
    /// The upstream ended: gives what was held back.
    mutating func finish() -> DemuxedSegment
}

extension SegmentDemuxer {
    package mutating func initialize(with section: [UInt8]) throws(MediaError) {}
}
