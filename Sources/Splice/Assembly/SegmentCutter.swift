import Media

/// Decides where output segments end: where the upstream's do, as long as each begins with a sync sample.
///
/// If the upstream cuts in the middle of a GOP, frames from the last sync sample on are kept for the next output
/// segment. A GOP longer than the sealed TARGETDURATION has to be cut, because RFC 8216 §4.3.3.1 allows no exception.
/// The cut is at an upstream boundary if there is one, else where no frame is presented out of its segment. The segment
/// after such a cut is not independent, and the playlist says so.
struct SegmentCutter: Sendable {
    struct CutSegment: Equatable, Sendable {
        let units: [TimedVideo]
        /// Decode time of the next frame; nil if it was not known yet.
        let end: Ticks?
        /// Decode time at which the segment is as long as it may be.
        let latestEnd: Ticks
        /// Upstream media sequence number of the segment that contains the last frame.
        let mediaSequence: UInt64
    }

    private var pending: [TimedVideo] = []
    /// Indices in `pending` at which upstream segments begin; the first one may have begun before it.
    private var segmentStarts: [(start: Int, mediaSequence: UInt64)] = []
    private var gopAlignment = GOPAlignment()
    private var frameDuration = VideoTimestampUnwrapper.assumedFrameDuration
    /// Assumed decode time at which the returned frames end; a gap after it is part of the next segment. Nil if that
    /// time is known.
    private var assumedEnd: Ticks?
    /// Longest output segment that the sealed TARGETDURATION allows.
    let longest: Ticks
    /// Whether the newest upstream segment is kept until another follows.
    let holdsNewest: Bool

    var isHolding: Bool { !pending.isEmpty }

    init(longest: Ticks, holdsNewest: Bool = false) {
        self.longest = longest
        self.holdsNewest = holdsNewest
    }

    /// Records that an upstream segment began in the middle of a GOP, even if its frames were dropped.
    mutating func recordMidGOPCut() { gopAlignment.recordSegmentStart(isSync: false) }

    /// Records that an upstream segment began with a GOP after one whose frames were published by an earlier process.
    mutating func recordAlignedStart() { gopAlignment.recordSegmentStart(isSync: true) }

    /// Appends the frames that one upstream segment has of the current period.
    /// - Parameter reordering: composition offset of the period's first frame on the source's clock.
    /// - Returns: the output segments that are complete, in order.
    mutating func append(
        _ units: [TimedVideo], of mediaSequence: UInt64, continuesPeriod: Bool, frameDuration: Ticks, reordering: Ticks
    ) -> [CutSegment] {
        guard let first = units.first else { return [] }
        self.frameDuration = frameDuration
        if continuesPeriod { gopAlignment.recordSegmentStart(isSync: first.randomAccess != nil) }
        let newest = pending.count
        segmentStarts.append((newest, mediaSequence))
        pending += units
        gopAlignment.recordTail(isClosed: isClosed(reordering))
        switch gopAlignment.holdback {
        case .nothing: return removeSegments(upTo: holdsNewest ? newest : pending.count)
        case .segment: return removeSegments(upTo: 0)
        case .lastGOP: return removeSegments(upTo: pending.lastIndex { $0.randomAccess != nil } ?? 0)
        }
    }

    var oldestHeldSegment: UInt64? { pending.isEmpty ? nil : segmentStarts.first?.mediaSequence }

    mutating func release() -> [CutSegment] { removeSegments(upTo: pending.count) }

    mutating func finish() -> [CutSegment] {
        defer { assumedEnd = nil }
        return removeSegments(upTo: pending.count)
    }

    /// Whether the pending frames end where a GOP may. The frame presented last must be no further ahead of decoding
    /// than the first frame of the period; otherwise frames presented before it are missing.
    private func isClosed(_ reordering: Ticks) -> Bool {
        guard let last = pending.last, let presented = pending.suffix([TimedVideo].deepestReordering).map(\.pts).max()
        else {
            return true
        }
        return (presented - last.dts - reordering).count * 2 <= frameDuration.count
    }

    /// Removes and returns the first `count` frames as segments, and as much of the rest as is too long to hold.
    private mutating func removeSegments(upTo count: Int) -> [CutSegment] {
        var segments: [CutSegment] = []
        var start = 0
        while start < count || duration(start..<pending.count) > longest {
            let boundary = segmentStarts.first {
                $0.start > start && $0.start < count && pending[$0.start].randomAccess != nil
            }?
            .start
            let end = start < count ? boundary ?? count : pending.count
            let cut = duration(start..<end) > longest ? forcedCut(in: start..<end) : end
            segments.append(segment(start..<cut))
            start = cut
        }
        if let last = segments.last {
            assumedEnd = start < pending.count ? nil : min(pending[start - 1].dts + frameDuration, last.latestEnd)
        }
        pending.removeFirst(start)
        segmentStarts.removeFirst(segmentStarts.lastIndex { $0.start <= start } ?? 0)
        for index in segmentStarts.indices { segmentStarts[index].start -= start }
        return segments
    }

    private func segment(_ range: Range<Int>) -> CutSegment {
        let upstream = segmentStarts.last { $0.start < range.upperBound }
        return CutSegment(
            units: Array(pending[range]), end: range.upperBound < pending.count ? pending[range.upperBound].dts : nil,
            latestEnd: startTime(at: range.lowerBound) + longest, mediaSequence: upstream?.mediaSequence ?? 0)
    }

    private func duration(_ range: Range<Int>) -> Ticks {
        guard let last = pending[range].last else { return .zero }
        return (range.upperBound < pending.count ? pending[range.upperBound].dts : last.dts + frameDuration)
            - startTime(at: range.lowerBound)
    }

    private func startTime(at index: Int) -> Ticks {
        guard index == 0, let assumedEnd else { return pending[index].dts }
        return min(assumedEnd, pending[index].dts)
    }

    /// Place of a cut inside a GOP that is too long, best first.
    private enum ForcedCut: CaseIterable {
        case syncSample, upstreamBoundary, randomAccess, closedFrame, anyFrame
    }

    /// Returns the best cut that makes the first part no longer than allowed; after one frame if none does.
    private func forcedCut(in range: Range<Int>) -> Int {
        let start = startTime(at: range.lowerBound)
        let candidates = range.dropFirst().prefix { pending[$0].dts - start <= longest }
        for cut in ForcedCut.allCases {
            if let index = candidates.last(where: { allows(cut, at: $0) }) { return index }
        }
        return range.lowerBound + 1
    }

    private func allows(_ cut: ForcedCut, at index: Int) -> Bool {
        switch cut {
        case .syncSample: pending[index].randomAccess != nil
        case .upstreamBoundary: segmentStarts.contains { $0.start == index } && keepsOrder(index)
        case .randomAccess: pending[index].packet.randomAccess != nil && keepsOrder(index)
        case .closedFrame: keepsOrder(index)
        case .anyFrame: true
        }
    }

    /// Whether no frame decoded from `index` on is presented before one decoded earlier.
    private func keepsOrder(_ index: Int) -> Bool {
        let before = pending[max(0, index - [TimedVideo].deepestReordering)..<index].map(\.pts).max()
        let after = pending[index..<min(pending.count, index + [TimedVideo].deepestReordering)].map(\.pts).min()
        guard let before, let after else { return true }
        return before < after
    }
}
