package import Media
import Support

/// Demuxes segments of audio frames without a container: ADTS, MPEG audio, AC-3 or E-AC-3 after ID3 tags (RFC 8216
/// §3.4).
///
/// Each segment contains complete frames. Only the sample count is kept between segments, for a segment without a
/// timestamp.
package struct PackedAudioDemuxer: SegmentDemuxer {
    /// Whether the audio accompanies video of another rendition: a segment without a timestamp is then unusable.
    private let requiresTimestamp: Bool
    private var clock = AudioTimestampUnwrapper()
    /// Padding at the end of the last segment, which the next one replaces.
    private var trailingPadding = Ticks.zero

    package init(requiresTimestamp: Bool = true) { self.requiresTimestamp = requiresTimestamp }

    package mutating func feed(_ segment: [UInt8]) throws(MediaError) -> DemuxedSegment {
        let tags = try ID3Tags(segment)
        guard tags.timestamp != nil || !requiresTimestamp else {
            throw MediaError(.missingTimestamp, offset: tags.end, section: "RFC 8216 §3.4")
        }
        guard let (framing, start) = AudioFraming.find(segment, from: tags.end) else {
            throw MediaError(
                .unknownContainer(firstBytes: Array(segment[tags.end...].prefix(16))), offset: tags.end,
                section: "RFC 8216 §3.4")
        }
        let header = MP3HeaderFrame(segment, at: start)
        let frames = try PackedFrames(segment, from: header?.end ?? start, framing: framing)
        let first = firstTimestamp(tags.timestamp, header)
        var output = try demux(frames, from: first, framing: framing)
        let begin = first ?? output.audio.first?.pts
        for tag in tags.metadataTags { output.append(TimedMetadata(.id3(tag), at: tags.timestamp)) }
        for tag in frames.tags {
            for content in tag.contents {
                output.append(TimedMetadata(.id3(content), at: begin.map { ($0 + tag.time).wire }))
            }
        }
        output.counts[.excessEventMessages] += tags.excessTags + frames.tags.reduce(0) { $0 + $1.excess }
        return output
    }

    /// Returns the time of the first frame; nil for the time after the last segment.
    ///
    /// The encoder's delay precedes the timestamp, and it overlaps the padding at the end of the last segment.
    private mutating func firstTimestamp(_ timestamp: Ticks?, _ header: MP3HeaderFrame?) -> Ticks? {
        let padding = trailingPadding
        trailingPadding = header?.padding ?? .zero
        guard let delay = header?.delay else { return timestamp ?? (padding == .zero ? nil : clock.expected - padding) }
        return ((timestamp ?? clock.expected - padding) - delay).wire
    }

    private mutating func demux(_ frames: PackedFrames, from first: Ticks?, framing: AudioFraming) throws(MediaError)
        -> DemuxedSegment
    {
        var buffer = ElementaryBuffer()
        buffer.startPacket(pts: first?.wire, dts: first?.wire)
        for part in frames.parts {
            if let timestamp = part.timestamp { buffer.startPacket(pts: timestamp, dts: timestamp) }
            buffer.bytes.append(contentsOf: part.bytes)
        }
        var framer = AudioFramer(pid: 0, framing: framing)
        var output = DemuxedSegment()
        output.audio = try framer.frame(&buffer, isClosed: true, counts: &output.counts)
        for index in output.audio.indices {
            let time = clock.unwrap(output.audio[index])
            if output.audio[index].pts == nil { output.audio[index].pts = time.wire }
        }
        return output
    }
}

/// The frames of packed audio without the ID3 tags between them.
struct PackedFrames {
    /// The size of an ID3v1 tag, which stands at the end of a file.
    private static let oldTagSize = 128

    /// Frames that no tag interrupts, and the timestamp of the tag before them, 0 ..< 2³³.
    private(set) var parts: [(timestamp: Ticks?, bytes: ArraySlice<UInt8>)] = []
    /// The first tags, `DemuxLimits.messages` at most; further ones are bytes without a frame.
    /// `contents`: tags with other frames than the timestamp; `excess`: the number of further ones; `time`: from the first
    /// frame to the tag.
    private(set) var tags: [(contents: [[UInt8]], excess: Int, time: Ticks)] = []

    init(_ bytes: [UInt8], from start: Int, framing: AudioFraming) throws(MediaError) {
        let end = Self.endOfFrames(bytes, from: start)
        guard Self.mayHoldTag(bytes, from: start) else {
            parts = [(nil, bytes[start..<end])]
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
                parts.append((timestamp, bytes[begin..<offset]))
                tags.append((found.metadataTags, found.excessTags, time))
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
        parts.append((timestamp, bytes[begin..<range.upperBound]))
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
