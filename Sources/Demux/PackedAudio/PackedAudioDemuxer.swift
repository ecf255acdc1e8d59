package import Media

/// Segments of audio frames without a container: ADTS, MPEG audio, AC-3 or E-AC-3 behind ID3 tags (RFC 8216 §3.4).
/// Each segment holds whole frames, so nothing is kept between them but the count for one that does not say its time.
package struct PackedAudioDemuxer: SegmentDemuxer {
    /// The sound goes with a picture in another rendition: a segment that does not say its time cannot be used.
    private let requiresTimestamp: Bool
    private var clock = AudioTimestampUnwrapper()

    package init(isAligned: Bool = true) { self.requiresTimestamp = isAligned }

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
            let time = clock.unfold(packet)
            output.audio.append(packet.pts == nil ? packet.withPTS(time.wire) : packet)
        }
        return output
    }

    package mutating func reset() -> DemuxedSegment { DemuxedSegment() }

    package mutating func finish() -> DemuxedSegment { DemuxedSegment() }
}

extension AudioPacket {
    fileprivate func withPTS(_ time: Ticks) -> AudioPacket {
        AudioPacket(pid: pid, configuration: configuration, pts: time, isDamaged: isDamaged, payload: payload)
    }
}
