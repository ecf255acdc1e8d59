import Media

/// Splits the video of upstream segments into periods.
struct PeriodSplitter: Sendable {
    var clock = VideoTimestampUnwrapper()
    var detector: DiscontinuityDetector
    /// Counts of frames dropped at the start of a period, and of key frames repeated.
    var ownCounts = SpliceCounts()

    /// First frame of a period that ended its upstream segment. Leading pictures may follow; the frame then decodes in
    /// their place.
    private var heldPart: PeriodPart?
    /// Frames from an undecided recovery point on, by segment.
    private var undecided: [ReceivedFrames] = []
    private var openRandomAccess: OpenRandomAccess
    var standingVideo = StandingVideo()
    private var assumedRefresh: AssumedRefresh
    /// Boundary before segments that had no frame, for the next one that has.
    var pendingBoundary = SegmentBoundary.plain

    private struct ReceivedFrames: Equatable, Sendable {
        var packets: ArraySlice<VideoPacket>
        var boundary: SegmentBoundary
        var origin: SegmentOrigin
        var repeatedCount = 0
    }

    var isHolding: Bool { heldPart != nil || isUndecided }

    /// Whether frames were dropped since the last period ended, and no other has begun.
    var awaitsRandomAccess: Bool { droppedFrames != nil }

    var isUndecided: Bool { !undecided.isEmpty }

    var oldestHeldSegment: UInt64? { heldPart?.mediaSequence ?? undecided.first?.origin.mediaSequence }

    /// Frames dropped since the signal, in this segment and in earlier ones.
    /// `start`: presentation time of the earliest on the clock of the last.
    private var droppedFrames: (start: Ticks, last: Ticks)?

    /// - Parameter longestSegment: longest output segment; an IDR picture that comes within it is waited for.
    init(
        longestGap: Ticks = DiscontinuityDetector.longestGap,
        longestSegment: Ticks = DiscontinuityDetector.longestGap
    ) {
        detector = DiscontinuityDetector(longestGap: longestGap)
        openRandomAccess = OpenRandomAccess(longestSegment: longestSegment)
        assumedRefresh = AssumedRefresh(longestSegment: longestSegment)
    }

    /// Counts of frames dropped or repeated, of timestamps inferred and of gaps in the upstream's timestamps.
    var counts: SpliceCounts { ownCounts + clock.counts + detector.timestampGaps.counts }

    /// Returns the parts of `packets` and of the frames held, in order, each of one period and none of them empty.
    /// - Parameter audio: audio of the segment; empty if a companion carries it.
    mutating func split(
        _ packets: [VideoPacket], from segment: SegmentInput, boundary: SegmentBoundary, audio: [AudioPacket] = [],
        hasNoAudio: Bool = false
    ) -> [PeriodPart] {
        let extent = SegmentExtent(segment, audio: audio)
        let boundary = dequeueBoundary(before: packets, boundary)
        let repeated = repeatedFrames(before: packets, extent, boundary: boundary)
        standingVideo.update(from: packets)
        let origin = SegmentOrigin(segment, extent: extent, isAtStart: boundary != .none, hasNoAudio: hasNoAudio)
        undecided.append(
            ReceivedFrames(
                packets: (repeated.isEmpty ? packets : repeated + packets)[...], boundary: boundary, origin: origin,
                repeatedCount: repeated.count))
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

    private mutating func handleFirstReceived(isEnd: Bool) -> [PeriodPart] {
        var origin = undecided[0].origin
        if origin.clockStart == nil { origin.clockStart = droppedFrames?.start }
        var parts = SegmentParts(after: dequeueHeldPart(), origin: origin)
        while let received = undecided[0].packets.first {
            let isNeeded = awaitsRandomAccess || undecided[0].boundary != .none
            let packet = assumedRefresh.apply(to: received, isNeeded: isNeeded)
            var advanced = clock
            var unit = advanced.unwrap(packet)
            unit.isRepeated = undecided[0].repeatedCount > 0
            let boundary = undecided[0].boundary
            let choice = choice(for: unit, boundary: boundary, isEnd: isEnd)
            if choice == .undecided { break }
            clock = advanced
            parts.origin.advance(to: unit, frameDuration: clock.frameDuration)
            if received.randomAccess == nil, choice == .begin { ownCounts[.assumedRandomAccessPoints] += 1 }
            append(unit, to: &parts, boundary: boundary, allowsRecoveryPoint: choice == .begin)
            undecided[0].packets.removeFirst()
            undecided[0].boundary = .none
            if unit.isRepeated { undecided[0].repeatedCount -= 1 }
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
        let verdict = detector.handle(unit, boundary: boundary, allowsRecoveryPoint: allowsRecoveryPoint)
        if verdict != .leads { ownCounts[.leadingPictures] += parts.endLeadingPictures() }
        switch verdict {
        case .beginsPeriod(let signal):
            openRandomAccess.beginPeriod(with: unit)
            parts.beginPeriod(with: unit, after: signal, frameDuration: clock.frameDuration)
            droppedFrames = nil
        case .continues:
            var unit = unit
            unit.usesOpenRandomAccess = openRandomAccess.isUsed(at: unit)
            parts.append(unit, frameDuration: clock.frameDuration)
        case .leads:
            if !parts.appendLeading(unit, frameDuration: clock.frameDuration) { ownCounts[.leadingPictures] += 1 }
        case .dropped:
            let start = startOfDropped(with: unit, boundary: boundary)
            parts.dropBeforeSync(startingAt: start)
            assumedRefresh.recordWait(unit.pts - start, for: unit.packet)
            ownCounts[.framesBeforeSync] += 1
        }
    }

    /// Returns the earliest dropped frame's time. Another signal may come before the first frame of the new period is
    /// found.
    private mutating func startOfDropped(with unit: TimedVideo, boundary: SegmentBoundary) -> Ticks {
        let isSignaled = boundary == .tagged || boundary == .loss
        if let droppedFrames, !isSignaled,
            abs((unit.pts - droppedFrames.last).count) <= DiscontinuityDetector.longestCompositionChange.count
        {
            self.droppedFrames = (min(droppedFrames.start, unit.pts), unit.pts)
        } else {
            droppedFrames = (unit.pts, unit.pts)
        }
        return droppedFrames?.start ?? unit.pts
    }

    mutating func finish() -> [PeriodPart] {
        let parts = handleReceived(isEnd: true)
        detector.finish()
        standingVideo = StandingVideo()
        return parts + releaseHeldPart()
    }

    /// Returns the frames held, as if none followed, and goes on.
    mutating func release() -> [PeriodPart] { handleReceived(isEnd: true) + releaseHeldPart() }

    private mutating func releaseHeldPart() -> [PeriodPart] {
        guard var part = dequeueHeldPart() else { return [] }
        ownCounts[.leadingPictures] += part.endLeadingPictures()
        return [part]
    }

    private mutating func dequeueHeldPart() -> PeriodPart? {
        defer { heldPart = nil }
        return heldPart
    }

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
        ownCounts[.stillFrames] += frames.count
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
    private mutating func dequeueBoundary(
        before packets: [VideoPacket], _ boundary: SegmentBoundary
    ) -> SegmentBoundary {
        guard boundary != .none else { return boundary }
        var boundary = boundary == .plain || pendingBoundary == .loss ? pendingBoundary : boundary
        if boundary == .plain, standingVideo.needsRandomAccess, let first = packets.first, !first.isIntra {
            boundary = .loss
        }
        pendingBoundary = packets.isEmpty ? boundary : .plain
        return boundary
    }
}

/// Parts of one upstream segment, in order, while its frames are handled; a part held from earlier segments is first.
private struct SegmentParts: Equatable, Sendable {
    private(set) var all: [PeriodPart]
    private let hasHeldPart: Bool
    var origin: SegmentOrigin

    /// - Parameter held: first frame of a period, which earlier segments ended with.
    init(after held: PeriodPart?, origin: SegmentOrigin) {
        all = held.map { [$0] } ?? []
        hasHeldPart = held != nil
        self.origin = origin
    }

    /// Whether the segment has no part of its own yet.
    var hasNoOwnPart: Bool { all.count == (hasHeldPart ? 1 : 0) }

    mutating func beginPeriod(
        with unit: TimedVideo, after signal: DiscontinuityDetector.Signal, frameDuration: Ticks
    ) {
        var first = unit
        first.beginsPeriod = true
        beginPart(with: first, signal: signal, frameDuration: frameDuration)
    }

    /// Appends `unit` to the current period. The segment's first frame begins a part, and the duration of a held frame
    /// is known then.
    mutating func append(_ unit: TimedVideo, frameDuration: Ticks) {
        guard hasNoOwnPart else { return all[all.count - 1].append(unit, frameDuration: frameDuration) }
        if hasHeldPart { all[0].update(frameDuration: frameDuration) }
        beginPart(with: unit, signal: nil, frameDuration: frameDuration)
    }

    mutating func dropBeforeSync(startingAt start: Ticks) {
        origin.clockStart = start
        origin.isCutMidGOP = hasNoOwnPart
    }

    /// - Returns: false if another frame came before it: no encoder sends leading pictures so late.
    mutating func appendLeading(_ unit: TimedVideo, frameDuration: Ticks) -> Bool {
        guard let last = all.last, last.awaitsLeadingPictures else { return false }
        all[all.count - 1].appendLeading(unit, frameDuration: frameDuration)
        return true
    }

    mutating func endLeadingPictures() -> Int { all.isEmpty ? 0 : all[all.count - 1].endLeadingPictures() }

    /// - Returns: the duration of the last frame if that stands for longer than a frame rate explains, else nil.
    mutating func endSegment(longestFrame longest: Ticks) -> Ticks? {
        all[all.count - 1].extendStandingFrame(until: origin.announcedEnd, longest: longest)
    }

    /// Removes and returns the last part if it is one frame whose leading pictures may come with the next segment.
    mutating func removeLastIfLeadingFramesMayFollow() -> PeriodPart? {
        guard let last = all.last, last.mayFollowLeadingFrames else { return nil }
        return all.removeLast()
    }

    private mutating func beginPart(
        with unit: TimedVideo, signal: DiscontinuityDetector.Signal?, frameDuration: Ticks
    ) {
        all.append(PeriodPart(signal: signal, first: unit, frameDuration: frameDuration, from: origin))
        origin.beginPart()
    }
}
