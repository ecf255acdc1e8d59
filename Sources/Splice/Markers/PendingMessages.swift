import Demux
import Media
import Mux
import Transcode

/// Event messages that wait for their time, in its order.
struct PendingMessages: Sendable {
    /// So many wait, of so many bytes together; of more the farthest are given up.
    static let limit = 1024
    static let byteLimit = 4 << 20

    private var waiting: [PlacedMessage] = []
    private var bytes = 0
    private var seen = EventMessageDuplicates()
    private(set) var written = 0
    /// Told again by the upstream, so that a player which joins hears of them; ours are in the list already.
    private(set) var duplicates = 0
    /// Messages whose time did not come.
    private(set) var discarded = 0

    /// - Returns: false when it is known already.
    mutating func add(_ message: PlacedMessage) -> Bool {
        guard seen.insert(message) else {
            duplicates += 1
            return false
        }
        let index = waiting.firstIndex { $0.time > message.time } ?? waiting.endIndex
        waiting.insert(message, at: index)
        bytes += message.message.size
        while waiting.count > Self.limit || bytes > Self.byteLimit, let last = waiting.popLast() {
            bytes -= last.message.size
            discarded += 1
        }
        return true
    }

    /// Takes the messages of a segment that ends at `end`, those that came late included.
    mutating func dequeue(before end: Ticks) -> [PlacedMessage] {
        let count = waiting.firstIndex { $0.time >= end } ?? waiting.endIndex
        defer { waiting.removeFirst(count) }
        written += count
        bytes -= waiting[..<count].reduce(0) { $0 + $1.message.size }
        return Array(waiting[..<count])
    }

    /// The time up to `end` is over, and was not this source's; nil: nothing will be written any more.
    mutating func discard(before end: Ticks? = nil) {
        let count = end.flatMap { end in waiting.firstIndex { $0.time >= end } } ?? waiting.endIndex
        bytes -= waiting[..<count].reduce(0) { $0 + $1.message.size }
        discarded += count
        waiting.removeFirst(count)
    }
}

extension EventMessage {
    fileprivate var size: Int { data.count + scheme.utf8.count + value.utf8.count }
}

/// The messages told lately. An upstream repeats a message in segment after segment, and in each rendition: one that has
/// the scheme, the value and the number of another is the same (ISO/IEC 23009-1 §5.10.3.3.4).
///
/// Packagers that number all of their messages alike are not taken at their word: what is the same also has the same
/// data, and is of the same moment or, told while it lasts, of a moment inside it.
private struct EventMessageDuplicates: Sendable {
    private struct Entry: Sendable {
        let identity: UInt64
        let start: Ticks
        let end: Ticks
    }

    private static let limit = 1024
    /// Times are rounded in other timescales on their way.
    private static let tolerance = Ticks.milliseconds(10)

    private var messages: [Entry] = []

    /// - Returns: false when it was noted before.
    mutating func insert(_ placed: PlacedMessage) -> Bool {
        guard let identity = placed.message.identity else { return true }
        let time = placed.time
        let isKnown = messages.contains { known in
            known.identity == identity && time >= known.start - Self.tolerance && time <= known.end + Self.tolerance
        }
        guard !isKnown else { return false }
        messages.append(Entry(identity: identity, start: time, end: time + (placed.message.duration ?? .zero)))
        if messages.count > Self.limit { messages.removeFirst() }
        return true
    }
}

extension EventMessage {
    /// nil when its upstream does not number it.
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
