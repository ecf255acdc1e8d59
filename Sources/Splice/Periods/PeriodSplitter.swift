import Demux
import Media
import Mux
import Transcode

/// Splits the video of upstream segments into periods.
struct PeriodSplitter: Equatable, Sendable {
    private var clock = VideoTimestampUnwrapper()
    private var detector: DiscontinuityDetector
    /// Counts of frames dropped at the start of a period.
    private var dropped = SpliceCounts()

    /// First frame of a period that ended its upstream segment. Leading pictures may follow; the frame then decodes in
    /// their place.
    private var heldPart: PeriodPart?

    /// Whether a frame is held until the next segment.
    var isHolding: Bool { heldPart != nil }

    /// Frames dropped since the signal, in this segment and in earlier ones.
    private var droppedFrames: DroppedFrames?

    private struct DroppedFrames: Equatable, Sendable {
        /// Presentation time of the earliest dropped frame on the clock of the last.
        var start: Ticks
        var last: Ticks
    }

    /// - Parameter longestGap: as in `DiscontinuityDetector`.
    init(longestGap: Ticks = DiscontinuityDetector.longestGap) {
        detector = DiscontinuityDetector(longestGap: longestGap)
    }

    /// Counts of frames dropped, of timestamps inferred and of gaps in the upstream's timestamps.
    var counts: SpliceCounts { dropped + clock.counts + detector.timestampGaps.counts }

    /// Returns the parts of `packets` and the held part, in order, each of one period and none of them empty.
    mutating func split(
        _ packets: [VideoPacket], from segment: SegmentInput, boundary: SegmentBoundary
    ) -> [PeriodPart] {
        var origin = SegmentOrigin(segment, isAtStart: boundary != .none)
        origin.clockStart = droppedFrames?.start
        var parts = SegmentParts(after: dequeueHeldPart(), origin: origin)
        var boundary = boundary
        for packet in packets {
            let unit = clock.unwrap(packet)
            parts.advance(to: unit, frameDuration: clock.frameDuration)
            append(unit, to: &parts, boundary: boundary)
            boundary = .none
        }
        heldPart = parts.removeLastIfLeadingFramesMayFollow()
        return parts.all
    }

    private mutating func append(_ unit: TimedVideo, to parts: inout SegmentParts, boundary: SegmentBoundary) {
        switch detector.handle(unit, boundary: boundary) {
        case .beginsPeriod(let signal):
            parts.beginPeriod(with: unit, after: signal, frameDuration: clock.frameDuration)
            droppedFrames = nil
        case .continues:
            parts.append(unit, frameDuration: clock.frameDuration)
        case .dropped(.beforeSync):
            parts.dropBeforeSync(startingAt: startOfDropped(with: unit, boundary: boundary))
            dropped.framesBeforeSync += 1
        case .dropped(.leading):
            parts.dropLeading(unit)
            dropped.leadingPictures += 1
        }
    }

    /// Returns the earliest dropped frame's time. Another signal may come before the first frame of the new period is
    /// found.
    private mutating func startOfDropped(with unit: TimedVideo, boundary: SegmentBoundary) -> Ticks {
        let isSignaled = boundary == .tagged || boundary == .loss
        if let droppedFrames, !isSignaled,
            abs((unit.pts - droppedFrames.last).count) <= DiscontinuityDetector.longestCompositionChange.count
        {
            self.droppedFrames = DroppedFrames(start: min(droppedFrames.start, unit.pts), last: unit.pts)
        } else {
            droppedFrames = DroppedFrames(start: unit.pts, last: unit.pts)
        }
        return droppedFrames?.start ?? unit.pts
    }

    /// Ends the sequence: no frame follows the held one.
    mutating func finish() -> [PeriodPart] {
        detector.finish()
        return dequeueHeldPart().map { [$0] } ?? []
    }

    private mutating func dequeueHeldPart() -> PeriodPart? {
        defer { heldPart = nil }
        return heldPart
    }
}
