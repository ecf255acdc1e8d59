import Media

/// Parts of one upstream segment, in order, while its frames are handled; a part held from earlier segments is first.
struct SegmentParts: Equatable, Sendable {
    /// All parts, none of them empty.
    private(set) var all: [PeriodPart]
    private let hasHeldPart: Bool
    private(set) var origin: SegmentOrigin

    /// - Parameter held: first frame of a period, which earlier segments ended with.
    init(after held: PeriodPart?, origin: SegmentOrigin) {
        all = held.map { [$0] } ?? []
        hasHeldPart = held != nil
        self.origin = origin
    }

    /// Whether the segment has no part of its own yet.
    var hasNoOwnPart: Bool { all.count == (hasHeldPart ? 1 : 0) }

    /// Advances the segment's date to `unit`, whether it is published or dropped.
    mutating func advance(to unit: TimedVideo, frameDuration: Ticks) {
        origin.advance(to: unit, frameDuration: frameDuration)
    }

    /// Begins a period, and a part, with `unit`.
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

    /// Records that a frame before the next random access point was dropped.
    /// - Parameter start: presentation time of the earliest such frame.
    mutating func dropBeforeSync(startingAt start: Ticks) {
        origin.clockStart = start
        origin.isCutMidGOP = hasNoOwnPart
    }

    /// Appends a leading picture of the period's first frame.
    /// - Returns: false if another frame came before it: no encoder sends leading pictures so late.
    mutating func appendLeading(_ unit: TimedVideo, frameDuration: Ticks) -> Bool {
        guard let last = all.last, last.awaitsLeadingPictures else { return false }
        all[all.count - 1].appendLeading(unit, frameDuration: frameDuration)
        return true
    }

    /// Ends the leading pictures of the current period.
    /// - Returns: the number of those that are dropped.
    mutating func endLeadingPictures() -> Int { all.isEmpty ? 0 : all[all.count - 1].endLeadingPictures() }

    /// Records the end of the segment.
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
