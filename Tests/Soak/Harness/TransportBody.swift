/// An MPEG-TS body of a capture that is sent repeatedly as different media.
///
/// Each repetition has another clock, continuous packet counters and a `FrameID` in each frame.
struct TransportBody {
    /// Offsets of the last bytes of a coded frame; nil if the frame is too small for a `FrameID`.
    typealias Tail = [Int]?

    let bytes: [UInt8]
    /// Number of packets with payload, by PID.
    private(set) var packets: [UInt16: Int] = [:]
    private(set) var frames: [Tail] = []
    /// Offsets of PTS and DTS, of PCR, and of continuity_counter.
    private var times: [Int] = []
    private var references: [Int] = []
    private var counters: [(offset: Int, pid: UInt16)] = []

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        var frame: [Int] = []
        var videoPID: UInt16?
        for start in stride(from: 0, through: bytes.count - PacketLayout.byteCount, by: PacketLayout.byteCount) {
            let packet = PacketLayout(bytes, at: start)
            if let offset = packet.reference { references.append(offset) }
            guard packet.hasPayload else { continue }
            counters.append((start + 3, packet.pid))
            packets[packet.pid, default: 0] += 1
            if let header = packet.elementaryHeader {
                times += header.times
                if header.isVideo {
                    close(&frame)
                    videoPID = packet.pid
                }
                if packet.pid == videoPID { frame += header.end..<packet.end }
            } else if packet.pid == videoPID {
                frame += packet.payload..<packet.end
            }
        }
        close(&frame)
    }

    private mutating func close(_ frame: inout [Int]) {
        guard !frame.isEmpty else { return }
        frames.append(tail(of: frame))
        frame = []
    }

    /// Returns the end of the last NAL unit, if it is a coded slice with enough bytes after its header.
    private func tail(of offsets: [Int]) -> Tail {
        let header = offsets.indices.dropFirst(3).last { index in
            bytes[offsets[index - 3]] == 0 && bytes[offsets[index - 2]] == 0 && bytes[offsets[index - 1]] == 1
        }
        guard let header, [1, 5].contains(bytes[offsets[header]] & 0x1F) else { return nil }
        guard offsets.count - header >= FrameID.byteCount * 2 else { return nil }
        return Array(offsets.suffix(FrameID.byteCount))
    }

    /// Returns the body as sent in one repetition of a program.
    /// - Parameters:
    ///   - ticks: added to every time.
    ///   - sent: number of packets of the program in one repetition, by PID.
    ///   - segment: segment number for the frames' IDs.
    ///   - first: frame number of the first frame.
    func sent(later ticks: Int64, repetition: Int, of sent: [UInt16: Int], segment: Int, firstFrame first: Int)
        -> [UInt8]
    {
        var copy = bytes
        for offset in times { Self.moveTime(&copy, at: offset, by: ticks) }
        for offset in references { Self.moveReference(&copy, at: offset, by: ticks) }
        for (offset, pid) in counters {
            let counter = (Int(copy[offset] & 0x0F) + repetition % 16 * (sent[pid] ?? 0)) & 0x0F
            copy[offset] = copy[offset] & 0xF0 | UInt8(counter)
        }
        for (index, tail) in frames.enumerated() {
            guard let tail else { continue }
            let name = FrameID(segment: segment, frame: first + index)
            for (offset, byte) in zip(tail, name.bytes) { copy[offset] = byte }
        }
        return copy
    }

    /// Moves a time stamp of 33 bits in five bytes (ISO/IEC 13818-1 §2.4.3.7).
    private static func moveTime(_ bytes: inout [UInt8], at offset: Int, by ticks: Int64) {
        let old = bytes[offset..<offset + 5].map { Int64($0) }
        let time = (old[0] >> 1 & 7) << 30 | old[1] << 22 | (old[2] >> 1) << 15 | old[3] << 7 | old[4] >> 1
        let moved = (time + ticks) & (1 << 33 - 1)
        bytes[offset] = UInt8(old[0] & 0xF1 | (moved >> 30) << 1)
        bytes[offset + 1] = UInt8(moved >> 22 & 0xFF)
        bytes[offset + 2] = UInt8(moved >> 14 & 0xFE | 1)
        bytes[offset + 3] = UInt8(moved >> 7 & 0xFF)
        bytes[offset + 4] = UInt8(moved << 1 & 0xFE | 1)
    }

    /// Moves program_clock_reference_base, the first 33 bits of six bytes.
    private static func moveReference(_ bytes: inout [UInt8], at offset: Int, by ticks: Int64) {
        let old = bytes[offset..<offset + 5].map { Int64($0) }
        let base = old[0] << 25 | old[1] << 17 | old[2] << 9 | old[3] << 1 | old[4] >> 7
        let moved = (base + ticks) & (1 << 33 - 1)
        bytes[offset] = UInt8(moved >> 25)
        bytes[offset + 1] = UInt8(moved >> 17 & 0xFF)
        bytes[offset + 2] = UInt8(moved >> 9 & 0xFF)
        bytes[offset + 3] = UInt8(moved >> 1 & 0xFF)
        bytes[offset + 4] = UInt8(moved << 7 & 0x80 | old[4] & 0x7F)
    }
}

/// Offsets in one transport packet.
private struct PacketLayout {
    static let byteCount = 188

    struct ElementaryHeader {
        let isVideo: Bool
        let times: [Int]
        /// Offset of the first byte after it.
        let end: Int
    }

    let pid: UInt16
    let hasPayload: Bool
    let payload: Int
    let end: Int
    let reference: Int?
    let elementaryHeader: ElementaryHeader?

    init(_ bytes: [UInt8], at start: Int) {
        end = start + Self.byteCount
        pid = UInt16(bytes[start + 1] & 0x1F) << 8 | UInt16(bytes[start + 2])
        hasPayload = bytes[start + 3] & 0x10 != 0
        let hasAdaptation = bytes[start + 3] & 0x20 != 0
        let adaptation = hasAdaptation ? Int(bytes[start + 4]) : 0
        reference = adaptation > 0 && bytes[start + 5] & 0x10 != 0 ? start + 6 : nil
        payload = start + 4 + (hasAdaptation ? 1 + adaptation : 0)
        let startsUnit = bytes[start + 1] & 0x40 != 0
        let hasHeader = hasPayload && startsUnit && payload + 19 <= end
        elementaryHeader = hasHeader ? Self.header(bytes, at: payload) : nil
    }

    /// Reads a PES header; nil for a section.
    private static func header(_ bytes: [UInt8], at offset: Int) -> ElementaryHeader? {
        guard bytes[offset..<offset + 3].elementsEqual([0, 0, 1]) else { return nil }
        let flags = bytes[offset + 7]
        var times = flags & 0x80 != 0 ? [offset + 9] : []
        if flags & 0x40 != 0 { times.append(offset + 14) }
        return ElementaryHeader(
            isVideo: bytes[offset + 3] & 0xF0 == 0xE0, times: times, end: offset + 9 + Int(bytes[offset + 8]))
    }
}
