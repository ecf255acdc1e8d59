import Media
import Support

/// Cuts a file that is a transport stream into parts of whole packets, by the clock at its beginning and at its end.
///
/// The parts are equally large and last about equally long. They need not begin at random access points: frames that
/// span two parts are put together.
struct TransportFile: Sendable {
    static let windowBytes: UInt64 = 1 << 19
    /// Assumed if the clock says nothing: 5 Mbit/s.
    private static let assumedByteRate: Int64 = 625_000
    private static let byteRates: ClosedRange<Int64> = 1000...50_000_000
    private static let partDuration = Ticks.seconds(4)
    private static let maxParts: UInt64 = 16_384

    private let stride: PacketStride
    private let byteCount: UInt64
    private let beginning: ClockReading?

    /// - Returns: nil if they are none of a transport stream.
    init?(beginning: [UInt8], byteCount: UInt64) {
        guard let stride = PacketStride(recognizing: beginning) else { return nil }
        (self.stride, self.byteCount) = (stride, byteCount)
        self.beginning = ClockReading(beginning, from: stride.start, stride: stride.size, pid: nil)
    }

    var endRange: Range<UInt64> {
        let size = UInt64(stride.size)
        let packets = (byteCount - UInt64(stride.start)) / size
        let start = UInt64(stride.start) + (packets - min(packets, Self.windowBytes / size)) * size
        return start..<byteCount
    }

    func segments(end: [UInt8], _ cutting: FileCutting) -> [FileSegment] {
        let rate = byteRate(end: end)
        let size = UInt64(stride.size)
        let wanted = UInt64(rate) * UInt64(Self.partDuration.count / Ticks.perSecond)
        let bytes = max(min(wanted, UInt64(cutting.maxBytes / 2)), byteCount / Self.maxParts, size) / size * size
        var (segments, start) = ([FileSegment](), UInt64(stride.start))
        while start < byteCount {
            StepCounter.add(1)
            // A rest of a few packets is no part.
            let isLast = byteCount - start < bytes + bytes / 2
            let end = isLast ? byteCount : start + bytes
            let duration = Ticks(max(1, Int64(clamping: end - start) * Ticks.perSecond / rate))
            segments.append(FileSegment(range: start..<end, duration: duration))
            start = end
        }
        return segments
    }

    /// Bytes per second: of the whole file, or of its beginning if its clock does not go through.
    private func byteRate(end: [UInt8]) -> Int64 {
        guard let beginning else { return Self.assumedByteRate }
        let ending = ClockReading(end, from: 0, stride: stride.size, pid: beginning.pid)
        let local = beginning.byteRate.flatMap { Self.byteRates.contains($0) ? $0 : nil }
        if let ending {
            let ticks = (ending.last.clock - beginning.first.clock) & (Ticks.wrap - 1)
            let bytes = Int64(clamping: endRange.lowerBound) + Int64(ending.last.offset - beginning.first.offset)
            let whole = ticks > 0 ? Int64(clamping: Int128(bytes) * Int128(Ticks.perSecond) / Int128(ticks)) : 0
            if Self.byteRates.contains(whole), local.map({ whole / 8 <= $0 && $0 / 8 <= whole }) ?? true {
                return whole
            }
        }
        return local ?? Self.assumedByteRate
    }
}

/// The first and the last program clock reference of one PID in some packets (ISO/IEC 13818-1 §2.4.3.5).
private struct ClockReading: Sendable {
    /// The clock counts at 90 kHz, modulo 2³³.
    typealias Point = (offset: Int, clock: Int64)

    let pid: UInt16
    private(set) var first: Point
    private(set) var last: Point

    /// - Parameter pid: nil: that of the first reference.
    init?(_ bytes: [UInt8], from start: Int, stride: Int, pid: UInt16?) {
        var found: (pid: UInt16, first: Point, last: Point)?
        for offset in Swift.stride(from: start, to: bytes.count - 11, by: stride) {
            StepCounter.add(1)
            // A clock in the adaptation field, which has room for it.
            guard bytes[offset] == PacketStride.syncByte, bytes[offset + 3] & 0x20 != 0, bytes[offset + 4] >= 7,
                bytes[offset + 5] & 0x10 != 0
            else { continue }
            let packet = UInt16(bytes[offset + 1] & 0x1F) << 8 | UInt16(bytes[offset + 2])
            guard packet == pid ?? found?.pid ?? packet else { continue }
            let high = bytes[(offset + 6)..<(offset + 10)].reduce(Int64(0)) { $0 << 8 | Int64($1) }
            let point: Point = (offset, high << 1 | Int64(bytes[offset + 10] >> 7))
            found = (packet, found?.first ?? point, point)
        }
        guard let found else { return nil }
        (self.pid, first, last) = found
    }

    /// Bytes per second; nil for less than a tenth of a second.
    var byteRate: Int64? {
        let ticks = (last.clock - first.clock) & (Ticks.wrap - 1)
        guard ticks >= Ticks.perSecond / 10, ticks < Ticks.wrap / 2 else { return nil }
        return Int64(last.offset - first.offset) * Ticks.perSecond / ticks
    }
}
