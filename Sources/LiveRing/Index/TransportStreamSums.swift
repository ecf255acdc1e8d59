import Support

/// Running sums of the extents of listed segments, which locate a byte of a file of many segments without adding up.
///
/// The index of an element equals its entry's index among the listed entries. The sums begin with the first segment of
/// the process; only their differences are used.
struct TransportStreamSums: Equatable, Sendable {
    /// The sums up to and including an entry.
    struct Sum: Equatable, Sendable {
        var bytes: UInt64 = 0
        /// 90 kHz ticks.
        var shift: Int64 = 0
        /// The number of segments of unknown size.
        var unmeasured: UInt32 = 0
    }

    private(set) var sums = PersistentVector<Sum>()

    mutating func append(_ entry: RingEntry) { append(entry.transportStream?.extent, isGap: entry.isGap) }

    mutating func append(_ extent: TransportStreamExtent?, isGap: Bool) {
        var sum = sums.last ?? Sum()
        if let extent {
            sum.bytes += UInt64(extent.leadByteCount + extent.byteCount)
            sum.shift += extent.shift
        } else if !isGap {
            sum.unmeasured += 1
        }
        sums.append(sum)
    }

    mutating func removeFirst(_ count: Int) { sums.removeFirst(count) }
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
    private let entries: RingEntries
    private let sums: PersistentVector<TransportStreamSums.Sum>
    private let first: Int
    /// The sum of bytes at the beginning of the file.
    private let base: UInt64
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
        entries = index.listed[indices]
        let sums = index.transportStreamSums.sums[indices]
        self.sums = sums
        let ahead = index.listed[indices.lowerBound]
        let isUnmeasured = !ahead.isGap && ahead.transportStream?.extent == nil
        guard !isUnmeasured, sums[last].unmeasured == sums[indices.lowerBound].unmeasured else { return nil }
        // Only gaps come before the first segment, and they have no bytes.
        let before = sums[indices.lowerBound].bytes
        let begin =
            ahead.transportStream?.extent != nil
            ? indices.lowerBound : indices.partitioningIndex { sums[$0].bytes > before }
        guard begin < sums.endIndex, let extent = entries[begin].transportStream?.extent else { return nil }
        first = begin
        base = sums[begin].bytes - UInt64(extent.byteCount - extent.removedByteCount)
        segmentByteCount = Int(sums[last].bytes - base)
        let after = indices.upperBound < index.listed.endIndex ? index.listed[indices.upperBound] : nil
        let isFollowed = !entries[last].isGap && after?.transportStream?.extent?.isContinuous == true
        next = isFollowed ? after : nil
        byteCount = segmentByteCount + (next?.transportStream?.extent?.earlyAudioByteCount ?? 0)
    }

    /// A name for the bytes of the file. It differs for other segments, and for the same segments after other ones.
    package var name: String {
        let last = entries[entries.endIndex - 1]
        let shift = sums[entries.endIndex - 1].shift - sums[first].shift
        return "\(entries[first].segment.name) \(last.segment.name) \(byteCount) \(shift)"
    }

    /// The part that contains a byte of the file.
    /// - Parameter offset: less than `byteCount`.
    package func part(at offset: Int) -> Part? {
        if offset >= segmentByteCount { return earlyAudio }
        let position = base + UInt64(offset)
        let index = sums.indices.partitioningIndex { sums[$0].bytes > position }
        guard index < sums.endIndex, let extent = entries[index].transportStream?.extent else { return nil }
        let lead = index == first ? 0 : extent.leadByteCount
        let end = Int(sums[index].bytes - base)
        let isShorter = index == first && extent.earlyAudioByteCount > 0
        let size = lead + extent.byteCount - (isShorter ? extent.removedByteCount : 0)
        return Part(
            entry: entries[index], bytes: end - size..<end, leadByteCount: lead, pause: extent.pause,
            shift: sums[index].shift - sums[first].shift, earlyAudio: isShorter ? .removed : .kept)
    }

    /// The end of the file.
    private var earlyAudio: Part? {
        next.map {
            Part(
                entry: $0, bytes: segmentByteCount..<byteCount, leadByteCount: 0, pause: 0,
                shift: sums[entries.endIndex - 1].shift - sums[first].shift, earlyAudio: .alone)
        }
    }
}
