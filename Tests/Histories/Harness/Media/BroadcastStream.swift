/// A broadcast as one endless transport stream.
struct BroadcastStream {
    /// What one PES packet holds, or the tables before it.
    enum Content: Equatable {
        /// PAT and PMT of a format; other tables have another key.
        case tables(key: Int)
        case video(FrameIdentity, isRandomAccess: Bool)
        case audio(content: Int, Range<Int>)
        case section
    }

    struct Unit {
        let content: Content
        /// Index of its segment, and of the part in it.
        var segment = 0
        var part = 0
        /// Offsets of its packets.
        var bytes: Range<Int>
    }

    private(set) var bytes: [UInt8] = []
    private(set) var units: [Unit] = []
    /// When the bytes of each segment were sent, and the offset of the first one.
    private var times: [(start: Int, end: Int, offset: Int)] = []

    /// Appends a segment.
    /// - Parameter units: those of each part, with offsets in `body`.
    mutating func append(_ body: [UInt8], _ units: [[Unit]], from start: Int, to end: Int) {
        let (offset, segment) = (bytes.count, times.count)
        for (part, units) in units.enumerated() {
            for var unit in units {
                (unit.segment, unit.part) = (segment, part)
                unit.bytes = unit.bytes.lowerBound + offset..<unit.bytes.upperBound + offset
                self.units.append(unit)
            }
        }
        times.append((start, end, offset))
        bytes += body
    }

    /// The bytes that were broadcast by a time, milliseconds since the channel began.
    func position(at time: Int) -> Int {
        guard let index = times.lastIndex(where: { $0.start <= time }) else { return 0 }
        let (start, end, offset) = times[index]
        let size = (index + 1 < times.count ? times[index + 1].offset : bytes.count) - offset
        return time >= end ? offset + size : offset + size * (time - start) / (end - start)
    }

    /// When a byte was broadcast.
    func time(of position: Int) -> Int {
        guard let index = times.lastIndex(where: { $0.offset <= position }) else { return 0 }
        let (start, end, offset) = times[index]
        let size = (index + 1 < times.count ? times[index + 1].offset : bytes.count) - offset
        return start + (end - start) * (position - offset) / max(1, size) + 1
    }

    /// The bytes of a range, with counters that begin `shift` later.
    func part(_ range: Range<Int>, counters shift: UInt8) -> [UInt8] {
        var part = Array(bytes[range])
        guard shift > 0 else { return part }
        var index = (range.lowerBound + 184) / 188 * 188 + 3
        while index < range.upperBound {
            let place = index - range.lowerBound
            part[place] = part[place] & 0xF0 | (part[place] &+ shift) & 15
            index += 188
        }
        return part
    }
}
