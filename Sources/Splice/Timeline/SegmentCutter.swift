import Demux
import Media
import Mux
import Transcode

/// Decides where output segments end: where the upstream's do, as long as each begins with a sync sample.
///
/// Of an upstream that cuts in the middle of a group, what follows the last sync sample is kept for the next output
/// segment. A group that is longer than the sealed TARGETDURATION allows has to be cut all the same, because RFC 8216
/// §4.3.3.1 knows no exception: at an upstream border if there is one, else where no picture is shown out of its segment.
/// What follows such a cut is not independent, and the playlist says so.
struct SegmentCutter: Equatable, Sendable {
    /// One output segment's pictures.
    struct CutSegment: Equatable, Sendable {
        let units: [TimedVideo]
        /// Decode time of the picture behind it; nil where that was not known yet.
        let end: Ticks?
        /// Upstream media sequence number of the segment that its last picture came in.
        let mediaSequence: UInt64
    }

    /// Where, in `held`, an upstream segment began; the first one may have begun before it.
    private struct UpstreamSegmentStart: Equatable, Sendable {
        var start: Int
        let mediaSequence: UInt64
    }

    /// Pictures of the current run that were not given yet.
    private var pending: [TimedVideo] = []
    private var segmentStarts: [UpstreamSegmentStart] = []
    private var gopAlignment = GOPAlignment()
    private var frameDuration = VideoTimestampUnwrapper.assumedFrameDuration
    /// Decode time at which what was given of the current run ends, where that was not known: a hole behind it is part
    /// of what comes next.
    private var assumedEnd: Ticks?
    /// Longest output segment that the sealed TARGETDURATION allows.
    let longest: Ticks

    /// Pictures wait for what comes next.
    var isHolding: Bool { !pending.isEmpty }

    init(longest: Ticks) { self.longest = longest }

    /// An upstream segment began in the middle of a group, whatever became of it.
    mutating func recordMidGOPCut() { gopAlignment.recordSegmentStart(isSync: false) }

    /// Takes one upstream segment's pictures of the current run.
    /// - Parameters:
    ///   - mediaSequence: the upstream segment's.
    ///   - goesOn: the run began earlier.
    ///   - reordering: by how much the run's last picture shown comes after its last one decoded.
    /// - Returns: the output segments that are complete, in order.
    mutating func append(
        _ units: [TimedVideo], of mediaSequence: UInt64, continuesPeriod: Bool, frameDuration: Ticks, reordering: Ticks
    ) -> [CutSegment] {
        guard let first = units.first else { return [] }
        self.frameDuration = frameDuration
        if continuesPeriod { gopAlignment.recordSegmentStart(isSync: first.isSync) }
        segmentStarts.append(UpstreamSegmentStart(start: pending.count, mediaSequence: mediaSequence))
        pending += units
        gopAlignment.recordTail(isClosed: isClosed(reordering))
        switch gopAlignment.holdback {
        case .nothing: return removeSegments(upTo: pending.count)
        case .segment: return removeSegments(upTo: 0)
        case .lastGOP: return removeSegments(upTo: pending.lastIndex(where: \.isSync) ?? 0)
        }
    }

    /// The run ended: everything left is complete.
    mutating func finish() -> [CutSegment] {
        defer { assumedEnd = nil }
        return removeSegments(upTo: pending.count)
    }

    /// Whether the pictures at hand end where a group may: the one shown last is no farther ahead of decoding than the
    /// run's first was, or else pictures are missing that come before it.
    private func isClosed(_ reordering: Ticks) -> Bool {
        guard let last = pending.last, let shown = pending.suffix(Self.deepestReordering).map(\.pts).max() else {
            return true
        }
        return (shown - last.dts - reordering).count * 2 <= frameDuration.count
    }

    /// Pictures that may lie, in decoding order, between one and the last that is shown before it (both standards).
    private static let deepestReordering = 16

    /// Gives the first `count` pictures, and of the rest what is too long to be held.
    private mutating func removeSegments(upTo count: Int) -> [CutSegment] {
        var pieces: [CutSegment] = []
        var start = 0
        while start < count || duration(start..<pending.count) > longest {
            let border = segmentStarts.first { $0.start > start && $0.start < count && pending[$0.start].isSync }?.start
            let end = start < count ? border ?? count : pending.count
            let cut = duration(start..<end) > longest ? forcedCut(in: start..<end) : end
            pieces.append(segment(start..<cut))
            start = cut
        }
        if start > 0 { assumedEnd = start < pending.count ? nil : pending[start - 1].dts + frameDuration }
        pending.removeFirst(start)
        segmentStarts.removeFirst(segmentStarts.lastIndex { $0.start <= start } ?? 0)
        for index in segmentStarts.indices { segmentStarts[index].start -= start }
        return pieces
    }

    private func segment(_ range: Range<Int>) -> CutSegment {
        let origin = segmentStarts.last { $0.start < range.upperBound }
        return CutSegment(
            units: Array(pending[range]), end: range.upperBound < pending.count ? pending[range.upperBound].dts : nil,
            mediaSequence: origin?.mediaSequence ?? 0)
    }

    private func duration(_ range: Range<Int>) -> Ticks {
        guard let last = pending[range].last else { return .zero }
        return (range.upperBound < pending.count ? pending[range.upperBound].dts : last.dts + frameDuration)
            - startTime(at: range.lowerBound)
    }

    private func startTime(at place: Int) -> Ticks {
        guard place == 0, let assumedEnd else { return pending[place].dts }
        return min(assumedEnd, pending[place].dts)
    }

    /// The best place for a cut that makes the first part no longer than allowed; behind one picture when none does.
    private func forcedCut(in range: Range<Int>) -> Int {
        let start = startTime(at: range.lowerBound)
        let places = range.dropFirst().prefix { pending[$0].dts - start <= longest }
        let closed = places.filter(keepsOrder)
        return places.last { pending[$0].isSync } ?? closed.last { place in segmentStarts.contains { $0.start == place }
        }
            ?? closed.last { pending[$0].packet.sync != .none } ?? closed.last ?? places.last
            ?? range.lowerBound + 1
    }

    /// No picture decoded from `place` on is shown before one decoded earlier.
    private func keepsOrder(_ place: Int) -> Bool {
        let before = pending[max(0, place - Self.deepestReordering)..<place].map(\.pts).max()
        let after = pending[place..<min(pending.count, place + Self.deepestReordering)].map(\.pts).min()
        guard let before, let after else { return true }
        return before < after
    }
}
