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
    /// The bit rates of segments that are offered as transport streams.
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
        if let point = transportStream, point.privateData != nil || !audioFiles.isEmpty, let extent = point.extent {
            return extent.byteCount
        }
        let perSecond: Int64 = 18_000
        return segment.byteCount * 26 / 25 + Int(duration * perSecond / PlaylistTicks.ticksPerSecond)
    }
}

/// The highest bit rate of any 0.5 to 1.5 TARGETDURATIONs of consecutive segments
/// (draft-pantos-hls-rfc8216bis §4.4.6.2), kept as segments are added at the end and removed at the front.
struct PeakBitRate: Equatable, Sendable {
    /// Consecutive segments from one on, and the highest rate of those that were long enough.
    private struct Span: Equatable, Sendable {
        let mediaSequence: UInt64
        var bytes = 0
        var ticks: Int64 = 0
        var highest = 0
    }

    /// The maximum number of spans that may still grow. Spans of more segments are not measured.
    private static let openLimit = 128

    /// TARGETDURATION in 90 kHz ticks.
    private let target: Int64
    /// The spans that may still grow, in the order of their first segments.
    private var open: [Span] = []
    /// The spans that no longer grow, without those that a later one exceeds for as long as they last: their rates fall.
    private var closed = PersistentVector<Span>()

    /// - Parameter targetDuration: seconds.
    init(targetDuration: Int) { target = Int64(targetDuration) * PlaylistTicks.ticksPerSecond }

    /// 0 if no span is long enough.
    var bitRate: Int { max(closed.first?.highest ?? 0, open.lazy.map(\.highest).max() ?? 0) }

    mutating func append(_ mediaSequence: UInt64, bytes: Int, ticks: Int64) {
        open.append(Span(mediaSequence: mediaSequence))
        for position in open.indices { extend(&open[position], bytes: bytes, ticks: ticks) }
        let closing = open.prefix { $0.ticks * 2 > target * 3 }.count
        for span in open.prefix(max(closing, open.count - Self.openLimit)) { close(span) }
        open.removeFirst(max(closing, open.count - Self.openLimit))
    }

    /// Removes the spans that begin with a segment, the oldest one.
    mutating func remove(_ mediaSequence: UInt64) {
        if closed.first?.mediaSequence == mediaSequence { closed.removeFirst() }
        if open.first?.mediaSequence == mediaSequence { open.removeFirst() }
    }

    private func extend(_ span: inout Span, bytes: Int, ticks: Int64) {
        span.bytes += bytes
        span.ticks += ticks
        guard span.ticks * 2 >= target, span.ticks * 2 <= target * 3 else { return }
        span.highest = max(span.highest, Self.bitRate(bytes: span.bytes, ticks: span.ticks))
    }

    private mutating func close(_ span: Span) {
        while let last = closed.last, last.highest <= span.highest { closed.removeLast() }
        if span.highest > 0 { closed.append(span) }
    }

    /// Bits per second, rounded up. `ticks` is positive, and `bytes` is less than 2⁵⁸.
    static func bitRate(bytes: Int, ticks: Int64) -> Int {
        let (high, low) = (UInt64(bytes) * 8).multipliedFullWidth(by: UInt64(PlaylistTicks.ticksPerSecond))
        guard high < UInt64(ticks) else { return .max }
        let (quotient, remainder) = UInt64(ticks).dividingFullWidth((high, low))
        return Int(clamping: quotient + (remainder > 0 ? 1 : 0))
    }
}
