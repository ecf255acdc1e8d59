import Demux
import Media
import Mux
import Transcode

/// Frames that stand for longer than a segment.
extension PeriodSplitter {
    /// Returns whether the video of the period stands in a segment without frames.
    func verdict(on audio: [AudioPacket], of segment: SegmentInput, boundary: SegmentBoundary) -> StandingVideo.Verdict
    {
        if standingVideo.isOver { return .isOver }
        let isPlain = boundary == .plain && pendingBoundary == .plain
        let extent = SegmentExtent(segment, audio: audio)
        return isPlain && standingRange(before: [], extent) != nil ? .stands : .unknown
    }

    /// Returns the key frames that precede `packets`, the frames of a segment.
    mutating func repeatedFrames(
        before packets: [VideoPacket], _ extent: SegmentExtent, boundary: SegmentBoundary
    ) -> [VideoPacket] {
        guard boundary == .plain, let range = standingRange(before: packets, extent) else { return [] }
        let frames = standingVideo.frames(
            covering: range, reordering: detector.reordering, longest: detector.longestStandingFrame)
        ownCounts.stillFrames += frames.count
        return frames
    }

    /// Returns the decode times between the end of the last frame and the first of `packets`, or the end of the segment;
    /// nil if that is no time for which a frame stands.
    private func standingRange(before packets: [VideoPacket], _ extent: SegmentExtent) -> Range<Ticks>? {
        let stands = detector.standingDuration != nil
        guard !isUndecided, standingVideo.isAvailable(stands: stands), let start = detector.end else { return nil }
        let presented = start + detector.reordering
        let lead = packets.isEmpty ? DiscontinuityDetector.longestGap : SegmentExtent.tolerance
        guard stands || extent.hasAudioAlone(from: presented, longestLead: lead),
            let end = extent.end(from: presented, longestLead: lead).map({ $0 - detector.reordering })
        else { return nil }
        guard let first = packets.first else { return start < end ? start..<end : nil }
        guard stands, detector.isFollowing(first) else { return nil }
        var clock = clock
        let time = clock.unwrap(first).dts
        let tolerance = DiscontinuityDetector.standingTolerance
        return time > start + tolerance && time <= end + tolerance ? start..<time : nil
    }

    /// Returns the boundary before `packets`, and before the segments without frames that precede them.
    mutating func dequeueBoundary(before packets: [VideoPacket], _ boundary: SegmentBoundary) -> SegmentBoundary {
        guard boundary != .none else { return boundary }
        var boundary = boundary == .plain || pendingBoundary == .loss ? pendingBoundary : boundary
        if boundary == .plain, standingVideo.needsRandomAccess, let first = packets.first, !first.isIntra {
            boundary = .loss
        }
        pendingBoundary = packets.isEmpty ? boundary : .plain
        return boundary
    }
}
