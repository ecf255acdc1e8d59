package import Media

/// A demuxer: clear segments in, packets out. One value per rendition.
///
/// It may hold back an incomplete frame at the end of a segment and emit it first with the next segment. In a canceled
/// task each function throws `MediaError.Reason.canceled`; the demuxer is then of no further use.
package protocol SegmentDemuxer: Sendable {
    /// Sets the clear Media Initialization Section of the following segments (RFC 8216 §4.3.2.5); called with each
    /// segment. Containers without one ignore it.
    mutating func initialize(with section: [UInt8]) throws(MediaError)
    /// - Parameter segment: one complete clear media segment.
    mutating func feed(_ segment: [UInt8]) throws(MediaError) -> DemuxedSegment
    /// Ends the held frames at a signaled discontinuity or a lost segment: a complete frame is emitted, an incomplete
    /// one is counted.
    mutating func reset() throws(MediaError) -> DemuxedSegment
    /// Emits the held frames at the end of the upstream.
    mutating func finish() throws(MediaError) -> DemuxedSegment
}

extension SegmentDemuxer {
    package mutating func initialize(with section: [UInt8]) throws(MediaError) {}
    package mutating func reset() -> DemuxedSegment { DemuxedSegment() }
    package mutating func finish() -> DemuxedSegment { DemuxedSegment() }
}
