import Media
import Support

/// The bytes of one elementary stream that are not framed yet, with PES packet starts and losses.
struct ElementaryBuffer: Equatable, Sendable {
    /// The start of a PES packet's payload.
    struct PacketStart: Equatable, Sendable {
        var offset: Int
        let pts: Ticks?
        let dts: Ticks?
    }

    /// A position where bytes are missing: between `offset - 1` and `offset`.
    struct ByteLoss: Equatable, Sendable {
        var offset: Int
        /// Whether the bytes before the loss are complete; the bytes after it lack their beginning.
        let isBetweenPackets: Bool
    }

    var bytes: [UInt8] = []
    /// In ascending order.
    private(set) var starts: [PacketStart] = []
    /// In ascending order.
    private(set) var losses: [ByteLoss] = []
    /// Number of bytes at the beginning that an earlier segment left.
    private(set) var carriedBytes = 0

    init() {}

    mutating func startPacket(pts: Ticks?, dts: Ticks?) {
        starts.append(PacketStart(offset: bytes.count, pts: pts, dts: dts))
    }

    @inline(__always)
    mutating func append(_ range: Range<Int>, of segment: [UInt8]) { bytes.append(range, of: segment) }

    mutating func recordLoss(isBetweenPackets: Bool = false) {
        if let last = losses.last, last.offset == bytes.count { return }
        losses.append(ByteLoss(offset: bytes.count, isBetweenPackets: isBetweenPackets))
    }

    /// Returns the index of the last PES packet that begins before `offset`.
    func packetIndex(before offset: Int) -> Int? {
        let index = starts.partitioningIndex { $0.offset >= offset }
        return index > 0 ? index - 1 : nil
    }

    /// Returns the index of the PES packet at `offset`.
    func packetIndex(at offset: Int) -> Int? { packetIndex(before: offset + 1) }

    /// Whether bytes of a packet are missing after the first byte of `range` or at its end.
    func hasLoss(in range: Range<Int>) -> Bool {
        let index = losses.partitioningIndex { $0.offset > range.lowerBound }
        let inside = losses[index...].prefix { $0.offset <= range.upperBound }
        StepCounter.add(inside.count)
        return inside.contains { !$0.isBetweenPackets }
    }

    /// Removes the bytes before `offset`. The packet at `offset` keeps its timestamps if `keepsTimes`: no frame that
    /// begins in it has used them.
    mutating func removeFirst(_ offset: Int, keepsTimes: Bool) {
        StepCounter.add(max(0, bytes.count - offset) + starts.count + losses.count)
        let isLarge = bytes.capacity > Self.keptCapacity
        if isLarge, offset * 2 > bytes.count {
            bytes = Array(bytes.dropFirst(offset))
        } else if offset >= bytes.count {
            bytes.removeAll(keepingCapacity: true)
        } else if offset > 0 {
            bytes.removeFirst(offset)
        }
        shiftOffsets(by: offset, keepsTimes: keepsTimes)
    }

    /// Returns all bytes, so that frames can be slices of them, and keeps a copy of those from `offset` on.
    mutating func detachFirst(_ offset: Int, keepsTimes: Bool) -> [UInt8] {
        StepCounter.add(bytes.count - offset + starts.count + losses.count)
        let whole = bytes
        bytes = []
        bytes.reserveCapacity(whole.count)
        bytes += whole[offset...]
        shiftOffsets(by: offset, keepsTimes: keepsTimes)
        return whole
    }

    /// Capacity that is kept for the next segment. A larger one is given back, because channels have segments of any size
    /// only for moments.
    private static let keptCapacity = 1 << 20

    private mutating func shiftOffsets(by offset: Int, keepsTimes: Bool) {
        let current = keepsTimes ? starts.last { $0.offset < offset } : nil
        starts.removeAll { $0.offset < offset }
        if let current, starts.first?.offset != offset {
            starts.insert(PacketStart(offset: offset, pts: current.pts, dts: current.dts), at: 0)
        }
        for index in starts.indices { starts[index].offset -= offset }
        losses.removeAll { $0.offset <= offset }
        for index in losses.indices { losses[index].offset -= offset }
        carriedBytes = bytes.count
    }
}

extension [UInt8] {
    /// Appends bytes of a segment without a reference to it, which would cost a transport packet more than its bytes do.
    /// - Parameter range: offsets into `segment`; those outside it are left out.
    @inline(__always)
    mutating func append(_ range: Range<Int>, of segment: [UInt8]) {
        unsafe segment.withUnsafeBufferPointer { segment in
            let range = range.clamped(to: segment.indices)
            unsafe append(contentsOf: UnsafeBufferPointer(rebasing: segment[range]))
        }
    }
}
