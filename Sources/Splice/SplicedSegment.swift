package import Media
package import Mux

/// One output segment, ready to be written: the header, then the payloads.
package struct SplicedSegment: Sendable {
    package let initSection: InitSection
    package let fragment: Fragment
    /// Whether a period begins here: EXT-X-DISCONTINUITY.
    package let isDiscontinuous: Bool
    /// Whether the segment begins with a sync sample; every audio sample is one.
    package let isIndependent: Bool
    /// Duration in ticks of video decode time, or of audio if there is no video.
    package let duration: Ticks
    /// Date of the first video frame, or audio frame, in milliseconds since 1970.
    package let programDateTime: Int64
    /// Position of the timeline after this segment.
    package let position: TimelinePosition
    /// Upstream media sequence number of the segment that completed this one.
    package let mediaSequence: UInt64
    /// Upstream position at the end of this segment.
    package let upstreamEnd: UpstreamSegmentEnd
    package let description: PeriodDescription
    /// Source spans placed on the timeline since the segment before.
    package var spans: [SourceSpan] = []
    /// Upstream segments that begin in this one, in order; those without frames are not among them.
    package var placements: [SegmentPlacement] = []
    /// Splice commands among the frames of this segment, in order.
    package var spliceCommands: [PlacedSpliceCommand] = []
}

/// Upstream position at which an output segment ends; a restart resumes after it.
package struct UpstreamSegmentEnd: Equatable, Sendable {
    /// Media sequence number of the segment that contains the last video frame, or audio frame if there is no video.
    package let mediaSequence: UInt64
    /// Identification of the video frames; nil if there are none.
    package let frames: PublishedFrames?
}
