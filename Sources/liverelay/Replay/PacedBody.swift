/// A body that is sent in equal parts over a given time.
struct PacedBody {
    /// Short enough for a client to see a slow body instead of a late one.
    private static let longestPause = Duration.milliseconds(100)

    private var unsent: ArraySlice<UInt8>
    private let partByteCount: Int
    /// Time before each part.
    let pause: Duration

    /// - Parameters:
    ///   - time: time until the last part.
    ///   - cut: number of bytes to send; nil for all.
    init(_ bytes: [UInt8], over time: Duration, cutAfter cut: Int? = nil) {
        unsent = bytes.prefix(cut ?? bytes.count)
        let parts = min(max(1, Int(time / Self.longestPause)), max(1, unsent.count))
        partByteCount = max(1, (unsent.count + parts - 1) / parts)
        pause = time / parts
    }

    var isEmpty: Bool { unsent.isEmpty }

    /// The next part; nil after the last one.
    mutating func next() -> ArraySlice<UInt8>? {
        guard !unsent.isEmpty else { return nil }
        let part = unsent.prefix(partByteCount)
        unsent = unsent.dropFirst(part.count)
        return part
    }
}
