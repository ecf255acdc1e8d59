/// The sizes of the main segments of which media may be held.
///
/// A frame that is held keeps the bytes of all frames of its segment.
struct HeldSegments: Equatable, Sendable {
    private struct Entry: Equatable, Sendable {
        let mediaSequence: UInt64
        let byteCount: Int
    }

    private let byteLimit: Int
    private var entries: [Entry] = []

    /// - Parameter byteLimit: bytes of the segments before the newest one.
    init(byteLimit: Int) { self.byteLimit = byteLimit }

    mutating func append(_ segment: SegmentInput) {
        entries.append(Entry(mediaSequence: segment.mediaSequence, byteCount: segment.bytes.count))
    }

    /// Forgets the segments of which nothing is held, and returns whether the others exceed the limit.
    /// - Parameter oldest: the segment of the oldest frame held; nil if none is.
    mutating func exceedLimit(holdingFrom oldest: UInt64?) -> Bool {
        let first = oldest.map { oldest in entries.firstIndex { $0.mediaSequence == oldest } ?? 0 }
        entries.removeFirst(first ?? max(0, entries.count - 1))
        return entries.dropLast().reduce(0) { $0 + $1.byteCount } > byteLimit
    }

    mutating func removeAll() { entries = Array(entries.suffix(1)) }
}
