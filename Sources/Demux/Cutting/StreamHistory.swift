import Media
import Support

/// The frames of an endless stream that were received lately, by which a new connection is joined to them.
struct StreamHistory: Sendable {
    /// Frames that are remembered at least: a minute of 60 frames per second.
    static let limit = 4096

    private var units: [StreamUnit.Identity] = []
    private var known: Set<StreamUnit.Identity> = []
    private(set) var frame = Ticks.milliseconds(40)
    private var lastTimes: [UInt16: Ticks] = [:]

    var last: StreamUnit.Identity? { units.last }
    var first: StreamUnit.Identity? { units.first }

    func contains(_ identity: StreamUnit.Identity) -> Bool { known.contains(identity) }

    func step(to time: Ticks) -> Ticks? { last.map { Self.step(from: $0.time, to: time) } }

    func precedes(_ time: Ticks, of pid: UInt16) -> Bool {
        lastTimes[pid].map { Self.step(from: $0, to: time) <= .zero } ?? false
    }

    static func step(from first: Ticks, to second: Ticks) -> Ticks { Ticks(wire: second, near: first) - first }

    mutating func append(_ identity: StreamUnit.Identity) {
        if let step = step(to: identity.time), step > .zero, step <= .longestFrame { frame = step }
        units.append(identity)
        known.insert(identity)
        StepCounter.add(1)
        guard units.count > Self.limit * 2 else { return }
        units.removeFirst(Self.limit)
        known = Set(units)
    }

    mutating func record(_ time: Ticks, of pid: UInt16) {
        if lastTimes[pid] != nil || lastTimes.count < StreamCutter.streamLimit { lastTimes[pid] = time }
    }

    mutating func removeAll() { self = StreamHistory() }
}
