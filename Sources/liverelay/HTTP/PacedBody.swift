import NIOCore

/// The body of a response that is sent in parts, as slowly as it once came.
struct PacedBody {
    /// Short enough for a player to see a slow body and not a late one.
    private static let longestPause = Duration.milliseconds(100)

    private let bytes: [UInt8]
    /// What is left to be sent.
    private var rest: Range<Int>
    private let partByteCount: Int
    let pause: TimeAmount
    /// Afterwards the connection breaks off, whatever was announced.
    let breaksOff: Bool

    init(_ bytes: [UInt8], _ range: Range<Int>, over time: Duration, breaksOffAfter limit: Int?) {
        self.bytes = bytes
        rest = range.lowerBound..<min(range.upperBound, range.lowerBound + (limit ?? range.count))
        breaksOff = limit != nil
        let parts = min(max(1, Int(time / Self.longestPause)), max(1, rest.count))
        partByteCount = max(1, (rest.count + parts - 1) / parts)
        pause = TimeAmount(time / parts)
    }

    /// nil when all of it was taken.
    mutating func next() -> ArraySlice<UInt8>? {
        guard !rest.isEmpty else { return nil }
        let end = min(rest.upperBound, rest.lowerBound + partByteCount)
        defer { rest = end..<rest.upperBound }
        return bytes[rest.lowerBound..<end]
    }
}
