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
        for packet in try framer.frame(&buffer, isClosed: true, counts: &output.counts) {
            let time = clock.unwrap(packet)
            output.audio.append(packet.pts == nil ? packet.withPTS(time.wire) : packet)
        }
        return output
    }
}

extension AudioPacket {
    fileprivate func withPTS(_ time: Ticks) -> AudioPacket {
        AudioPacket(pid: pid, configuration: configuration, pts: time, isDamaged: isDamaged, payload: payload)
    }
}
