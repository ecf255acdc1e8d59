/// Decides where output segments end: where the upstream's do, as long as each begins with a sync sample.
///
/// Of an upstream that cuts in the middle of a GOP, what follows the last sync sample is kept for the next output segment.
struct SegmentCutter: Equatable, Sendable {
    /// Pictures of the current run that were not given yet; the first is a sync sample.
    private var held: [TimedVideo] = []
    /// The upstream's segments do not begin with sync samples.
    private var cutsMidGroup = false
    /// Longest output segment that the sealed TARGETDURATION allows.
    let longest: Ticks

    init(longest: Ticks) { self.longest = longest }

    mutating func noteCutsMidGroup() { cutsMidGroup = true }

    /// Nothing is held that pictures without a sync sample in front could follow.
    var isEmpty: Bool { held.isEmpty }

    /// Takes one upstream segment's pictures of the current run; when nothing is held, the first is a sync sample.
    /// - Returns: the output segments that are complete, in order.
    mutating func append(_ units: [TimedVideo]) -> [[TimedVideo]] {
        held += units
        return give(cutsMidGroup ? lastCut() : held.count)
    }

    /// The run ended: everything left is complete.
    mutating func finish() -> [[TimedVideo]] { give(held.count) }

    private func lastCut() -> Int {
        if let sync = held.lastIndex(where: \.isSync), sync > 0 { return sync }
        guard let first = held.first, let last = held.last, last.dts - first.dts >= longest else { return 0 }
        return held.count
    }

    private mutating func give(_ count: Int) -> [[TimedVideo]] {
        guard count > 0 else { return [] }
        let given = Array(held[..<count])
        held.removeFirst(count)
        return split(given)
    }

    /// Cuts at sync samples so that no piece is longer than allowed, where sync samples permit it.
    private func split(_ units: [TimedVideo]) -> [[TimedVideo]] {
        var pieces: [[TimedVideo]] = []
        var start = units.startIndex
        var candidate: Int?
        for index in units.indices.dropFirst() {
            if units[index].dts - units[start].dts > longest, let cut = candidate {
                pieces.append(Array(units[start..<cut]))
                start = cut
                candidate = nil
            }
            if units[index].isSync { candidate = index }
        }
        if let cut = candidate, let last = units.last, last.dts - units[start].dts >= longest {
            pieces.append(Array(units[start..<cut]))
            start = cut
        }
        pieces.append(Array(units[start...]))
        return pieces
    }
}
