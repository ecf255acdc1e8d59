import Support

/// The entries of a ring in the order of their numbers. Copies share them, and the index of an entry never changes.
///
/// The newest entries are kept as they are, the older ones in blocks. Each entry is read in constant time.
package struct RingEntries: Sendable {
    /// The minimum number of newest entries that are kept as they are: as many as a restart compares with the upstream.
    static let recentCount = 256

    private var blocks = PersistentVector<EntryBlock>()
    private var recent = PersistentVector<RingEntry>()
    /// The index of the first entry of the first block.
    private(set) var blockStart = 0
    package private(set) var startIndex = 0
    package private(set) var endIndex = 0

    package init() {}

    /// The index after the last entry in a block.
    var blockEnd: Int { blockStart + blocks.count * EntryBlock.size }

    package mutating func append(_ entry: RingEntry) {
        recent.append(entry)
        endIndex += 1
        guard recent.count >= Self.recentCount + EntryBlock.size else { return }
        insert(EntryBlock(recent.prefix(EntryBlock.size), after: blocks.last))
        recent.removeFirst(EntryBlock.size)
    }

    /// Appends the entries of a block. All entries so far must be in blocks.
    mutating func append(_ block: EntryBlock) {
        precondition(recent.isEmpty)
        insert(block)
        endIndex += EntryBlock.size
    }

    private mutating func insert(_ block: EntryBlock) {
        if block.hasPosition, blocks.last?.hasPosition == true { blocks[blocks.endIndex - 1].dropPosition() }
        blocks.append(block)
    }

    /// The blocks with the entry at `index` and later ones.
    func blocks(from index: Int) -> some Collection<EntryBlock> {
        blocks.dropFirst(Swift.max(0, index - blockStart) / EntryBlock.size)
    }

    /// The blocks, if no entries precede them, or only entries of the first block were removed.
    var wholeBlocks: [EntryBlock] { startIndex == blockStart ? Array(blocks) : [] }

    /// The duration of the entry at `index`, without making the entry.
    func duration(at index: Int) -> Int64 {
        let position = index - blockEnd
        guard position < 0 else { return recent[recent.startIndex + position].duration }
        let (block, offset) = (index - blockStart).quotientAndRemainder(dividingBy: EntryBlock.size)
        return blocks[blocks.startIndex + block].duration(at: offset)
    }

    /// The index of the first entry of the shortest suffix with enough time and enough entries, or of all entries.
    /// Blocks inside the suffix are skipped as a whole.
    /// - Parameter ticks: 90 kHz ticks.
    func startOfSuffix(lasting ticks: Int64, count minimum: Int) -> Int {
        var (index, passed) = (endIndex, Int64(0))
        while index > startIndex, passed < ticks || endIndex - index < minimum {
            StepCounter.add(1)
            if let block = block(endingAt: index), passed + block.ticks < ticks {
                (index, passed) = (index - EntryBlock.size, passed + block.ticks)
            } else {
                (index, passed) = (index - 1, passed + duration(at: index - 1))
            }
        }
        return index
    }

    /// The block that ends before `index`, if it contains no other entry.
    private func block(endingAt index: Int) -> EntryBlock? {
        let first = index - EntryBlock.size
        guard index <= blockEnd, first >= startIndex, (first - blockStart).isMultiple(of: EntryBlock.size) else {
            return nil
        }
        return blocks[blocks.startIndex + (first - blockStart) / EntryBlock.size]
    }

    /// Whether the entry at `index` is a gap.
    func isGap(at index: Int) -> Bool {
        let position = index - blockEnd
        guard position < 0 else { return recent[recent.startIndex + position].isGap }
        let (block, offset) = (index - blockStart).quotientAndRemainder(dividingBy: EntryBlock.size)
        return blocks[blocks.startIndex + block].isGap(at: offset)
    }

    /// Whether the entry at `index` may have date ranges. Few entries may.
    func mayHaveDateRanges(at index: Int) -> Bool {
        let position = index - blockEnd
        guard position < 0 else { return !recent[recent.startIndex + position].adMarkers.dateRanges.isEmpty }
        let (block, offset) = (index - blockStart).quotientAndRemainder(dividingBy: EntryBlock.size)
        return blocks[blocks.startIndex + block].hasDetails(at: offset)
    }

    /// The extent of the transport stream of the entry at `index`, and whether the entry is a gap.
    func extent(at index: Int) -> (extent: TransportStreamExtent?, isGap: Bool) {
        let position = index - blockEnd
        guard position < 0 else {
            let entry = recent[recent.startIndex + position]
            return (entry.transportStream?.extent, entry.isGap)
        }
        StepCounter.add(1)
        let (block, offset) = (index - blockStart).quotientAndRemainder(dividingBy: EntryBlock.size)
        return blocks[blocks.startIndex + block].extent(at: offset)
    }

    /// Changes the bytes of the subtitles of the entry at `index`.
    mutating func setSubtitleBytes(_ byteCount: UInt64, at index: Int) {
        let position = index - blockEnd
        guard position < 0 else {
            recent[recent.startIndex + position].subtitleBytes = byteCount
            return
        }
        let (block, offset) = (index - blockStart).quotientAndRemainder(dividingBy: EntryBlock.size)
        blocks[blocks.startIndex + block].setSubtitleBytes(byteCount, at: offset)
    }

    /// Calls `body` with the number and the fingerprint in the name of the segment of each entry that is no gap.
    func forEachSegment(_ body: (UInt64, UInt32) -> Void) {
        var passed = startIndex - blockStart
        for block in blocks {
            block.forEachSegment(from: passed, body)
            passed = 0
        }
        for entry in recent.dropFirst(passed) where !entry.isGap {
            SpoolName.numberAndFingerprint(ofSegment: entry.segment.name.utf8).map(body)
        }
    }

    package mutating func removeFirst(_ count: Int = 1) {
        precondition(0...self.count ~= count)
        startIndex += count
        while !blocks.isEmpty, startIndex >= blockStart + EntryBlock.size {
            blocks.removeFirst()
            blockStart += EntryBlock.size
        }
        guard blocks.isEmpty, startIndex > blockStart else { return }
        recent.removeFirst(startIndex - blockStart)
        blockStart = startIndex
    }
}

extension RingEntries: RandomAccessCollection {
    package typealias Indices = Range<Int>
    package typealias SubSequence = RingEntries

    package subscript(index: Int) -> RingEntry {
        get {
            precondition(startIndex..<endIndex ~= index)
            let position = index - blockEnd
            guard position < 0 else { return recent[recent.startIndex + position] }
            StepCounter.add(1)
            let (block, offset) = (index - blockStart).quotientAndRemainder(dividingBy: EntryBlock.size)
            return blocks[blocks.startIndex + block][offset]
        }
        set {
            precondition(startIndex..<endIndex ~= index)
            let position = index - blockEnd
            guard position < 0 else {
                recent[recent.startIndex + position] = newValue
                return
            }
            let (block, offset) = (index - blockStart).quotientAndRemainder(dividingBy: EntryBlock.size)
            blocks[blocks.startIndex + block][offset] = newValue
        }
    }

    package subscript(bounds: Range<Int>) -> RingEntries {
        precondition(startIndex <= bounds.lowerBound && bounds.upperBound <= endIndex)
        var slice = self
        (slice.startIndex, slice.endIndex) = (bounds.lowerBound, bounds.upperBound)
        return slice
    }
}

extension RingEntries: Equatable {
    package static func == (left: RingEntries, right: RingEntries) -> Bool { left.elementsEqual(right) }
}

extension RingEntries: ExpressibleByArrayLiteral {
    package init(arrayLiteral elements: RingEntry...) {
        for element in elements { append(element) }
    }
}
