package import Media
import Support

/// Cuts an endless transport stream, which comes over one connection after the other, into segments.
///
/// Bytes go in with the boundaries of connections, segments and gaps come out: each frame that any connection had once,
/// in order. A new connection usually begins before the end of the last one, inside a packet and a group of pictures. Its
/// frames are compared with those received before by their decoding time and their content, over splices too. What follows
/// the last one continues the segment as if there had been one connection.
package struct StreamCutter: Sendable {
    package struct Segment: Equatable, Sendable {
        package let bytes: [UInt8]
        package let duration: Ticks
    }

    package enum Output: Equatable, Sendable {
        case segment(Segment)
        /// Media that no connection had, and frames that cannot be decoded after it. If the clock was restarted, the
        /// duration is that of the frames alone.
        case gap(Ticks)
    }

    package struct Policy: Equatable, Sendable {
        /// program_number; nil: the first one with video.
        package var program: UInt16?
        package var shortestSegment = Ticks.milliseconds(1800)
        package var longestSegment = Ticks.seconds(6)
        package var segmentBytes = 16 << 20

        package init() {}
    }

    package struct Counts: Equatable, Sendable {
        /// Frames of the video, or of the audio of a program without video, that were passed on.
        package var frames = 0
        package var repeatedFrames = 0
        package var droppedFrames = 0
        package var gaps = 0
        package var restarts = 0
        package var forcedCuts = 0
        package var lostPackets = 0
        package var scrambledPackets = 0
        package var bytesOutOfSync = 0
        package var badSections = 0
        package var tableChanges = 0
        /// PES packets that are too large, and other streams beyond the limit.
        package var oversized = 0
    }

    /// Why nothing is cut.
    package enum Obstacle: Equatable, Sendable { case noTables, noProgram, scrambled, noRandomAccess, frozenClock }

    static let streamLimit = 64
    /// Bytes that cannot be cut at frames, before they are passed on as they are: whoever reads them can tell why.
    private static let unreadableBytes = 2 << 20
    /// Scrambled units of the anchor after which they are passed on: about a second of video, then five. Who reads them can
    /// tell at once, and a descrambler has some time to begin.
    private static let scrambledUnits = (first: 24, next: 120)
    private static let unreadableDuration = Ticks.seconds(2)
    /// Frames without a random access point after which decoding begins anywhere.
    static let longestWait = 600
    /// Units of other streams that wait for one.
    private static let waitingLimit = 512
    private static let waitingBytes = 4 << 20
    /// Unknown frames among those received before, after which the stream is another one.
    private static let longestMismatch = 5

    /// Why a random access point is waited for.
    private enum Cause: Sendable {
        case beginning
        /// Nothing was received between the last frame and what follows.
        case gap
        case restart(first: Ticks?)

        /// Whether frames may still come that were received before: a new connection began with unknown ones.
        var mayBeRepeated: Bool { if case .beginning = self { false } else { true } }
    }

    private enum Phase: Sendable {
        /// For a random access point. `frames` have passed.
        case waiting(frames: Int, Cause)
        /// A new connection was made. `position`: that of its last frame among those received before.
        case joining(repeated: Int, mismatches: Int, position: Int?)
        case passing
    }

    /// What was there when a new connection began with other frames than those received before.
    private struct Resumption: Sendable {
        let history: StreamHistory
        let writer: StreamSegmentWriter
        let counts: Counts
        let gap: Output
    }

    private let policy: Policy
    private var framing = PacketFraming()
    private var tables: StreamTables
    /// The tables of the streams that are assembled: units of them are passed on after these tables.
    private var declaration: StreamTables.Declaration?
    private var assemblers: [UInt16: StreamUnitAssembler] = [:]
    private var phase = Phase.waiting(frames: 0, .beginning)
    private var history = StreamHistory()
    private var writer: StreamSegmentWriter
    /// Set until the first segment after a gap is cut. If a frame follows that was received before, the connection began in
    /// what an earlier one missed: that comes too late, and is dropped.
    private var resumption: Resumption?
    /// Units of other streams, until the place of the anchor is known, and how many of them came before its last frame.
    private var waiting: [StreamUnit] = []
    private var waitingBefore = 0
    /// PIDs whose units may still be repeated after the anchor has continued.
    private var repeating: Set<UInt16> = []
    /// Packets without tables, or scrambled, since the last frame.
    private var unreadable: [UInt8] = []
    private var unreadableUnits = 0
    private var hasPassedUnreadable = false
    private var outputs: [Output] = []
    private var own = Counts()
    private var unitCounts = StreamUnitAssembler.Counts()
    private var bytesOutOfSync = 0

    package init(_ policy: Policy = Policy()) {
        self.policy = policy
        tables = StreamTables(program: policy.program)
        writer = StreamSegmentWriter(policy)
    }

    package var counts: Counts {
        var counts = own
        counts.lostPackets = unitCounts.losses
        counts.oversized += unitCounts.oversized
        counts.bytesOutOfSync = bytesOutOfSync + framing.bytesOutOfSync
        (counts.badSections, counts.tableChanges) = (tables.badSections, tables.changes)
        counts.forcedCuts = writer.forcedCuts
        return counts
    }

    package var obstacle: Obstacle {
        if tables.followed == nil { return tables.isProgramMissing ? .noProgram : .noTables }
        // Frames that are passed on end no segment if no time passes.
        if own.frames > 0 { return .frozenClock }
        return own.scrambledPackets > 0 && own.droppedFrames == 0 ? .scrambled : .noRandomAccess
    }

    /// Playing time of all frames received on this connection, repeated or not.
    package private(set) var connectionTime = Ticks.zero
    private var connectionLast: Ticks?

    package mutating func append(_ bytes: [UInt8]) -> [Output] {
        consume(framing.append(bytes))
        return dequeue()
    }

    /// Ends the connection. The next bytes are those of another one.
    package mutating func endConnection() -> [Output] {
        consume(framing.finish())
        bytesOutOfSync += framing.bytesOutOfSync
        framing = PacketFraming()
        for pid in assemblers.keys.sorted() {
            if let unit = assemblers[pid]?.close(isEnd: true) { handle(unit) }
        }
        confirmResumption()
        tables.endConnection()
        (waiting, waitingBefore) = ([], 0)
        (connectionTime, connectionLast) = (.zero, nil)
        history.endConnection()
        if history.last != nil { phase = .joining(repeated: 0, mismatches: 0, position: nil) }
        return dequeue()
    }

    /// Cuts what is there, because nothing follows for a while.
    package mutating func flush() -> [Output] {
        cut(isForced: false)
        return dequeue()
    }

    private mutating func dequeue() -> [Output] {
        defer { outputs = [] }
        return outputs
    }

    private mutating func consume(_ packets: PacketFraming.Packets) {
        for offset in packets.offsets {
            consume(TransportPacket(packets.bytes, at: offset), of: packets.bytes, at: offset)
        }
    }

    private mutating func consume(_ packet: TransportPacket, of bytes: [UInt8], at offset: Int) {
        guard packet.pid != TransportPacket.nullPID else { return }
        if tables.isTable(packet.pid) {
            if tables.append(packet, of: bytes) { changeProgram() } else { declaration = tables.declaration }
            return
        }
        if tables.followed == nil { keepUnreadable(bytes, at: offset, isUnit: false) }
        // Moved out, so that its arrays are not copied.
        guard var assembler = assemblers.removeValue(forKey: packet.pid) else { return }
        var units: [StreamUnit] = []
        if !packet.isIntact {
            assembler.recordLoss(packet)
        } else if assembler.isClear(packet, of: bytes) {
            units = assembler.append(packet, of: bytes, at: offset, counts: &unitCounts)
        } else {
            own.scrambledPackets += 1
            assembler.recordLoss(packet)
            keepUnreadable(bytes, at: offset, isUnit: assembler.isAnchor && packet.startsUnit)
        }
        assemblers[packet.pid] = assembler
        for unit in units { handle(unit) }
    }

    /// - Parameter isUnit: whether a unit of the anchor begins with the packet.
    private mutating func keepUnreadable(_ bytes: [UInt8], at offset: Int, isUnit: Bool) {
        guard !tables.isProgramMissing else { return clearUnreadable() }
        unreadable += bytes[offset..<offset + PacketStride.packetSize]
        unreadableUnits += isUnit ? 1 : 0
        let limit = hasPassedUnreadable || own.frames > 0 ? Self.scrambledUnits.next : Self.scrambledUnits.first
        guard unreadableUnits >= limit || unreadable.count >= Self.unreadableBytes else { return }
        cut(isForced: false)
        let declared = declaration.map { tables.packets(of: $0) } ?? []
        outputs.append(.segment(Segment(bytes: declared + unreadable, duration: Self.unreadableDuration)))
        clearUnreadable()
        hasPassedUnreadable = true
    }

    private mutating func clearUnreadable() { (unreadable, unreadableUnits) = ([], 0) }

    /// Follows the streams of another PMT. The units of streams that are not in it are complete.
    private mutating func changeProgram() {
        guard let map = tables.followed?.map else { return }
        clearUnreadable()
        let anchor = map.anchor?.pid
        var next: [UInt16: StreamUnitAssembler] = [:]
        for entry in map.entries where next[entry.pid] == nil {
            guard next.count < Self.streamLimit else {
                own.oversized += 1
                continue
            }
            next[entry.pid] = StreamUnitAssembler(
                pid: entry.pid, content: entry.content, isAnchor: entry.pid == anchor)
        }
        for (pid, var known) in assemblers.sorted(by: { $0.key < $1.key }) {
            if let wanted = next[pid], wanted.content == known.content, wanted.isAnchor == known.isAnchor {
                next[pid] = known
            } else if let unit = known.close(isEnd: false) {
                handle(unit)
            }
        }
        assemblers = next
        declaration = tables.declaration
    }

    private mutating func handle(_ unit: StreamUnit) {
        let isAnchor = assemblers[unit.pid]?.isAnchor ?? (unit.digest != 0)
        if isAnchor {
            clearUnreadable()
            if let time = unit.time { measure(time) }
        }
        defer { if isAnchor { waitingBefore = waiting.count } }
        switch phase {
        case .passing: pass(unit, isAnchor: isAnchor)
        case .waiting where !isAnchor, .joining where !isAnchor: wait(unit)
        case .waiting(let frames, let cause):
            if cause.mayBeRepeated, let identity = unit.identity, history.contains(identity) {
                join(unit, repeated: 0, mismatches: 0, position: nil)
            } else {
                begin(with: unit, after: frames, cause)
            }
        case .joining(let repeated, let mismatches, let position):
            join(unit, repeated: repeated, mismatches: mismatches, position: position)
        }
    }

    private mutating func measure(_ time: Ticks) {
        if let connectionLast {
            let step = StreamHistory.step(from: connectionLast, to: time)
            // What waits for a frame of another clock does not belong to this one.
            if StreamHistory.isJump(step) { waiting.removeFirst(min(waitingBefore, waiting.count)) }
            connectionTime += step > .zero && step <= .seconds(1) ? step : history.frame
        }
        connectionLast = time
    }

    private mutating func wait(_ unit: StreamUnit) {
        waiting.append(unit)
        while waiting.count > Self.waitingLimit
            || waiting.count > 1 && waiting.reduce(0, { $0 + $1.packets.count }) > Self.waitingBytes
        { waiting.removeFirst() }
    }

    /// Begins, or begins again after a gap, at a random access point. The frames before it belong to the gap.
    private mutating func begin(with unit: StreamUnit, after frames: Int, _ cause: Cause) {
        guard unit.isRandomAccess || frames >= Self.longestWait else {
            own.droppedFrames += 1
            if let identity = unit.identity { history.recordDropped(identity) }
            phase = .waiting(frames: frames + 1, cause)
            return
        }
        phase = .passing
        repeating = []
        switch cause {
        case .beginning: cut(isForced: false)
        case .gap:
            let gap = (unit.time.flatMap { history.step(to: $0) } ?? .zero) - history.frame
            beginResumption(after: max(.zero, gap))
            own.gaps += 1
        case .restart(let first):
            beginResumption(after: Self.duration(from: first, to: unit.time))
            own.restarts += 1
        }
        pass(unit, isAnchor: true)
        let others = waiting
        waiting = []
        for other in others where isPresented(other, after: unit) { pass(other, isAnchor: false) }
    }

    private mutating func beginResumption(after gap: Ticks) {
        confirmResumption()
        resumption = Resumption(history: history, writer: writer, counts: own, gap: .gap(gap))
        writer = StreamSegmentWriter(continuing: writer)
    }

    /// Emits what came before the gap, and the gap: nothing was received before of what follows it.
    private mutating func confirmResumption() {
        guard let resumption else { return }
        self.resumption = nil
        var earlier = resumption.writer
        if let segment = earlier.finish(isForced: false) { outputs.append(.segment(segment)) }
        outputs.append(resumption.gap)
    }

    /// Drops what followed the gap, because an earlier connection went on after it.
    private mutating func withdraw(_ resumption: Resumption) {
        self.resumption = nil
        var counts = resumption.counts
        counts.droppedFrames = own.droppedFrames
        counts.repeatedFrames = own.repeatedFrames + own.frames - counts.frames
        counts.scrambledPackets = own.scrambledPackets
        (history, writer, own) = (resumption.history, resumption.writer, counts)
        waiting = []
    }

    /// The time between two units of one clock; zero if they may be of two.
    private static func duration(from first: Ticks?, to time: Ticks?) -> Ticks {
        guard let first, let time else { return .zero }
        let step = StreamHistory.step(from: first, to: time)
        return step > .zero && step <= StreamHistory.longestGap ? step : .zero
    }

    /// Whether a unit that came before a random access point belongs to what follows it.
    private func isPresented(_ other: StreamUnit, after unit: StreamUnit) -> Bool {
        guard let time = other.time, let start = unit.time else { return false }
        let step = StreamHistory.step(from: start, to: time)
        return step >= .zero && step <= policy.longestSegment
    }

    /// Finds the first unit of a new connection that no earlier one had.
    private mutating func join(_ unit: StreamUnit, repeated: Int, mismatches: Int, position: Int?) {
        guard let identity = unit.identity, let last = history.last, let step = history.step(to: identity.time) else {
            return restart(with: unit)
        }
        switch history.place(of: identity, isFirst: repeated == 0 && mismatches == 0, after: position) {
        case .received:
            own.repeatedFrames += 1
            // The order of a multiplex stays: what came before a frame that is not the last one was received too.
            if identity != last { waiting = [] }
            phase = .joining(
                repeated: repeated + 1, mismatches: 0, position: history.position(of: identity, after: position))
        case .next: resume(with: unit)
        case .earlier(let isRemembered) where !isRemembered || repeated > 0 || mismatches < Self.longestMismatch:
            own.repeatedFrames += 1
            let mismatches = mismatches + (isRemembered ? 1 : 0)
            phase = .joining(repeated: repeated, mismatches: mismatches, position: nil)
        case .later, .earlier:
            guard step > .zero, step <= StreamHistory.longestGap else { return restart(with: unit) }
            begin(with: unit, after: 0, .gap)
        case .elsewhere: restart(with: unit)
        }
    }

    private mutating func resume(with unit: StreamUnit) {
        phase = .passing
        history.resume()
        repeating = history.pids.subtracting([unit.pid])
        let others = waiting
        waiting = []
        for other in others where other.time != nil { pass(other, isAnchor: false) }
        pass(unit, isAnchor: true)
    }

    private mutating func restart(with unit: StreamUnit) {
        begin(with: unit, after: 0, .restart(first: unit.time))
    }

    private mutating func pass(_ unit: StreamUnit, isAnchor: Bool) {
        guard isAnchor else {
            if isRepeated(unit) { return }
            if let time = unit.time { history.record(time, of: unit.pid) }
            if writer.isTooLong(at: unit.time) { cut(isForced: true) }
            declareStreams()
            return writer.append(unit)
        }
        let step = unit.time.flatMap { history.step(to: $0) }
        let isJump = step.map(StreamHistory.isJump) ?? false
        if let resumption, let identity = unit.identity, resumption.history.hasPassed(identity) {
            withdraw(resumption)
            return join(unit, repeated: 0, mismatches: 0, position: nil)
        }
        writer.advance(by: isJump ? history.frame : max(.zero, step ?? history.frame))
        if writer.mayCut(at: unit, of: declaration, isJump: isJump) {
            cut(isForced: false)
        } else if writer.mustCut {
            cut(isForced: true)
        }
        if let identity = unit.identity { history.append(identity) }
        own.frames += 1
        declareStreams()
        writer.append(unit, at: unit.time)
    }

    /// Writes the tables of the next unit, unless the segment has them.
    private mutating func declareStreams() {
        guard let declaration, !writer.declares(declaration) else { return }
        writer.declare(declaration, tables.packets(of: declaration))
    }

    /// Whether a unit of another stream was received on an earlier connection.
    private mutating func isRepeated(_ unit: StreamUnit) -> Bool {
        guard repeating.contains(unit.pid), let time = unit.time else { return false }
        if history.isRepeated(time, of: unit.pid) { return true }
        repeating.remove(unit.pid)
        return false
    }

    private mutating func cut(isForced: Bool) {
        guard let segment = writer.finish(isForced: isForced) else { return }
        confirmResumption()
        outputs.append(.segment(segment))
    }
}
