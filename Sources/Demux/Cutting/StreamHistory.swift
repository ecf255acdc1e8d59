import Media
import Support

/// The frames of an endless stream that were received lately, by which a new connection is joined to them.
///
/// A new connection may repeat media from before a splice. So the history has a span for each clock, and remembers no more
/// than a reconnection can repeat: an ad that comes again later is new media.
struct StreamHistory: Sendable {
    /// Where a frame of a new connection lies.
    enum Place: Equatable, Sendable {
        case received
        /// It follows the last frame.
        case next
        /// It precedes frames that were received of its clock (`isRemembered` is false), or lies among them and is unknown.
        case earlier(isRemembered: Bool)
        /// It follows the last frame after a gap.
        case later
        /// On another clock.
        case elsewhere
    }

    /// Consecutive frames on one clock. Where no connection had some, another span begins.
    private struct ClockSpan: Sendable {
        var first: Ticks
        var last: Ticks
        /// The number of frames remembered of it.
        var count = 1
    }

    /// Frames that are remembered at least, unless they are older than `longestRepetition`: a minute of 60 frames per second.
    static let limit = 4096
    /// A longer step of the clock between two connections is another clock.
    static let longestGap = Ticks.seconds(60)
    /// A longer step back is another clock, even to frames that are not remembered any more.
    private static let longestRepetition = Ticks.seconds(120)
    /// The media before the first frame that was ever received of a clock that a new connection may begin with, rather than
    /// with another clock or after a gap.
    private static let longestPrelude = Ticks.seconds(30)
    /// The longest time between units that follow one another in a multiplex.
    private static let longestInterleave = Ticks.seconds(3)
    /// A longer step between two frames of one connection is a jump of the clock.
    private static let jump = Ticks.seconds(10)

    private var frames: [StreamUnit.Identity] = []
    private var known: Set<StreamUnit.Identity> = []
    /// Those that were dropped, because they cannot be decoded.
    private var dropped: Set<StreamUnit.Identity> = []
    private var spans: [ClockSpan] = []
    /// The index of the span of `last`. Dropped frames may follow on another clock.
    private var current = 0
    /// Whether the next frame follows on another connection, so that frames may be missing before it.
    private var isBroken = false
    private var hasForgotten = false
    /// Media time since frames were forgotten last, and how many frames there were then.
    private var grown = (time: Ticks.zero, from: 0)
    private(set) var frame = Ticks.milliseconds(40)
    private var lastTimes: [UInt16: Ticks] = [:]
    /// The last frame that was passed on.
    private(set) var last: StreamUnit.Identity?
    private var lastPosition: Int?

    /// The other streams whose units were passed on.
    var pids: Set<UInt16> { Set(lastTimes.keys) }

    func contains(_ identity: StreamUnit.Identity) -> Bool { known.contains(identity) }

    /// The position of a frame that was received: the one after `before`, or else the latest.
    func position(of identity: StreamUnit.Identity, after before: Int?) -> Int? {
        if let next = before.map({ $0 + 1 }), next < frames.count, frames[next] == identity { return next }
        return frames.lastIndex(of: identity)
    }

    /// Whether a frame was passed on.
    func hasPassed(_ identity: StreamUnit.Identity) -> Bool { contains(identity) && !dropped.contains(identity) }

    func step(to time: Ticks) -> Ticks? { last.map { Self.step(from: $0.time, to: time) } }

    /// Whether a unit of another stream, after the first new frame of a connection, was received before. Its time is then at
    /// most as far back as streams of one multiplex lie apart; a longer step back leads to another clock.
    func isRepeated(_ time: Ticks, of pid: UInt16) -> Bool {
        guard let last = lastTimes[pid] else { return false }
        let step = Self.step(from: last, to: time)
        return step <= .zero && step >= .zero - Self.longestInterleave
    }

    static func step(from first: Ticks, to second: Ticks) -> Ticks { Ticks(wire: second, near: first) - first }

    /// Whether a step between two frames of one connection leads to another clock.
    static func isJump(_ step: Ticks) -> Bool { step <= .zero - .longestFrame || step > jump }

    /// - Parameters:
    ///   - isFirst: whether the new connection begins with the frame.
    ///   - before: the position of the frame before it on the new connection. What comes after the last frame follows it,
    ///     wherever its clock is.
    func place(of identity: StreamUnit.Identity, isFirst: Bool, after before: Int?) -> Place {
        let atTail = before != nil && before == lastPosition
        guard let step = step(to: identity.time) else { return contains(identity) ? .received : .elsewhere }
        // An earlier showing may have the same frame: a connection rather repeats little than much.
        let isNext = atTail || step > .zero && step.count * 2 <= frame.count * 3
        if contains(identity), !atTail, !(isFirst && isNext) { return .received }
        if isNext { return .next }
        let isLater = step > .zero && step <= Self.longestGap
        for (index, span) in spans.enumerated().reversed() {
            let fromFirst = Self.step(from: span.first, to: identity.time)
            let fromLast = Self.step(from: span.last, to: identity.time)
            if fromFirst >= .zero, fromLast <= .zero { return .earlier(isRemembered: true) }
            // Of two explanations, the nearer one.
            if fromFirst < .zero, fromFirst >= .zero - prelude(of: index), !isLater || .zero - fromFirst < step {
                return .earlier(isRemembered: false)
            }
            // It is nearer to the end of an earlier clock: that one goes on. Frames that were dropped in a gap are a part of it.
            if isLater, index != current, fromLast > .zero, fromLast < step {
                let isInGap = index > current && self.step(to: span.first).map { $0 > .zero && $0 < step } ?? false
                return isInGap ? .later : .elsewhere
            }
        }
        return isLater ? .later : .elsewhere
    }

    /// How far before the first frame of a span a frame may be that is older. Nothing is older than the first connection, but
    /// for what that did not reach back to.
    private func prelude(of index: Int) -> Ticks {
        index == 0 && !hasForgotten ? Self.longestPrelude : Self.longestRepetition
    }

    /// Ends the connection: frames may be missing before the next one.
    mutating func endConnection() { isBroken = true }

    /// Records that the next frame follows the last one.
    mutating func resume() { isBroken = current != spans.count - 1 }

    /// Records a frame that is passed on.
    mutating func append(_ identity: StreamUnit.Identity) {
        if let step = step(to: identity.time), step > .zero, step <= .longestFrame { frame = step }
        record(identity)
        dropped.remove(identity)
        (last, current, lastPosition) = (identity, spans.count - 1, frames.count - 1)
    }

    /// Records a frame that was received, and is dropped because it cannot be decoded.
    mutating func recordDropped(_ identity: StreamUnit.Identity) {
        if !contains(identity) { dropped.insert(identity) }
        record(identity)
    }

    private mutating func record(_ identity: StreamUnit.Identity) {
        StepCounter.add(1)
        let step = spans.last.map { Self.step(from: $0.last, to: identity.time) }
        if let step, !Self.isJump(step), !isBroken {
            spans[spans.count - 1].last = step > .zero ? identity.time : spans[spans.count - 1].last
            spans[spans.count - 1].count += 1
            grown.time = grown.time + max(.zero, step)
        } else {
            spans.append(ClockSpan(first: identity.time, last: identity.time))
        }
        isBroken = false
        frames.append(identity)
        known.insert(identity)
        if frames.count > Self.limit * 2 {
            forget(frames.count - Self.limit)
        } else if grown.time >= Self.longestRepetition {
            forget(grown.from)
        }
    }

    /// Forgets the oldest frames.
    private mutating func forget(_ count: Int) {
        frames.removeFirst(count)
        lastPosition = lastPosition.map { $0 - count }
        hasForgotten = true
        known = Set(frames)
        dropped.formIntersection(known)
        grown = (.zero, frames.count)
        var rest = count
        while let span = spans.first, span.count <= rest {
            rest -= span.count
            spans.removeFirst()
            current -= 1
        }
        guard !spans.isEmpty, rest > 0, let first = frames.first else { return }
        spans[0].count -= rest
        spans[0].first = first.time
    }

    mutating func record(_ time: Ticks, of pid: UInt16) {
        if lastTimes[pid] != nil || lastTimes.count < StreamCutter.streamLimit { lastTimes[pid] = time }
    }
}
