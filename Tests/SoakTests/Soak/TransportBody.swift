/// One body of a capture, MPEG-TS, read once so that it can be sent again and again as other media: on another clock,
/// with its packets counted on, and with a name written into each of its pictures.
struct TransportBody {
    /// Where the last bytes of a coded picture lie in the body; nil of a picture that is too small to bear a name.
    typealias Tail = [Int]?

    let bytes: [UInt8]
    /// Whole packets that bear a payload, by PID.
    private(set) var packets: [UInt16: Int] = [:]
    private(set) var pictures: [Tail] = []
    /// Byte places of PTS, DTS and PCR, and of each packet's continuity_counter.
    private var times: [Int] = []
    private var references: [Int] = []
    private var counters: [(place: Int, pid: UInt16)] = []

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        var picture: [Int] = []
        var videoPID: UInt16?
        for start in stride(from: 0, through: bytes.count - PacketPlan.byteCount, by: PacketPlan.byteCount) {
            let packet = PacketPlan(bytes, at: start)
            if let place = packet.reference { references.append(place) }
            guard packet.hasPayload else { continue }
            counters.append((start + 3, packet.pid))
            packets[packet.pid, default: 0] += 1
            if let header = packet.elementaryHeader {
                times += header.times
                if header.isVideo {
                    close(&picture)
                    videoPID = packet.pid
                }
                if packet.pid == videoPID { picture += header.end..<packet.end }
            } else if packet.pid == videoPID {
                picture += packet.payload..<packet.end
            }
        }
        close(&picture)
    }

    private mutating func close(_ picture: inout [Int]) {
        guard !picture.isEmpty else { return }
        pictures.append(tail(of: picture))
        picture = []
    }

    /// The end of the last NAL unit, if that is a coded slice with so much behind its header.
    private func tail(of places: [Int]) -> Tail {
        let header = places.indices.dropFirst(3).last { index in
            bytes[places[index - 3]] == 0 && bytes[places[index - 2]] == 0 && bytes[places[index - 1]] == 1
        }
        guard let header, [1, 5].contains(bytes[places[header]] & 0x1F) else { return nil }
        guard places.count - header >= FrameID.byteCount * 2 else { return nil }
        return Array(places.suffix(FrameID.byteCount))
    }

    /// The body as it is sent in the `round`th repetition of a programme.
    /// - Parameters:
    ///   - ticks: added to every time.
    ///   - sent: packets of the programme in one round, by PID.
    ///   - segment: what its pictures are named by, the first of them as number `first`.
    func sent(later ticks: Int64, round: Int, of sent: [UInt16: Int], segment: Int, firstPicture first: Int) -> [UInt8]
    {
        var copy = bytes
        for place in times { Self.moveTime(&copy, at: place, by: ticks) }
        for place in references { Self.moveReference(&copy, at: place, by: ticks) }
        for (place, pid) in counters {
            let counter = (Int(copy[place] & 0x0F) + round % 16 * (sent[pid] ?? 0)) & 0x0F
            copy[place] = copy[place] & 0xF0 | UInt8(counter)
        }
        for (index, tail) in pictures.enumerated() {
            guard let tail else { continue }
            let name = FrameID(segment: segment, picture: first + index)
            for (place, byte) in zip(tail, name.bytes) { copy[place] = byte }
        }
        return copy
    }

    /// 33 bits in five bytes (ISO/IEC 13818-1 §2.4.3.7).
    private static func moveTime(_ bytes: inout [UInt8], at place: Int, by ticks: Int64) {
        let old = bytes[place..<place + 5].map { Int64($0) }
        let time = (old[0] >> 1 & 7) << 30 | old[1] << 22 | (old[2] >> 1) << 15 | old[3] << 7 | old[4] >> 1
        let moved = (time + ticks) & (1 << 33 - 1)
        bytes[place] = UInt8(old[0] & 0xF1 | (moved >> 30) << 1)
        bytes[place + 1] = UInt8(moved >> 22 & 0xFF)
        bytes[place + 2] = UInt8(moved >> 14 & 0xFE | 1)
        bytes[place + 3] = UInt8(moved >> 7 & 0xFF)
        bytes[place + 4] = UInt8(moved << 1 & 0xFE | 1)
    }

    /// program_clock_reference_base, the first 33 bits of six bytes.
    private static func moveReference(_ bytes: inout [UInt8], at place: Int, by ticks: Int64) {
        let old = bytes[place..<place + 5].map { Int64($0) }
        let base = old[0] << 25 | old[1] << 17 | old[2] << 9 | old[3] << 1 | old[4] >> 7
        let moved = (base + ticks) & (1 << 33 - 1)
        bytes[place] = UInt8(moved >> 25)
        bytes[place + 1] = UInt8(moved >> 17 & 0xFF)
        bytes[place + 2] = UInt8(moved >> 9 & 0xFF)
        bytes[place + 3] = UInt8(moved >> 1 & 0xFF)
        bytes[place + 4] = UInt8(moved << 7 & 0x80 | old[4] & 0x7F)
    }
}

/// Where things are in one transport packet.
private struct PacketPlan {
    static let byteCount = 188

    struct ElementaryHeader {
        let isVideo: Bool
        let times: [Int]
        /// Place of the first byte behind it.
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
        let begins = bytes[start + 1] & 0x40 != 0
        let room = hasPayload && begins && payload + 19 <= end
        elementaryHeader = room ? Self.header(bytes, at: payload) : nil
    }

    /// nil where a section begins.
    private static func header(_ bytes: [UInt8], at place: Int) -> ElementaryHeader? {
        guard bytes[place..<place + 3].elementsEqual([0, 0, 1]) else { return nil }
        let flags = bytes[place + 7]
        var times = flags & 0x80 != 0 ? [place + 9] : []
        if flags & 0x40 != 0 { times.append(place + 14) }
        return ElementaryHeader(
            isVideo: bytes[place + 3] & 0xF0 == 0xE0, times: times, end: place + 9 + Int(bytes[place + 8]))
    }
}
