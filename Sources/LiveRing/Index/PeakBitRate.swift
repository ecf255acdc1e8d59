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
