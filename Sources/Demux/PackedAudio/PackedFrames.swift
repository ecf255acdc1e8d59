import Media
import Support

/// The frames of packed audio without the ID3 tags between them.
struct PackedFrames {
    /// Frames that no tag interrupts.
    struct Part {
        /// The timestamp of the tag before them, 0 ..< 2³³.
        let timestamp: Ticks?
        let bytes: ArraySlice<UInt8>
    }

    struct Tag: Equatable {
        /// Tags with other frames than the timestamp.
        let contents: [[UInt8]]
        /// Number of further tags like them.
        let excess: Int
        let time: Ticks
    }

    /// The size of an ID3v1 tag, which stands at the end of a file.
    private static let oldTagSize = 128

    private(set) var parts: [Part] = []
    /// The first tags, `DemuxLimits.messages` at most; further ones are bytes without a frame.
    private(set) var tags: [Tag] = []

    init(_ bytes: [UInt8], from start: Int, framing: AudioFraming) throws(MediaError) {
        let end = Self.endOfFrames(bytes, from: start)
        guard Self.mayHoldTag(bytes, from: start) else {
            parts = [Part(timestamp: nil, bytes: bytes[start..<end])]
            return
        }
        try split(bytes, in: start..<end, framing: framing)
    }

    /// Walks from frame to frame. Bytes of a frame that look like a tag are none.
    private mutating func split(_ bytes: [UInt8], in range: Range<Int>, framing: AudioFraming) throws(MediaError) {
        var (begin, offset) = (range.lowerBound, range.lowerBound)
        var (timestamp, time): (Ticks?, Ticks) = (nil, .zero)
        var steps = 0
        while offset < range.upperBound {
            if steps & 0xFFF == 0 { try MediaError.checkCancellation() }
            steps += 1
            StepCounter.add(1)
            if tags.count < DemuxLimits.messages, Self.isTag(bytes, at: offset) {
                let found = try ID3Tags(bytes, at: offset)
                parts.append(Part(timestamp: timestamp, bytes: bytes[begin..<offset]))
                tags.append(Tag(contents: found.metadataTags, excess: found.excessTags, time: time))
                timestamp = found.timestamp
                offset = min(found.end, range.upperBound)
                begin = offset
            } else if case .frame(let header) = framing.header(bytes, at: offset, end: range.upperBound) {
                offset += header.size
                guard header.use != .otherProgram, !header.isDependent else { continue }
                time = time + Ticks(samples: Int64(header.format.samplesPerFrame), sampleRate: header.format.sampleRate)
            } else {
                offset += 1
            }
        }
        parts.append(Part(timestamp: timestamp, bytes: bytes[begin..<range.upperBound]))
    }

    private static func isTag(_ bytes: [UInt8], at offset: Int) -> Bool {
        ID3Tags.begins(bytes, at: offset) && bytes[offset + 3] != 0xFF
            && bytes[offset + 6..<offset + 10].allSatisfy { $0 < 0x80 }
    }

    private static func mayHoldTag(_ bytes: [UInt8], from start: Int) -> Bool {
        var rest = bytes[start...]
        while let found = rest.firstIndex(of: UInt8(ascii: "I")) {
            if ID3Tags.begins(bytes, at: found) { return true }
            rest = bytes[(found + 1)...]
        }
        return false
    }

    private static func endOfFrames(_ bytes: [UInt8], from start: Int) -> Int {
        let old = bytes.count - oldTagSize
        return old >= start && bytes[old...].starts(with: "TAG".utf8) ? old : bytes.count
    }
}
