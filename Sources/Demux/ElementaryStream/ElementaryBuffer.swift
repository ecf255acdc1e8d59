import Media

/// The bytes of one elementary stream that are not framed yet, with what the transport layer knows about them.
struct ElementaryBuffer: Equatable, Sendable {
    /// Where the payload of a PES packet begins.
    struct PacketStart: Equatable, Sendable {
        var offset: Int
        let pts: Ticks?
        let dts: Ticks?
    }

    /// Where bytes are missing: between `offset - 1` and `offset`.
    struct ByteLoss: Equatable, Sendable {
        var offset: Int
        /// What stands in front of the fault was complete; what follows has lost its beginning.
        let isBetweenPackets: Bool
    }

    var bytes: [UInt8] = []
    /// Ascending.
    private(set) var starts: [PacketStart] = []
    /// Ascending.
    private(set) var losses: [ByteLoss] = []

    init() {}

    mutating func startPacket(pts: Ticks?, dts: Ticks?) {
        starts.append(PacketStart(offset: bytes.count, pts: pts, dts: dts))
    }

    mutating func recordLoss(isBetweenPackets: Bool = false) {
        if let last = losses.last, last.offset == bytes.count { return }
        losses.append(ByteLoss(offset: bytes.count, isBetweenPackets: isBetweenPackets))
    }

    /// Where the next PES packet begins; nil when one begins at `offset`.
    func packetStart(after offset: Int) -> Int? {
        let index = starts.partitioningIndex { $0.offset >= offset }
        let next = index < starts.count ? starts[index].offset : bytes.count
        return next == offset ? nil : next
    }

    /// The last PES packet that begins in front of `offset`.
    func packetIndex(before offset: Int) -> Int? {
        let index = starts.partitioningIndex { $0.offset >= offset }
        return index > 0 ? index - 1 : nil
    }

    /// Bytes of a packet are missing behind the first byte of `range` or at its end.
    func hasLoss(in range: Range<Int>) -> Bool {
        let index = losses.partitioningIndex { $0.offset > range.lowerBound }
        return losses[index...].prefix { $0.offset <= range.upperBound }.contains { !$0.isBetweenPackets }
    }

    /// Forgets the bytes in front of `offset`. The packet that `offset` lies in keeps its times when
    /// `keepsTimes`: nothing that begins in it has taken them.
    mutating func removeFirst(_ offset: Int, keepsTimes: Bool) {
        if offset >= bytes.count {
            bytes.removeAll(keepingCapacity: true)
        } else if offset > 0 {
            bytes.removeFirst(offset)
        }
        shiftOffsets(by: offset, keepsTimes: keepsTimes)
    }

    /// Gives the bytes away whole, so that frames can be slices of them, and goes on with a copy of the rest.
    mutating func detachFirst(_ offset: Int, keepsTimes: Bool) -> [UInt8] {
        let whole = bytes
        bytes = []
        bytes.reserveCapacity(whole.count)
        bytes += whole[offset...]
        shiftOffsets(by: offset, keepsTimes: keepsTimes)
        return whole
    }

    private mutating func shiftOffsets(by offset: Int, keepsTimes: Bool) {
        let current = keepsTimes ? starts.last { $0.offset < offset } : nil
        starts.removeAll { $0.offset < offset }
        if let current, starts.first?.offset != offset {
            starts.insert(PacketStart(offset: offset, pts: current.pts, dts: current.dts), at: 0)
        }
        for index in starts.indices { starts[index].offset -= offset }
        losses.removeAll { $0.offset <= offset }
        for index in losses.indices { losses[index].offset -= offset }
    }
}

extension Array {
    /// The first index whose element, and every one behind it, `isBehind`; the count when there is none.
    fileprivate func partitioningIndex(where isBehind: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = low + (high - low) / 2
            if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
