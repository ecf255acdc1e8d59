/// The bytes of one elementary stream that are not framed yet, with what the transport layer knows about them.
struct ElementaryBuffer: Equatable, Sendable {
    /// Where the payload of a PES packet begins.
    struct PacketStart: Equatable, Sendable {
        var offset: Int
        let pts: Ticks?
        let dts: Ticks?
    }

    /// Where bytes are missing: between `offset - 1` and `offset`.
    struct Fault: Equatable, Sendable {
        var offset: Int
        /// What stands in front of the fault was complete; what follows has lost its beginning.
        let isBetweenPackets: Bool
    }

    var bytes: [UInt8] = []
    /// Ascending.
    private(set) var starts: [PacketStart] = []
    /// Ascending.
    private(set) var faults: [Fault] = []

    init() {}

    mutating func startPacket(pts: Ticks?, dts: Ticks?) {
        starts.append(PacketStart(offset: bytes.count, pts: pts, dts: dts))
    }

    mutating func noteFault(isBetweenPackets: Bool = false) {
        if let last = faults.last, last.offset == bytes.count { return }
        faults.append(Fault(offset: bytes.count, isBetweenPackets: isBetweenPackets))
    }

    /// Forgets the bytes in front of `offset`. The packet that `offset` lies in keeps its times when
    /// `keepsTimes`: nothing that begins in it has taken them.
    mutating func removeFirst(_ offset: Int, keepsTimes: Bool) {
        if offset >= bytes.count {
            bytes.removeAll(keepingCapacity: true)
        } else if offset > 0 {
            bytes.removeFirst(offset)
        }
        moveMarks(back: offset, keepsTimes: keepsTimes)
    }

    /// Gives the bytes away whole, so that frames can be slices of them, and goes on with a copy of the rest.
    mutating func detachFirst(_ offset: Int, keepsTimes: Bool) -> [UInt8] {
        let whole = bytes
        bytes = []
        bytes.reserveCapacity(whole.count)
        bytes += whole[offset...]
        moveMarks(back: offset, keepsTimes: keepsTimes)
        return whole
    }

    private mutating func moveMarks(back offset: Int, keepsTimes: Bool) {
        let current = keepsTimes ? starts.last { $0.offset < offset } : nil
        starts.removeAll { $0.offset < offset }
        if let current, starts.first?.offset != offset {
            starts.insert(PacketStart(offset: offset, pts: current.pts, dts: current.dts), at: 0)
        }
        for index in starts.indices { starts[index].offset -= offset }
        faults.removeAll { $0.offset <= offset }
        for index in faults.indices { faults[index].offset -= offset }
    }
}
