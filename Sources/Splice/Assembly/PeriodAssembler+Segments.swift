import Media
import Mux

extension PeriodAssembler {
    /// Samples of one output segment, with what only their kind knows about it.
    struct SegmentTracks {
        let video: MuxTrack?
        let audio: MuxTrack?
        /// Presentation time of the first frame.
        let start: Ticks
        let duration: Ticks
        let isIndependent: Bool
        /// Position of the timeline after the segment.
        let position: TimelinePosition
        /// Upstream media sequence number of the segment that completed this one.
        let mediaSequence: UInt64
        let upstreamEnd: UpstreamSegmentEnd
    }

    /// Writes one output segment and advances the timeline. Segments with and without video are built here alone.
    /// - Returns: nil if no period is open.
    mutating func emit(_ tracks: SegmentTracks) -> SplicedSegment? {
        guard let period = state.written else { return nil }
        let isFirstOfChannel = position.isInitial
        let end = tracks.position.presentationEnd
        let fragment = FragmentWriter.write(
            sequenceNumber: position.fragmentSequence, video: tracks.video, audio: tracks.audio,
            messages: markers.dequeueMessages(before: end))
        position = tracks.position
        defer {
            state.recordSegment()
            spans = []
        }
        return SplicedSegment(
            initSection: period.initSection, fragment: fragment,
            isDiscontinuous: !period.hasSegments && !isFirstOfChannel,
            isIndependent: tracks.isIndependent, duration: tracks.duration,
            programDateTime: dates.stamp(from: tracks.start, duration: tracks.duration), position: position,
            mediaSequence: tracks.mediaSequence, upstreamEnd: tracks.upstreamEnd, description: period.description,
            spans: spans, placements: markers.dequeuePlacements(before: end, dates: dates),
            spliceCommands: markers.dequeueSpliceCommands(before: end, dates: dates))
    }
}
