/// The sums over the listed segments from which the attributes of a variant follow. Gaps do not count.
struct VariantSums: Equatable, Sendable {
    /// The bit rates of the segments in one container.
    struct BitRates: Equatable, Sendable {
        private(set) var bytes = 0
        private(set) var ticks: Int64 = 0
        private(set) var peak: PeakBitRate

        fileprivate mutating func append(_ entry: RingEntry, bytes count: Int) {
            bytes += count
            ticks += entry.duration
            peak.append(entry.mediaSequence, bytes: count, ticks: entry.duration)
        }

        fileprivate mutating func remove(_ entry: RingEntry, bytes count: Int) {
            bytes -= count
            ticks -= entry.duration
            peak.remove(entry.mediaSequence)
        }
    }

    /// Consecutive segments of one format.
    struct FormatSpan: Equatable, Sendable {
        let format: SegmentFormat
        /// `TransportStreamPoint.parameters`; nil if the segments are not offered as transport streams.
        let transportStream: String?
        fileprivate(set) var segments = 1
    }

    private(set) var fragmentedMP4: BitRates
    /// Of the segments that are offered as transport streams.
    private(set) var transportStream: BitRates
    /// The formats in the order of the segments.
    private(set) var formats = PersistentVector<FormatSpan>()
    /// The number of segments that cannot be decoded without another.
    private(set) var dependentSegments = 0

    /// - Parameter targetDuration: seconds.
    init(targetDuration: Int) {
        fragmentedMP4 = BitRates(peak: PeakBitRate(targetDuration: targetDuration))
        transportStream = fragmentedMP4
    }

    mutating func append(_ entry: RingEntry) {
        guard !entry.isGap else { return }
        if !entry.isIndependent { dependentSegments += 1 }
        fragmentedMP4.append(entry, bytes: entry.segment.byteCount)
        if entry.transportStream != nil { transportStream.append(entry, bytes: entry.transportStreamByteCount) }
        let parameters = entry.transportStream?.parameters
        if let last = formats.last, last.format == entry.format, last.transportStream == parameters {
            formats[formats.endIndex - 1].segments += 1
        } else {
            formats.append(FormatSpan(format: entry.format, transportStream: parameters))
        }
    }

    /// Removes the oldest entry.
    mutating func remove(_ entry: RingEntry) {
        guard !entry.isGap else { return }
        if !entry.isIndependent { dependentSegments -= 1 }
        fragmentedMP4.remove(entry, bytes: entry.segment.byteCount)
        if entry.transportStream != nil { transportStream.remove(entry, bytes: entry.transportStreamByteCount) }
        formats[formats.startIndex].segments -= 1
        if formats[formats.startIndex].segments == 0 { formats.removeFirst() }
    }
}

extension RingEntry {
    /// An upper bound of the segment's size as a transport stream, for its bit rate: packet headers, tables, PCR, and
    /// packets that fill chunks.
    fileprivate var transportStreamByteCount: Int {
        let perSecond: Int64 = 18_000
        return segment.byteCount * 26 / 25 + Int(duration * perSecond / PlaylistTicks.ticksPerSecond)
    }
}
