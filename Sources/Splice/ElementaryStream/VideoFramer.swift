/// From the byte stream of one PID to its access units: times, sync kind, parameter sets, sample format.
struct VideoFramer: Sendable {
    /// Bytes an access unit may wait with for its end: twice what level 6.2 allows at its highest rates.
    static let longestHold = 64 << 20

    private struct Sample {
        let configuration: VideoConfiguration
        let pts: Ticks?
        let dts: Ticks?
        let sync: VideoPacket.Sync
        let isDamaged: Bool
        let payload: Range<Int>
    }

    private let pid: UInt16
    private let codec: VideoConfiguration.Codec
    private var splitter: AccessUnitSplitter
    private var ledger: ParameterSetLedger
    private var habit = BorderHabit.unknown(cleanBorders: 0)
    /// Bytes that an earlier segment left in the buffer.
    private var heldBytes = 0
    /// They are the first field of a frame: that its second follows says nothing of how segments are cut.
    private var heldIsHalf = false
    /// Whether the PES packet at the last segment's end was known to be at its own; nil before any segment.
    private var lookedComplete: Bool?
    private var awaitsRandomAccess = true
    private var samples: [Sample] = []
    private var arena: [UInt8] = []

    init(pid: UInt16, codec: VideoConfiguration.Codec) {
        self.pid = pid
        self.codec = codec
        splitter = AccessUnitSplitter(codec: codec)
        ledger = ParameterSetLedger(codec: codec)
    }

    /// Takes every access unit out of `buffer` that is at its end and leaves the rest there.
    /// - Parameter entry: how the segment began on this PID; nil when nothing came.
    mutating func frame(
        _ buffer: inout ElementaryBuffer, entry: PESAssembler.Entry?, ending: StreamEnding, counts: inout DemuxCounts
    ) -> [VideoPacket] {
        arena.reserveCapacity(buffer.bytes.count + buffer.bytes.count / 64)
        var packets = PacketStartCursor()
        var lastTimed: Int?
        var begin = 0
        for fault in buffer.faults where fault.isBetweenPackets {
            splitter.split(buffer, in: begin..<fault.offset)
            if begin == 0 { learn(entry) }
            if splitter.hasOrphan { counts.undecodable += 1 }
            for unit in splitter.accessUnits { write(unit, buffer, &packets, &lastTimed, &counts) }
            begin = fault.offset
        }
        splitter.split(buffer, in: begin..<buffer.bytes.count)
        if begin == 0 { learn(entry) }
        if splitter.hasOrphan { counts.undecodable += 1 }
        for unit in splitter.accessUnits.dropLast() { write(unit, buffer, &packets, &lastTimed, &counts) }
        finish(&buffer, ending, &packets, &lastTimed, &counts)
        return take()
    }

    /// Compares the segment's beginning with what was held of the one before.
    private mutating func learn(_ entry: PESAssembler.Entry?) {
        guard let lookedComplete, let entry else { return }
        self.lookedComplete = nil
        let first = splitter.accessUnits.first
        let reachesOver =
            heldBytes > 0
            ? !heldIsHalf && first.map { $0.bytes.upperBound > heldBytes } ?? true : splitter.hasOrphan
        habit.learn(entry, continuesAccessUnit: reachesOver, lookedComplete: lookedComplete)
    }

    /// Gives or holds the last access unit.
    private mutating func finish(
        _ buffer: inout ElementaryBuffer, _ ending: StreamEnding, _ packets: inout PacketStartCursor,
        _ lastTimed: inout Int?, _ counts: inout DemuxCounts
    ) {
        guard let last = splitter.accessUnits.last else {
            buffer.removeFirst(buffer.bytes.count, keepsTimes: false)
            heldBytes = 0
            return noteBorder(ending)
        }
        heldIsHalf = last.isHalf
        if holds(last, ending), last.bytes.count <= Self.longestHold {
            let packet = packets.packet(at: last.bytes.lowerBound, in: buffer)
            buffer.removeFirst(last.bytes.lowerBound, keepsTimes: packet != lastTimed)
        } else {
            if isWhole(last, ending) {
                write(last, buffer, &packets, &lastTimed, &counts)
            } else {
                counts.abandoned += 1
            }
            buffer.removeFirst(buffer.bytes.count, keepsTimes: false)
        }
        heldBytes = buffer.bytes.count
        noteBorder(ending)
    }

    private mutating func noteBorder(_ ending: StreamEnding) {
        if case .border(let isPacketComplete, _) = ending { lookedComplete = isPacketComplete }
    }

    private func holds(_ last: AccessUnit, _ ending: StreamEnding) -> Bool {
        guard case .border(let isPacketComplete, let isPacketDue) = ending else { return false }
        return !last.hasPicture || last.isHalf || isPacketDue || habit.holdsLast(isPacketComplete: isPacketComplete)
    }

    private func isWhole(_ last: AccessUnit, _ ending: StreamEnding) -> Bool {
        guard case .closed(let isPacketDue) = ending else { return last.hasPicture }
        return last.hasPicture && !isPacketDue
    }

    private mutating func take() -> [VideoPacket] {
        let bytes = arena
        arena = []
        defer { samples.removeAll(keepingCapacity: true) }
        return samples.map { sample in
            VideoPacket(
                pid: pid, configuration: sample.configuration, pts: sample.pts, dts: sample.dts, sync: sample.sync,
                isDamaged: sample.isDamaged, payload: bytes[sample.payload])
        }
    }
}

extension VideoFramer {
    /// Appends one access unit to the arena, and its times and kind to `samples`.
    private mutating func write(
        _ unit: AccessUnit, _ buffer: borrowing ElementaryBuffer, _ packets: inout PacketStartCursor,
        _ lastTimed: inout Int?, _ counts: inout DemuxCounts
    ) {
        let packet = packets.packet(at: unit.bytes.lowerBound, in: buffer)
        let start = packet == lastTimed ? nil : packet.map { buffer.starts[$0] }
        lastTimed = packet ?? lastTimed
        let sync = unit.hasPicture ? syncKind(unit, buffer) : .none
        let payloadStart = arena.count
        prepare(unit, buffer, isSync: sync == .instantaneousRefresh)
        for index in unit.units where isKept(index, buffer, isSync: sync == .instantaneousRefresh) {
            let range = splitter.units[index].start..<splitter.units[index].end
            NALUnitLength.append(range.count, to: &arena)
            arena.append(contentsOf: buffer.bytes[range])
        }
        if sync != .instantaneousRefresh { ledger.settleFirst() }
        guard let configuration = ledger.configuration, unit.hasPicture else {
            arena.removeLast(arena.count - payloadStart)
            counts.undecodable += 1
            return
        }
        if sync == .instantaneousRefresh { awaitsRandomAccess = false }
        samples.append(
            Sample(
                configuration: configuration, pts: start?.pts, dts: start?.dts, sync: sync,
                isDamaged: isDamaged(unit, buffer), payload: payloadStart..<arena.count))
    }

    /// At a sync access unit: its parameter sets come into force, and all in force are put in front.
    private mutating func prepare(_ unit: AccessUnit, _ buffer: borrowing ElementaryBuffer, isSync: Bool) {
        guard isSync else { return }
        ledger.beginAccessUnit()
        for index in unit.units {
            guard case .parameterSet(let kind) = splitter.roles[index] else { continue }
            _ = ledger.take(buffer.bytes[splitter.units[index].start..<splitter.units[index].end], kind)
        }
        ledger.refresh()
        arena.append(contentsOf: ledger.prefix)
    }

    /// Parameter sets stay in the payload where a decoder that began at the last sync sample would not hold them.
    private mutating func isKept(_ index: Int, _ buffer: borrowing ElementaryBuffer, isSync: Bool) -> Bool {
        switch splitter.roles[index] {
        case .delimiter, .filler: return false
        case .parameterSet(let kind):
            guard !isSync else { return false }
            let unit = splitter.units[index]
            let isNew = ledger.take(buffer.bytes[unit.start..<unit.end], kind)
            return isNew && ledger.configuration != nil
        case .prefix, .slice, .other: return true
        }
    }

    private func syncKind(_ unit: AccessUnit, _ buffer: borrowing ElementaryBuffer) -> VideoPacket.Sync {
        var kind = VideoPacket.Sync.none
        for index in unit.units {
            switch splitter.roles[index] {
            case .slice(_, .instantaneousRefresh): return .instantaneousRefresh
            case .slice(_, .cleanRandomAccess): return awaitsRandomAccess ? .instantaneousRefresh : .recoveryPoint
            case .prefix where RecoveryPoint.isIn(splitter.units[index], of: buffer.bytes, codec: codec):
                kind = .recoveryPoint
            default: break
            }
        }
        return kind
    }

    private func isDamaged(_ unit: AccessUnit, _ buffer: borrowing ElementaryBuffer) -> Bool {
        buffer.faults.contains { fault in
            !fault.isBetweenPackets && unit.bytes.lowerBound < fault.offset && fault.offset <= unit.bytes.upperBound
        }
    }
}
