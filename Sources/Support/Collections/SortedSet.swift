/// Unique values in their order, in short chunks: inserting and removing one compares and moves few others.
package struct SortedSet<Element: Comparable & Sendable>: Sendable {
    /// A longer chunk is halved.
    private static var longestChunk: Int { 128 }

    /// No chunk is empty.
    private var chunks: [[Element]] = []

    package init() {}

    package var first: Element? { chunks.first?.first }

    package var last: Element? { chunks.last?.last }

    /// The longest prefix whose values all satisfy `predicate`.
    package func prefix(while predicate: (Element) -> Bool) -> [Element] {
        var prefix: [Element] = []
        for chunk in chunks {
            let part = chunk.prefix(while: predicate)
            prefix += part
            if part.count < chunk.count { break }
        }
        return prefix
    }

    package mutating func set(_ element: Element, _ isMember: Bool) {
        if isMember { insert(element) } else { remove(element) }
    }

    package mutating func insert(_ element: Element) {
        guard !chunks.isEmpty else {
            chunks = [[element]]
            return
        }
        let chunk = min(self.chunk(reaching: element), chunks.endIndex - 1)
        let index = self.index(of: element, in: chunk)
        guard index == chunks[chunk].endIndex || chunks[chunk][index] != element else { return }
        chunks[chunk].insert(element, at: index)
        guard chunks[chunk].count > Self.longestChunk else { return }
        let half = Array(chunks[chunk].suffix(Self.longestChunk / 2))
        chunks[chunk].removeLast(half.count)
        chunks.insert(half, at: chunk + 1)
    }

    package mutating func remove(_ element: Element) {
        let chunk = self.chunk(reaching: element)
        guard chunk < chunks.endIndex else { return }
        let index = self.index(of: element, in: chunk)
        guard index < chunks[chunk].endIndex, chunks[chunk][index] == element else { return }
        chunks[chunk].remove(at: index)
        if chunks[chunk].isEmpty { chunks.remove(at: chunk) }
    }

    /// The first chunk whose last value is not less than `element`.
    private func chunk(reaching element: Element) -> Int {
        chunks.indices.partitioningIndex { chunks[$0][chunks[$0].endIndex - 1] >= element }
    }

    private func index(of element: Element, in chunk: Int) -> Int {
        chunks[chunk].indices.partitioningIndex { chunks[chunk][$0] >= element }
    }
}
