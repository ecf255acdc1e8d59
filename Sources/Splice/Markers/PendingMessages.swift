import Media

/// Event messages that wait for the segment of their time, in time order.
struct PendingMessages: Sendable {
    /// Limits of the number of pending messages and of their total size. Beyond them the latest messages are dropped.
    static let limit = 1024
    static let byteLimit = 4 << 20

    private let limit: Int
    private let written: SpliceCount
    private var pending: [PlacedMessage] = []
    private var bytes = 0
    private var seen = EventMessageDuplicates()
    /// Counts of messages written, of messages dropped before, and of repetitions by the upstream, which are intended
    /// for players that join later.
    private(set) var counts = SpliceCounts()

    init(of written: SpliceCount = .eventMessages, limit: Int = PendingMessages.limit) {
        self.written = written
        self.limit = limit
    }

    /// - Returns: false for a duplicate, which is dropped.
    mutating func add(_ message: PlacedMessage) -> Bool {
        guard seen.insert(message) else {
            counts[.duplicateEventMessages] += 1
            return false
        }
        let index = pending.lastIndex { $0.time <= message.time }.map { $0 + 1 } ?? pending.startIndex
        pending.insert(message, at: index)
        bytes += message.message.size
        while pending.count > limit || bytes > Self.byteLimit, let last = pending.popLast() {
            bytes -= last.message.size
            counts[.discardedTimedMetadata] += 1
        }
        return true
    }

    mutating func dequeue(before end: Ticks) -> [PlacedMessage] {
        let count = pending.firstIndex { $0.time >= end } ?? pending.endIndex
        defer { pending.removeFirst(count) }
        counts[written] += count
        bytes -= pending[..<count].reduce(0) { $0 + $1.message.size }
        return Array(pending[..<count])
    }

    /// Drops the messages before `end`; nil: all messages.
    mutating func discard(before end: Ticks? = nil) {
        let count = end.flatMap { end in pending.firstIndex { $0.time >= end } } ?? pending.endIndex
        bytes -= pending[..<count].reduce(0) { $0 + $1.message.size }
        counts[.discardedTimedMetadata] += count
        pending.removeFirst(count)
    }
}

extension EventMessage {
    fileprivate var size: Int { data.count + scheme.utf8.count + value.utf8.count }
}

/// Detects repetitions of recent event messages.
///
/// An upstream repeats a message in several segments and in each rendition. Messages with equal scheme, value and number
/// are equal (ISO/IEC 23009-1 §5.10.3.3.4). Some packagers give all messages the same number. Therefore duplicates must
/// also have equal data, and a time within the time range of the first message.
private struct EventMessageDuplicates: Sendable {
    private static let limit = 1024
    /// Tolerance for times that were rounded in other timescales.
    private static let tolerance = Ticks.milliseconds(10)

    private var messages: [(identity: UInt64, start: Ticks, end: Ticks)] = []

    /// - Returns: false for a duplicate.
    mutating func insert(_ placed: PlacedMessage) -> Bool {
        guard let identity = placed.message.identity else { return true }
        let time = placed.time
        let isDuplicate = messages.contains { entry in
            entry.identity == identity && time >= entry.start - Self.tolerance && time <= entry.end + Self.tolerance
        }
        guard !isDuplicate else { return false }
        messages.append((identity, time, time + (placed.message.duration ?? .zero)))
        if messages.count > Self.limit { messages.removeFirst() }
        return true
    }
}

extension EventMessage {
    /// Hash of the fields that duplicates share; nil for a message without a number.
    fileprivate var identity: UInt64? {
        guard let number else { return nil }
        var key = BoxWriter()
        key.u32(number)
        for text in [scheme, value] {
            key.append(text.utf8)
            key.u8(0)
        }
        key.append(data)
        return ContentHash.digest(of: key.bytes[...])
    }
}
