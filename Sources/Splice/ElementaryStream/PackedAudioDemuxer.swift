/// Segments of audio frames without a container: ADTS, MPEG audio, AC-3 or E-AC-3 behind ID3 tags (RFC 8216 §3.4).
/// Each segment holds whole frames and says its own time, so nothing is kept between them.
package struct PackedAudioDemuxer: SegmentDemuxer {
    package init() {}

    package mutating func feed(_ segment: [UInt8]) throws(SpliceError) -> DemuxedSegment {
        let tags = ID3Tags(segment)
        guard let timestamp = tags.timestamp else {
            throw SpliceError(.missingTimestamp, offset: tags.end, section: "RFC 8216 §3.4")
        }
        guard let framing = AudioFraming.sniff(segment, at: tags.end) else {
            throw SpliceError(
                .unknownContainer(firstBytes: Array(segment[tags.end...].prefix(16))), offset: tags.end,
                section: "RFC 8216 §3.4")
        }
        var buffer = ElementaryBuffer()
        buffer.startPacket(pts: timestamp, dts: timestamp)
        buffer.bytes.append(contentsOf: segment[tags.end...])
        var framer = AudioFramer(pid: 0, framing: framing)
        var output = DemuxedSegment()
        output.audio = framer.frame(&buffer, isClosed: true, counts: &output.counts)
        return output
    }

    package mutating func reset() -> DemuxedSegment { DemuxedSegment() }

    package mutating func finish() -> DemuxedSegment { DemuxedSegment() }
}
