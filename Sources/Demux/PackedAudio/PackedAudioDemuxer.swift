package import Media

/// Demuxes segments of audio frames without a container: ADTS, MPEG audio, AC-3 or E-AC-3 after ID3 tags (RFC 8216
/// §3.4).
///
/// Each segment contains complete frames. Only the sample count is kept between segments, for a segment without a
/// timestamp.
package struct PackedAudioDemuxer: SegmentDemuxer {
    /// Whether the audio accompanies video of another rendition: a segment without a timestamp is then unusable.
    private let requiresTimestamp: Bool
    private var clock = AudioTimestampUnwrapper()

    package init(requiresTimestamp: Bool = true) { self.requiresTimestamp = requiresTimestamp }

    package mutating func feed(_ segment: [UInt8]) throws(MediaError) -> DemuxedSegment {
        let tags = ID3Tags(segment)
        guard tags.timestamp != nil || !requiresTimestamp else {
            throw MediaError(.missingTimestamp, offset: tags.end, section: "RFC 8216 §3.4")
        }
        guard let framing = AudioFraming.sniff(segment, at: tags.end) else {
            throw MediaError(
                .unknownContainer(firstBytes: Array(segment[tags.end...].prefix(16))), offset: tags.end,
                section: "RFC 8216 §3.4")
        }
        var buffer = ElementaryBuffer()
        buffer.startPacket(pts: tags.timestamp, dts: tags.timestamp)
        buffer.bytes.append(contentsOf: segment[tags.end...])
        var framer = AudioFramer(pid: 0, framing: framing)
        var output = DemuxedSegment()
        output.metadata = tags.metadataTags.map { TimedMetadata(.id3($0), at: tags.timestamp) }
        for packet in framer.frame(&buffer, isClosed: true, counts: &output.counts) {
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
