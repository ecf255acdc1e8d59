/// The sums over the listed segments from which the attributes of a variant follow. Gaps do not count.
struct VariantSums: Equatable, Sendable {
    /// The bit rates of the segments in one container.
    struct BitRates: Equatable, Sendable {
        private(set) var bytes = 0
        private(set) var ticks: Int64 = 0
        private(set) var peak: PeakBitRate

        fileprivate mutating func append(_ figures: EntryFigures, bytes count: Int) {
            bytes += count
            ticks += figures.duration
            peak.append(figures.mediaSequence, bytes: count, ticks: figures.duration)
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
        append(entry.figures)
        appendFormat(of: entry, count: 1)
    }

    /// Appends the numbers of a segment. `appendFormat` follows.
    mutating func append(_ figures: EntryFigures) {
        if !figures.isIndependent { dependentSegments += 1 }
        fragmentedMP4.append(figures, bytes: figures.byteCount)
        if let byteCount = figures.transportStreamByteCount { transportStream.append(figures, bytes: byteCount) }
    }

    mutating func appendFormat(of entry: RingEntry, count: Int) {
        let parameters = entry.transportStream?.parameters
        if let last = formats.last, last.format == entry.format, last.transportStream == parameters {
            formats[formats.endIndex - 1].segments += count
        } else {
            formats.append(FormatSpan(format: entry.format, transportStream: parameters, segments: count))
        }
    }

    /// Removes the oldest entry.
    mutating func remove(_ entry: RingEntry) {
        guard !entry.isGap else { return }
        if !entry.isIndependent { dependentSegments -= 1 }
        fragmentedMP4.remove(entry, bytes: entry.segment.byteCount)
        if let byteCount = entry.figures.transportStreamByteCount { transportStream.remove(entry, bytes: byteCount) }
        formats[formats.startIndex].segments -= 1
        if formats[formats.startIndex].segments == 0 { formats.removeFirst() }
    }
}

/// The highest bit rate of any 0.5 to 1.5 TARGETDURATIONs of consecutive segments
/// (draft-pantos-hls-rfc8216bis §4.4.6.2), kept as segments are added at the end and removed at the front.
struct PeakBitRate: Equatable, Sendable {
    /// Consecutive segments, and the highest bit rate over the first of them that last long enough.
    private struct Span: Equatable, Sendable {
        let mediaSequence: UInt64
        var bytes = 0
        var ticks: Int64 = 0
        var highest = 0

        /// - Parameter target: TARGETDURATION in 90 kHz ticks.
        mutating func extend(bytes: Int, ticks: Int64, target: Int64) {
            self.bytes += bytes
            self.ticks += ticks
            guard self.ticks * 2 >= target, self.ticks * 2 <= target * 3 else { return }
            highest = max(highest, PeakBitRate.bitRate(bytes: self.bytes, ticks: self.ticks))
        }
    }

    /// The maximum number of spans that may still grow. Spans of more segments are not measured.
    private static let openLimit = 128

    /// TARGETDURATION in 90 kHz ticks.
    private let target: Int64
    /// The spans that may still grow, in the order of their first segments.
    private var open: [Span] = []
    /// The spans that no longer grow. A span is dropped if a later one has a higher rate and lasts at least as long, so
    /// the rates fall.
    private var closed = PersistentVector<Span>()

    /// - Parameter targetDuration: seconds.
    init(targetDuration: Int) { target = Int64(targetDuration) * PlaylistTicks.ticksPerSecond }

    /// 0 if no span is long enough.
    var bitRate: Int { max(closed.first?.highest ?? 0, open.lazy.map(\.highest).max() ?? 0) }

    mutating func append(_ mediaSequence: UInt64, bytes: Int, ticks: Int64) {
        open.append(Span(mediaSequence: mediaSequence))
        for position in open.indices { open[position].extend(bytes: bytes, ticks: ticks, target: target) }
        var closing = max(0, open.count - Self.openLimit)
        while closing < open.count, open[closing].ticks * 2 > target * 3 { closing += 1 }
        guard closing > 0 else { return }
        for position in 0..<closing { close(open[position]) }
        open.removeFirst(closing)
    }

    /// Removes the spans that begin with the oldest segment.
    mutating func remove(_ mediaSequence: UInt64) {
        if closed.first?.mediaSequence == mediaSequence { closed.removeFirst() }
        if open.first?.mediaSequence == mediaSequence { open.removeFirst() }
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
