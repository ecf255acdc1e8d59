import Media
import Support

/// The size of a chunk that `TransportChunkWriter` would write, by its units in their order.
struct TransportChunkSize {
    private let program: TransportProgram
    private let start: Ticks
    /// By PID, of which there are few.
    private var sums: [(pid: UInt16, packets: Int, spare: Int)] = []
    /// Random access points after the beginning of the chunk.
    private var accessPoints = 0
    /// Packets that only carry PCR, before the last unit that carries one.
    private var clocks: Int64 = 0
    /// When PCR was sent last; nil before any unit with it.
    private var lastClock: Ticks?

    init(of program: TransportProgram, from start: Ticks) { (self.program, self.start) = (program, start) }

    mutating func append(_ unit: TransportUnit) {
        StepCounter.add(1)
        let packets = program.packetCount(of: unit)
        let index = sums.firstIndex { $0.pid == unit.pid } ?? sums.count
        if index == sums.count { sums.append((unit.pid, 0, 0)) }
        sums[index].packets += packets
        sums[index].spare += unit.sparePackets(in: packets)
        if unit.kind == .video(isRandomAccessPoint: true), unit.time != start { accessPoints += 1 }
        if program.carriesClock(unit) {
            if lastClock == nil, unit.time != start { clocks += 1 }
            clocks += TransportChunkWriter.clockIntervals(from: lastClock ?? start, to: unit.time) - 1
            lastClock = unit.time
        }
    }

    /// Bytes of the packets of the units.
    var unitByteCount: Int {
        let packets = sums.reduce(0) { packets, sum in
            let missing = -sum.packets & (TransportPacketWriter.counterPeriod - 1)
            return packets + sum.packets + (sum.pid == program.clockPID ? missing : min(missing, sum.spare))
        }
        return packets * PacketStride.packetSize
    }

    /// Bytes of the chunk.
    /// - Parameter map: the payload of the packets of PMT.
    func byteCount(to end: Ticks, map: [UInt8]) -> Int {
        let tables = TransportChunkWriter.tableCount(lasting: (end - start).count, accessPoints: accessPoints)
        let last = TransportChunkWriter.clockIntervals(from: lastClock ?? start, to: end) - 1
        let clocks = clocks + last + (lastClock == nil ? 1 : 0)
        let packets = Int(tables) * (1 + map.count / TransportPacketWriter.payloadSize) + Int(clocks)
        return packets * PacketStride.packetSize + unitByteCount
    }
}

extension TransportProgram {
    /// The smallest number of packets for a unit.
    func packetCount(of unit: TransportUnit) -> Int {
        TransportPacketWriter.packetCount(
            forPayloadOf: unit.byteCount, hasClock: carriesClock(unit), isRandomAccessPoint: isRandomAccessPoint(unit))
    }

    /// Whether the first packet of a unit carries a PCR.
    func carriesClock(_ unit: TransportUnit) -> Bool { unit.pid == clockPID }

    func isRandomAccessPoint(_ unit: TransportUnit) -> Bool {
        switch unit.kind {
        case .video(let isRandomAccessPoint): isRandomAccessPoint
        case .audio: video == nil && unit.pid == clockPID
        case .other: false
        }
    }
}

extension TransportUnit {
    /// The packets more over which the unit can be spread.
    /// - Parameter count: the smallest number of packets for it.
    func sparePackets(in count: Int) -> Int { max(0, byteCount - headerSize + 1 - count) }
}
