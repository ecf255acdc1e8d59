import Support

/// Running sums of the extents of listed segments, which locate a byte of a file of many segments without adding up all
/// of them.
///
/// The sums begin with the first segment of the process; only their differences are used. They are kept for every 128th
/// entry; between those, the extents of the entries are added.
struct TransportStreamSums: Equatable, Sendable {
    /// The sums up to and including an entry.
    struct Sum: Equatable, Sendable {
        var bytes: UInt64 = 0
        /// 90 kHz ticks.
        var shift: Int64 = 0
        /// The number of segments of unknown size.
        var unmeasured: UInt32 = 0

        fileprivate mutating func add(_ extent: TransportStreamExtent?, isGap: Bool) {
            if let extent {
                bytes += UInt64(extent.leadByteCount + extent.byteCount)
                shift += extent.shift
            } else if !isGap {
                unmeasured += 1
            }
        }

        fileprivate mutating func subtract(_ extent: TransportStreamExtent?, isGap: Bool) {
            var sum = Sum()
            sum.add(extent, isGap: isGap)
            (bytes, shift, unmeasured) = (bytes - sum.bytes, shift - sum.shift, unmeasured - sum.unmeasured)
        }
    }

    /// The number of entries from one kept sum to the next.
    static let spacing = EntryBlock.size

    /// The sums up to each entry before a multiple of `spacing`.
    private var kept = PersistentVector<Sum>()
    /// The sum of all entries.
    private var total = Sum()
    /// The index after the last entry, and that of the first entry that is listed.
    private var (end, start) = (0, 0)

    mutating func append(_ entry: RingEntry) { append(entry.transportStream?.extent, isGap: entry.isGap) }

    mutating func append(_ extent: TransportStreamExtent?, isGap: Bool) {
        total.add(extent, isGap: isGap)
        end += 1
        if end.isMultiple(of: Self.spacing) { kept.append(total) }
    }

    mutating func removeFirst(_ count: Int) {
        start += count
        kept.removeFirst(min(kept.endIndex, start / Self.spacing) - kept.startIndex)
    }

    /// The sum up to and including the entry at `index`.
    /// - Parameter entries: all that were appended and not removed.
    func sum(at index: Int, of entries: RingEntries) -> Sum {
        let (group, last) = keptSum(after: index)
        return (index + 1..<last).reduce(group) { sum, index in
            var sum = sum
            let (extent, isGap) = entries.extent(at: index)
            sum.subtract(extent, isGap: isGap)
            return sum
        }
    }

    /// The index of the first entry in a range up to and including which there are more than `bytes`, and the sum there;
    /// nil if there is none.
    func first(in range: Range<Int>, above bytes: UInt64, of entries: RingEntries) -> (index: Int, sum: Sum)? {
        let groups = range.lowerBound / Self.spacing..<(range.upperBound - 1) / Self.spacing
        let group = groups.partitioningIndex { kept[$0].bytes > bytes }
        var index = min(range.upperBound, (group + 1) * Self.spacing) - 1
        var found = sum(at: index, of: entries)
        guard found.bytes > bytes else { return nil }
        while index > range.lowerBound {
            var before = found
            let (extent, isGap) = entries.extent(at: index)
            before.subtract(extent, isGap: isGap)
            guard before.bytes > bytes else { break }
            (index, found) = (index - 1, before)
        }
        return (index, found)
    }

    /// The nearest kept sum at or after an entry, and the index after its last entry.
    private func keptSum(after index: Int) -> (sum: Sum, end: Int) {
        let group = index / Self.spacing
        return group < kept.endIndex ? (kept[group], (group + 1) * Self.spacing) : (total, end)
    }
}

/// The transport streams of consecutive segments as one file, which never exists as a whole.
///
/// Its size and the place of each byte follow from what was recorded when the segments were published. A segment whose file
/// is lost or damaged keeps its place.
package struct TransportStreamFile: Sendable {
    /// The bytes of one segment in the file.
    package struct Part: Sendable {
        package let entry: RingEntry
        /// Position in the file. The clock packets before the segment are included.
        package let bytes: Range<Int>
        package let leadByteCount: Int
        /// As in `TransportStreamExtent`.
        package let pause: Int64
        /// How much earlier than published all times of the segment are, in 90 kHz ticks.
        package let shift: Int64
        package let earlyAudio: EarlyAudio
    }

    package let byteCount: Int
    /// All entries of the ring, and the indices of those in the file.
    private let entries: RingEntries
    private let range: Range<Int>
    private let sums: TransportStreamSums
    private let first: Int
    /// The sum of bytes at the beginning of the file, and the sums at its first and at its last entry.
    private let base: UInt64
    private let firstSum: TransportStreamSums.Sum
    private let lastSum: TransportStreamSums.Sum
    /// The segment after the last one, if the file includes its early audio.
    private let next: RingEntry?
    private let segmentByteCount: Int

    /// - Parameters:
    ///   - indices: of listed entries.
    ///   - hasEnded: whether no segment follows the last one that is listed.
    /// - Returns: nil if the range is empty, the size of a segment is unknown, or the segment after the range is not
    ///   published.
    init?(_ indices: Range<Int>, of index: RingIndex, hasEnded: Bool) {
        guard let last = indices.last, hasEnded || indices.upperBound < index.listed.endIndex else { return nil }
        (entries, range, sums) = (index.entries, indices, index.transportStreamSums)
        let ahead = entries[indices.lowerBound]
        let isUnmeasured = !ahead.isGap && ahead.transportStream?.extent == nil
        let before = sums.sum(at: indices.lowerBound, of: entries)
        lastSum = sums.sum(at: last, of: entries)
        guard !isUnmeasured, lastSum.unmeasured == before.unmeasured else { return nil }
        // Only gaps come before the first segment, and they have no bytes.
        if ahead.transportStream?.extent != nil {
            (first, firstSum) = (indices.lowerBound, before)
        } else {
            guard let found = sums.first(in: indices, above: before.bytes, of: entries) else { return nil }
            (first, firstSum) = found
        }
        guard let extent = entries[first].transportStream?.extent else { return nil }
        base = firstSum.bytes - UInt64(extent.byteCount - extent.removedByteCount)
        segmentByteCount = Int(lastSum.bytes - base)
        let after = indices.upperBound < index.listed.endIndex ? index.listed[indices.upperBound] : nil
        let isFollowed = !entries[last].isGap && after?.transportStream?.extent?.isContinuous == true
        next = isFollowed ? after : nil
        byteCount = segmentByteCount + (next?.transportStream?.extent?.earlyAudioByteCount ?? 0)
    }

    /// A name for the bytes of the file. It differs for other segments, and for the same segments after other ones.
    package var name: String {
        let last = entries[range.upperBound - 1]
        let shift = lastSum.shift - firstSum.shift
        return "\(entries[first].segment.name) \(last.segment.name) \(byteCount) \(shift)"
    }

    /// The part that contains a byte of the file.
    /// - Parameter offset: less than `byteCount`.
    package func part(at offset: Int) -> Part? {
        if offset >= segmentByteCount { return earlyAudio }
        let position = base + UInt64(offset)
        guard let (index, sum) = sums.first(in: range, above: position, of: entries),
            let extent = entries[index].transportStream?.extent
        else { return nil }
        let lead = index == first ? 0 : extent.leadByteCount
        let end = Int(sum.bytes - base)
        let isShorter = index == first && extent.earlyAudioByteCount > 0
        let size = lead + extent.byteCount - (isShorter ? extent.removedByteCount : 0)
        return Part(
            entry: entries[index], bytes: end - size..<end, leadByteCount: lead, pause: extent.pause,
            shift: sum.shift - firstSum.shift, earlyAudio: isShorter ? .removed : .kept)
    }

    /// The end of the file.
    private var earlyAudio: Part? {
        next.map {
            Part(
                entry: $0, bytes: segmentByteCount..<byteCount, leadByteCount: 0, pause: 0,
                shift: lastSum.shift - firstSum.shift, earlyAudio: .alone)
        }
    }
}
