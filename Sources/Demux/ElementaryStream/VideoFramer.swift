import Media

/// From the byte stream of one PID to its access units: times, sync kind, parameter sets, sample format.
struct VideoFramer: Sendable {
    /// Bytes an access unit may wait with for its end: twice what level 6.2 allows at its highest rates.
    static let maxHeldBytes = 64 << 20

    private var splitter: AccessUnitSplitter
    private var writer: VideoSampleWriter
    private var boundaryAlignment = BoundaryAlignment.unknown(cleanBoundaries: 0)
    /// Bytes that an earlier segment left in the buffer.
    private var heldBytes = 0
    /// They are the first field of a frame: that its second follows says nothing of how segments are cut.
    private var heldIsHalf = false
    /// Whether the PES packet at the last segment's end was known to be at its own; nil before any segment.
    private var lookedComplete: Bool?

    init(pid: UInt16, codec: VideoConfiguration.Codec) {
        splitter = AccessUnitSplitter(codec: codec)
        writer = VideoSampleWriter(pid: pid, codec: codec)
    }

    /// Takes every access unit out of `buffer` that is at its end and leaves the rest there.
    /// - Parameter entry: how the segment began on this PID; nil when nothing came.
    mutating func frame(
        _ buffer: inout ElementaryBuffer, entry: PESAssembler.PESStart?, ending: StreamEnding, counts: inout DemuxCounts
    ) -> [VideoPacket] {
        writer.reserve(bytes: buffer.bytes.count + buffer.bytes.count / 64)
        var packets = PacketStartCursor()
        var lastTimed: Int?
        var begin = 0
        for fault in buffer.losses where fault.isBetweenPackets {
            splitter.split(buffer, in: begin..<fault.offset)
            if begin == 0 { compareWithHeld(entry) }
            if splitter.hasOrphan { counts.undecodable += 1 }
            for unit in splitter.accessUnits { write(unit, buffer, &packets, &lastTimed, &counts) }
            begin = fault.offset
        }
        splitter.split(buffer, in: begin..<buffer.bytes.count)
        if begin == 0 { compareWithHeld(entry) }
        if splitter.hasOrphan { counts.undecodable += 1 }
        for unit in splitter.accessUnits.dropLast() { write(unit, buffer, &packets, &lastTimed, &counts) }
        finish(&buffer, ending, &packets, &lastTimed, &counts)
        return writer.drain()
    }

    /// Compares the segment's beginning with what was held of the one before.
    private mutating func compareWithHeld(_ entry: PESAssembler.PESStart?) {
        guard let lookedComplete, let entry else { return }
        self.lookedComplete = nil
        let first = splitter.accessUnits.first
        let reachesOver =
            heldBytes > 0
            ? !heldIsHalf && first.map { $0.bytes.upperBound > heldBytes } ?? true : splitter.hasOrphan
        boundaryAlignment.recordBoundary(entry, continuesAccessUnit: reachesOver, lookedComplete: lookedComplete)
    }

    /// Gives or holds the last access unit.
    private mutating func finish(
        _ buffer: inout ElementaryBuffer, _ ending: StreamEnding, _ packets: inout PacketStartCursor,
        _ lastTimed: inout Int?, _ counts: inout DemuxCounts
    ) {
        guard let last = splitter.accessUnits.last else {
            buffer.removeFirst(buffer.bytes.count, keepsTimes: false)
            heldBytes = 0
            return rememberPacketState(ending)
        }
        heldIsHalf = last.isHalf
        if shouldHold(last, ending), last.bytes.count <= Self.maxHeldBytes {
            let packet = packets.packetIndex(at: last.bytes.lowerBound, in: buffer)
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
        rememberPacketState(ending)
    }

    private mutating func rememberPacketState(_ ending: StreamEnding) {
        if case .segmentBoundary(let isPacketComplete, _) = ending { lookedComplete = isPacketComplete }
    }

    private func shouldHold(_ last: AccessUnit, _ ending: StreamEnding) -> Bool {
        guard case .segmentBoundary(let isPacketComplete, let isPacketDue) = ending else { return false }
        return !last.hasSlice || last.isHalf || isPacketDue
            || boundaryAlignment.holdsLastAccessUnit(isPacketComplete: isPacketComplete)
    }

    private func isWhole(_ last: AccessUnit, _ ending: StreamEnding) -> Bool {
        guard case .closed(let isPacketDue) = ending else { return last.hasSlice }
        return last.hasSlice && !isPacketDue
    }

    private mutating func write(
        _ unit: AccessUnit, _ buffer: borrowing ElementaryBuffer, _ packets: inout PacketStartCursor,
        _ lastTimed: inout Int?, _ counts: inout DemuxCounts
    ) {
        let packet = packets.packetIndex(at: unit.bytes.lowerBound, in: buffer)
        let start = packet == lastTimed ? nil : packet.map { buffer.starts[$0] }
        lastTimed = packet ?? lastTimed
        let timing = VideoSampleWriter.Timing(
            pts: start?.pts, dts: start?.dts, isDamaged: buffer.hasLoss(in: unit.bytes))
        let isWritten = writer.write(
            splitter.units[unit.units], splitter.roles[unit.units], of: buffer.bytes, timing)
        if !isWritten { counts.undecodable += 1 }
    }
}
