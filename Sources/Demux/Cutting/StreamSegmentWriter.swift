import Media

/// The segment of an endless stream that is being written.
struct StreamSegmentWriter: Sendable {
    private let policy: StreamCutter.Policy
    private var bytes: [UInt8] = []
    private var duration = Ticks.zero
    private var start: Ticks?
    private var hasMedia = false
    /// The tables that were declared last in the segment.
    private var declaration: StreamTables.Declaration?
    /// Whether tables were declared in the middle of it: the next random access point begins another segment.
    private var hasOtherTables = false
    private var counters: [UInt16: UInt8] = [:]
    private(set) var forcedCuts = 0

    init(_ policy: StreamCutter.Policy) { self.policy = policy }

    /// A writer of what follows the segment of another one.
    init(continuing other: StreamSegmentWriter) {
        policy = other.policy
        (counters, forcedCuts) = (other.counters, other.forcedCuts)
    }

    var isEmpty: Bool { bytes.isEmpty }
    /// Whether the segment is as long, or as large, as one may become.
    var mustCut: Bool { hasMedia && (duration >= policy.longestSegment || bytes.count >= policy.segmentBytes) }

    /// - Parameter declaration: the tables of `unit`.
    func mayCut(at unit: StreamUnit, of declaration: StreamTables.Declaration?, isJump: Bool) -> Bool {
        let isOther = isJump || hasOtherTables || !declares(declaration)
        return hasMedia && unit.isRandomAccess && (isOther || duration >= policy.shortestSegment)
    }

    /// Whether the segment declares the streams of `wanted` where it ends.
    func declares(_ wanted: StreamTables.Declaration?) -> Bool {
        guard let wanted else { return true }
        return declaration?.declaresSame(as: wanted) ?? false
    }

    /// Whether another stream is far after the anchor, which has no frames any more.
    func isTooLong(at time: Ticks?) -> Bool {
        guard bytes.count < policy.segmentBytes else { return true }
        guard let time, let start else { return false }
        let step = StreamHistory.step(from: start, to: time)
        return step > policy.longestSegment + policy.longestSegment && step < .seconds(60)
    }

    mutating func advance(by step: Ticks) { if hasMedia { duration += step } }

    /// - Parameter packets: those of `declaration`.
    mutating func declare(_ declaration: StreamTables.Declaration, _ packets: [UInt8]) {
        if hasMedia { hasOtherTables = true }
        self.declaration = declaration
        bytes += packets
    }

    /// - Parameter anchorTime: the time of a unit of the anchor; nil: it is of another stream.
    mutating func append(_ unit: StreamUnit, at anchorTime: Ticks? = nil) {
        if start == nil { start = anchorTime }
        hasMedia = true
        let first = counters[unit.pid, default: 0] &+ (unit.followsLoss ? 1 : 0)
        let offset = bytes.count
        bytes += unit.packets
        var last = first
        for packet in stride(from: offset, to: bytes.count, by: PacketStride.packetSize) {
            last = first &+ (bytes[packet + 3] & 15)
            bytes[packet + 3] = bytes[packet + 3] & 0xF0 | last & 15
        }
        counters[unit.pid] = last &+ 1
    }

    mutating func finish(isForced: Bool) -> StreamCutter.Segment? {
        guard hasMedia else { return nil }
        if isForced { forcedCuts += 1 }
        defer { (bytes, duration, start, hasMedia, hasOtherTables, declaration) = ([], .zero, nil, false, false, nil) }
        return StreamCutter.Segment(bytes: bytes, duration: duration)
    }
}
