import Support
import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

/// Adds SCTE-35 and timed ID3 streams to a capture.
struct MetadataEngineTests {
    /// Adds the streams to every program map, and the packets in `added` after the first one.
    private func adding(_ added: [UInt8], to segment: [UInt8]) throws -> [UInt8] {
        var result: [UInt8] = []
        var mapPID: UInt16?
        var hasAdded = false
        for offset in stride(from: 0, to: segment.count, by: 188) {
            let packet = TransportPacket(segment, at: offset)
            let section = Array(segment[packet.payload].dropFirst())
            if packet.pid == 0 { mapPID = ProgramAssociation(Self.trimmed(section))?.programs.first?.mapPID }
            guard packet.pid == mapPID, let map = ProgramMap(Self.trimmed(section)) else {
                result += segment[offset..<offset + 188]
                continue
            }
            var builder = TransportStreamBuilder()
            let streams = map.entries.map { TransportStreamBuilder.Stream(pid: $0.pid, type: $0.streamType) }
            builder.map(
                streams + [.init(pid: 300, type: 0x86), .init(pid: 301, type: 0x15)], program: map.programNumber,
                mapPID: packet.pid)
            result += builder.bytes
            if !hasAdded { result += added }
            hasAdded = true
        }
        return result
    }

    /// Returns the section without the bytes after its end.
    private static func trimmed(_ payload: [UInt8]) -> [UInt8] {
        guard payload.count > 3 else { return [] }
        return Array(payload.prefix(3 + Int(payload[1] & 15) << 8 + Int(payload[2])))
    }

    private func feed(_ segments: [[UInt8]]) throws -> (segments: [SplicedSegment], counts: SpliceCounts) {
        var engine = SpliceEngine(
            SpliceConfiguration(
                hasAudioRendition: false, longestSegment: Ticks.seconds(10), wallClock: 1_000_000))
        var written: [SplicedSegment] = []
        for (index, segment) in segments.enumerated() {
            written += try engine.handle(
                .segment(SegmentInput(rendition: .main, mediaSequence: UInt64(40 + index), bytes: segment)))
        }
        written += try engine.handle(.ended(.main))
        return (written, engine.counts)
    }

    /// A tag between the frames of packed audio becomes an event message at the time of the frame after it.
    @Test func tagBetweenFramesOfPackedAudio() throws {
        let frames = (0..<90).map { ElementarySamples.adts(UInt8($0), size: 60) }
        let tag = ID3Sample.tag(ID3Sample.title)
        let time = ID3Sample.tag(ID3Sample.timestamp(900_000))
        let segment = time + frames[..<50].flatMap(\.self) + tag + frames[50...].flatMap(\.self)
        let (segments, counts) = try feed([segment])
        #expect(
            counts[.eventMessages] == 1 && counts[.discardedTimedMetadata] == 0 && counts.demux == Counts<DemuxCount>())
        let fragment = try #require(segments.first?.fragment)
        let boxes = try BoxReader.wholeBoxes(in: (fragment.header + fragment.payloads.flatMap(\.self))[...]).boxes
        let message = try EventMessageBox(try #require(boxes.first("emsg")))
        #expect(message.message.data == tag)
        let track = try #require(
            try MovieFragment.fragments(of: fragment.header + fragment.payloads.flatMap(\.self)).flatMap(\.tracks).first
        )
        #expect(track.samples.count == 90, "the frames go on")
        let start = PeriodTimeline.ticks(ofAudioTime: Int64(track.decodeTime ?? 0))
        #expect(message.time(from: nil) == start + Ticks(50 * 1920))
    }

    @Test func markersArriveWithTheirFrames() throws {
        let bodies = try CaptureFixture.clean.bodies("clean-").prefix(3)
        var plain = TransportDemuxer()
        let starts = try bodies.map { try #require(try plain.feed($0).video.first?.pts) }
        var builder = TransportStreamBuilder()
        builder.pes(pid: 301, streamID: 0xBD, pts: starts[0].count + 9_000, isBounded: true, Array("ID3a".utf8))
        builder.pes(pid: 301, streamID: 0xBD, pts: starts[1].count + 9_000, isBounded: true, Array("ID3b".utf8))
        builder.sections([SectionSketch.out(event: 7, at: starts[2].count, lasting: 900_000).bytes], pid: 300)
        let first = try adding(builder.bytes, to: bodies[0])
        let rest = try bodies.dropFirst().map { try adding([], to: $0) }
        let (segments, counts) = try feed([first] + rest)
        try #require(segments.count == 3)
        #expect(
            counts[.eventMessages] == 2 && counts[.discardedTimedMetadata] == 0 && counts.demux == Counts<DemuxCount>())

        #expect(segments.map { $0.placements.map(\.mediaSequence) } == [[40], [41], [42]])
        #expect(segments.map { $0.placements.first?.date } == segments.map(\.programDateTime))
        #expect(
            segments.map(\.spliceCommands.count) == [1, 0, 0],
            "the splice command is published with the segment that contains it")
        let spliceDate = try #require(segments[0].spliceCommands.first?.date)
        #expect(abs(spliceDate - segments[2].programDateTime) <= 1)

        for (segment, text) in zip(segments, ["ID3a", "ID3b", ""]) {
            let whole = segment.fragment.header + segment.fragment.payloads.joined()
            let boxes = try BoxReader.boxes(in: whole[...]).filter { $0.type == "emsg" }
            #expect(boxes.map { Array($0.body.suffix(4)) } == (text.isEmpty ? [] : [Array(text.utf8)]))
        }
        let file =
            segments[0].initSection.bytes + segments.flatMap { $0.fragment.header + $0.fragment.payloads.joined() }
        let probe = try FragmentTool.run(
            "ffprobe",
            ["-v", "warning", "-count_packets", "-show_entries", "stream=nb_read_packets", "-of", "csv=p=0", "INPUT"],
            input: file)
        #expect(probe.errors.isEmpty && probe.text.split(separator: "\n").count == 2, "\(probe.errors)")
    }

    @Test func mediaIsUnchangedByMetadataStreams() throws {
        let bodies = try CaptureFixture.clean.bodies("clean-").prefix(2)
        let plain = try feed(Array(bodies)).segments
        let withMetadata = try feed(bodies.map { try adding([], to: $0) }).segments
        #expect(plain.map(\.fragment) == withMetadata.map(\.fragment))
    }
}
