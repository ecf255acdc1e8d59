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
    /// Frames from an undecided recovery point on, by segment.
    private var undecided: [ReceivedFrames] = []
    private var openRandomAccess: OpenRandomAccess

    /// Frames of one upstream segment that were not handled yet.
    private struct ReceivedFrames: Equatable, Sendable {
        var packets: ArraySlice<VideoPacket>
        var boundary: SegmentBoundary
        var origin: SegmentOrigin
    }

    /// Whether frames are held until the next segment.
    var isHolding: Bool { heldPart != nil || isUndecided }

    /// Whether frames were dropped since the last period ended, and no other has begun.
    var awaitsRandomAccess: Bool { droppedFrames != nil }

    /// Whether it is not decided yet where the next period begins.
    var isUndecided: Bool { !undecided.isEmpty }

    /// Frames dropped since the signal, in this segment and in earlier ones.
    private var droppedFrames: DroppedFrames?

    private struct DroppedFrames: Equatable, Sendable {
        /// Presentation time of the earliest dropped frame on the clock of the last.
        var start: Ticks
        var last: Ticks
    }

    /// - Parameters:
    ///   - longestGap: as in `DiscontinuityDetector`.
    ///   - longestSegment: longest output segment; an IDR picture that comes within it is waited for.
    init(
        longestGap: Ticks = DiscontinuityDetector.longestGap,
        longestSegment: Ticks = DiscontinuityDetector.longestGap
    ) {
        detector = DiscontinuityDetector(longestGap: longestGap)
        openRandomAccess = OpenRandomAccess(longestSegment: longestSegment)
    }

    /// Counts of frames dropped, of timestamps inferred and of gaps in the upstream's timestamps.
    var counts: SpliceCounts { dropped + clock.counts + detector.timestampGaps.counts }

    /// Returns the parts of `packets` and of the frames held, in order, each of one period and none of them empty.
    /// - Parameter hasNoAudio: whether the segment has no audio and declares none.
    mutating func split(
        _ packets: [VideoPacket], from segment: SegmentInput, boundary: SegmentBoundary, hasNoAudio: Bool = false
    ) -> [PeriodPart] {
        let origin = SegmentOrigin(segment, isAtStart: boundary != .none, hasNoAudio: hasNoAudio)
        undecided.append(ReceivedFrames(packets: packets[...], boundary: boundary, origin: origin))
        return handleReceived(isEnd: false)
    }

    /// - Parameter isEnd: whether no frame follows the received ones.
    private mutating func handleReceived(isEnd: Bool) -> [PeriodPart] {
        var parts: [PeriodPart] = []
        while !undecided.isEmpty {
            parts += handleFirstReceived(isEnd: isEnd)
            guard undecided[0].packets.isEmpty else { break }
            undecided.removeFirst()
        }
        return parts
    }

    /// Handles the first segment received, up to an undecided recovery point.
    private mutating func handleFirstReceived(isEnd: Bool) -> [PeriodPart] {
        var origin = undecided[0].origin
        if origin.clockStart == nil { origin.clockStart = droppedFrames?.start }
        var parts = SegmentParts(after: dequeueHeldPart(), origin: origin)
        while let packet = undecided[0].packets.first {
            var advanced = clock
            let unit = advanced.unwrap(packet)
            let boundary = undecided[0].boundary
            let choice = choice(for: unit, boundary: boundary, isEnd: isEnd)
            if choice == .undecided { break }
            clock = advanced
            parts.advance(to: unit, frameDuration: clock.frameDuration)
            append(
                unit, to: &parts, boundary: boundary, allowsRecoveryPoint: choice == .begin)
            undecided[0].packets.removeFirst()
            undecided[0].boundary = .none
        }
        undecided[0].origin = parts.origin
        if undecided[0].packets.isEmpty, !parts.hasNoOwnPart {
            detector.standingDuration = parts.endSegment(longestFrame: detector.longestStandingFrame)
        }
        heldPart = parts.removeLastIfLeadingFramesMayFollow()
        return parts.all
    }

    /// Returns whether a period may begin with `unit`, the first frame received.
    private func choice(
        for unit: TimedVideo, boundary: SegmentBoundary, isEnd: Bool
    ) -> RecoveryPointChoice {
        guard let point = unit.packet.randomAccess, !point.beginsPeriodAtOnce,
            detector.awaitsSync(at: unit, boundary: boundary)
        else { return .skip }
        let continued = undecided.dropFirst().prefix { $0.boundary != .loss }
        let following = [undecided[0].packets.dropFirst()] + continued.map(\.packets)
        return RecoveryPointChoice(
            unit.packet, following: following.joined(), isEnd: isEnd || continued.count < undecided.count - 1)
    }

    private mutating func append(
        _ unit: TimedVideo, to parts: inout SegmentParts, boundary: SegmentBoundary, allowsRecoveryPoint: Bool
    ) {
        switch detector.handle(
            unit, boundary: boundary, allowsRecoveryPoint: allowsRecoveryPoint)
        {
        case .beginsPeriod(let signal):
            openRandomAccess.beginPeriod(with: unit)
            parts.beginPeriod(with: unit, after: signal, frameDuration: clock.frameDuration)
            droppedFrames = nil
        case .continues:
            var unit = unit
            unit.usesOpenRandomAccess = openRandomAccess.isUsed(at: unit)
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

    /// Ends the sequence: no frame follows those held.
    mutating func finish() -> [PeriodPart] {
        let parts = handleReceived(isEnd: true)
        detector.finish()
        return parts + (dequeueHeldPart().map { [$0] } ?? [])
    }

    private mutating func dequeueHeldPart() -> PeriodPart? {
        defer { heldPart = nil }
        return heldPart
    }
}
