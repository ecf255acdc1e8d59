import Demux
import Media

/// Holds the segments of a stream back, so that viewers do not notice a reconnection that is shorter.
///
/// A segment is released as long after its end as the stream was early at best lately, and the hold later. A segment that
/// comes later than that is released at once.
struct StreamHold: Sendable {
    /// The time after which it is forgotten how early the stream was.
    static let memory = Duration.seconds(60)

    private let hold: Duration
    private let byteLimit: Int
    private var held: [(output: StreamCutter.Output, due: Duration)] = []
    private(set) var byteCount = 0
    /// Media time at the end of what was appended.
    private var position = Duration.zero
    /// The least time from the end of a segment to its arrival, now and in the window before.
    private var earliest: (current: Duration?, before: Duration?) = (nil, nil)
    private var windowEnd = Duration.zero

    /// - Parameter byteLimit: bytes that are held. Beyond it the oldest are released early.
    init(_ hold: Duration, byteLimit: Int) {
        self.hold = hold
        self.byteLimit = byteLimit
    }

    var nextDeadline: Duration? { held.first?.due }

    var count: Int { held.count }

    mutating func append(_ output: StreamCutter.Output, at now: Duration) {
        switch output {
        case .segment(let segment):
            position += segment.duration.duration
            byteCount += segment.bytes.count
        case .gap(let duration): position += duration.duration
        }
        guard hold > .zero else { return held.append((output, now)) }
        if now >= windowEnd { (earliest, windowEnd) = ((nil, earliest.current), now + Self.memory) }
        earliest.current = min(earliest.current ?? now - position, now - position)
        let reference = [earliest.current, earliest.before].compactMap(\.self).min() ?? now - position
        held.append((output, max(held.last?.due ?? now, reference + position + hold)))
    }

    mutating func dequeue(at now: Duration) -> [StreamCutter.Output] {
        var due: [StreamCutter.Output] = []
        while let first = held.first, first.due <= now || byteCount > byteLimit {
            due.append(first.output)
            held.removeFirst()
            if case .segment(let segment) = first.output { byteCount -= segment.bytes.count }
        }
        return due
    }

    mutating func removeAll() -> [StreamCutter.Output] {
        defer { (held, byteCount) = ([], 0) }
        return held.map(\.output)
    }
}
