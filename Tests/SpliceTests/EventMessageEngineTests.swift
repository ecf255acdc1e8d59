import Support
import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

/// An `emsg` box of a segment, parsed by the offsets of version 1 instead of the parser under test.
private struct WrittenMessage: Equatable {
    let time: UInt64
    let duration: UInt64
    let number: UInt64
    let scheme: String
    let data: [UInt8]

    static func all(in segment: [UInt8]) -> [WrittenMessage] {
        var (found, offset) = ([WrittenMessage](), 0)
        func number(_ at: Int, _ count: Int) -> UInt64 { segment[at..<at + count].reduce(0) { $0 << 8 | UInt64($1) } }
        while offset + 8 <= segment.count {
            let size = Int(number(offset, 4))
            if segment[offset + 4..<offset + 8].elementsEqual("emsg".utf8) {
                #expect(segment[offset + 8] == 1 && number(offset + 12, 4) == 90_000)
                let texts = segment[offset + 32..<offset + size].split(
                    separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
                found.append(
                    WrittenMessage(
                        time: number(offset + 16, 8), duration: number(offset + 24, 4),
                        number: number(offset + 28, 4), scheme: String(decoding: texts[0], as: UTF8.self),
                        data: Array(texts[2])))
            }
            offset += max(size, 8)
        }
        return found
    }
}

extension SplicedSegment {
    fileprivate var bytes: [UInt8] { fragment.header + fragment.payloads.joined() }

    /// Presentation times of the frames, in presentation order.
    fileprivate func presentationTimes() throws -> [Int64] {
        let tracks = try MovieFragment.fragments(of: bytes).flatMap(\.tracks).filter { $0.trackID == TrackID.video }
        return tracks.flatMap { track in
            var decode = Int64(track.decodeTime ?? 0)
            return track.samples.map { sample in
                defer { decode += Int64(sample.duration) }
                return decode + Int64(sample.compositionOffset)
            }
        }.sorted()
    }
}

/// A program in fragmented MP4.
private struct TestProgram {
    let initialization: [UInt8]
    let segments: [[UInt8]]
    /// Presentation times of the frames of each segment, in presentation order.
    let times: [[Ticks]]

    init(size: String, rate: String, timescale: String) throws {
        let file = try MovieMedia.make(
            audio: ["-c:a", "aac", "-ar", "48000", "-ac", "2"], seconds: 2, rate: rate, size: size,
            output: MovieMedia.fragments + ["-video_track_timescale", timescale])
        (initialization, segments) = try MovieMedia.cut(file)
        var demuxer = FragmentedMP4Demuxer()
        var times: [[Ticks]] = []
        for segment in segments {
            try demuxer.initialize(with: initialization)
            times.append(try demuxer.feed(segment).video.compactMap(\.pts).sorted())
        }
        self.times = times
    }
}

@Suite struct EventMessageEngineTests {
    private func input(
        _ program: TestProgram, _ index: Int, sequence: Int, isTagged: Bool, _ messages: [EventMessageSketch] = []
    ) -> SpliceInput {
        .segment(
            SegmentInput(
                rendition: .main, mediaSequence: UInt64(sequence), isDiscontinuous: isTagged,
                initialization: program.initialization,
                bytes: messages.flatMap(\.bytes) + program.segments[index]))
    }

    private func engine(companion: Bool = false) -> SpliceEngine {
        SpliceEngine(
            SpliceConfiguration(
                hasAudioRendition: companion, longestSegment: .seconds(12), wallClock: 1_000_000))
    }

    /// Each message has the time of a frame, and is published with that frame's time, on any clock and timescale.
    @Test func messagesArriveWithTheirFrames() throws {
        let programs = [
            try TestProgram(size: "320x180", rate: "25", timescale: "12800"),
            try TestProgram(size: "160x90", rate: "30000/1001", timescale: "30000"),
            try TestProgram(size: "320x180", rate: "25", timescale: "90000"),
        ]
        var engine = engine()
        var output: [SplicedSegment] = []
        var messageFrames: [Int] = []
        var frames = 0
        var sequence = 0
        for (serial, program) in programs.enumerated() {
            for index in program.segments.indices {
                let times = program.times[index]
                let frame = min(3 + 2 * serial + index, times.count - 1)
                messageFrames.append(frames + frame)
                let origin = index % 2 == 0 ? try start(of: program, index) : .zero
                let message = EventMessageSketch(
                    version: UInt8(index % 2), timescale: 90_000,
                    time: UInt64((times[frame] - origin).count),
                    duration: 9000, id: UInt32(sequence), data: [UInt8(sequence)])
                output += try engine.handle(
                    input(program, index, sequence: sequence, isTagged: serial > 0 && index == 0, [message]))
                (frames, sequence) = (frames + times.count, sequence + 1)
            }
        }
        output += try engine.handle(.ended(.main))
        let presented = try output.flatMap { try $0.presentationTimes() }
        #expect(presented.count == frames && engine.counts[.periods] == 3)
        let messages = output.flatMap { WrittenMessage.all(in: $0.bytes) }
        #expect(messages.map(\.number) == (0..<UInt64(sequence)).map(\.self))
        for (message, frame) in zip(messages, messageFrames) {
            #expect(abs(Int64(message.time) - presented[frame]) <= 1, "message \(message.number)")
        }
        #expect(messages.allSatisfy { $0.duration == 9000 && $0.scheme == "urn:a" })
        for segment in output {
            let times = try segment.presentationTimes()
            for message in WrittenMessage.all(in: segment.bytes) {
                #expect(Int64(message.time) >= times[0] - 1 && Int64(message.time) <= (times.last ?? 0) + 1)
            }
        }
        #expect(engine.counts[.eventMessages] == sequence && engine.counts[.discardedTimedMetadata] == 0)
        #expect(engine.counts.demux == Counts<DemuxCount>())
        try expectPlayable(output)
    }

    /// Returns the start of a segment, because these segments have no `sidx`.
    private func start(of program: TestProgram, _ index: Int) throws -> Ticks {
        var demuxer = FragmentedMP4Demuxer()
        try demuxer.initialize(with: program.initialization)
        let packets = try demuxer.feed(program.segments[index])
        let times = (packets.video.compactMap(\.pts) + packets.audio.compactMap(\.pts))
        // The audio priming has a negative time.
        return times.map { Ticks(wire: $0, near: .zero) }.min() ?? .zero
    }

    /// Expects that ffprobe reads all frames of each period without messages.
    private func expectPlayable(_ output: [SplicedSegment]) throws {
        for period in Set(output.map(\.description.index)).sorted() {
            let segments = output.filter { $0.description.index == period }
            let file = segments[0].initSection.bytes + segments.flatMap(\.bytes)
            let probe = try FragmentTool.run(
                "ffprobe",
                [
                    "-v", "warning", "-select_streams", "v", "-count_packets", "-show_entries",
                    "stream=nb_read_packets", "-of", "csv=p=0", "INPUT",
                ], input: file)
            let frames = try segments.reduce(0) { try $0 + $1.presentationTimes().count }
            #expect(probe.errors.isEmpty && probe.text == "\(frames)\n", "period \(period): \(probe.errors)")
        }
    }

    @Test func adBreakIsPublishedWhenSignaled() throws {
        let program = try TestProgram(size: "160x90", rate: "25", timescale: "12800")
        let at = program.times[2][0]
        let section = SectionSketch.out(event: 7, at: 5, lasting: 900_000).bytes
        let command = EventMessageSketch(
            timescale: 90_000, time: UInt64(at.count), id: 9, scheme: Array(EventMessage.spliceScheme.utf8),
            data: section)
        var engine = engine()
        var output: [SplicedSegment] = []
        for index in program.segments.indices {
            output += try engine.handle(
                input(program, index, sequence: index, isTagged: false, index < 2 ? [command] : []))
        }
        output += try engine.handle(.ended(.main))
        let commands = output.flatMap(\.spliceCommands)
        #expect(commands.map(\.information.bytes) == [section] && output[0].spliceCommands.count == 1)
        let presented = try output.flatMap { try $0.presentationTimes() }
        let frame = program.times[..<2].reduce(0) { $0 + $1.count }
        let date = 1_000_000 + (presented[frame] - presented[0]) / 90
        #expect(
            abs(try #require(commands.first).date - date) <= 1, "the date is that of the message, not of the section")
        #expect(output.flatMap { WrittenMessage.all(in: $0.bytes) }.map(\.data) == [section])
        #expect(engine.counts[.duplicateEventMessages] == 1)
    }

    @Test func messageAfterTheEndIsCounted() throws {
        let program = try TestProgram(size: "160x90", rate: "25", timescale: "12800")
        var engine = engine()
        let message = EventMessageSketch(time: 60_000)
        _ = try engine.handle(input(program, 0, sequence: 0, isTagged: false, [message]))
        #expect(engine.counts[.discardedTimedMetadata] == 0)
        _ = try engine.handle(.ended(.main))
        #expect(engine.counts[.discardedTimedMetadata] == 1 && engine.counts[.eventMessages] == 0)
    }
}

/// Adds ID3 tags to the packed audio of a capture.
@Suite struct CompanionMetadataTests {
    private static func tag(_ text: String) -> [UInt8] {
        let frame = Array("TIT2".utf8) + [0, 0, 0, UInt8(text.utf8.count + 1), 0, 0, 3] + Array(text.utf8)
        return Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, UInt8(frame.count)] + frame
    }

    private func inputs(_ rendition: InputRendition) throws -> [SpliceInput] {
        let bodies = try CaptureFixture("packed_audio").bodies(rendition == .main ? "v" : "a")
        return bodies.enumerated().map { index, body in
            .segment(
                SegmentInput(
                    rendition: rendition, mediaSequence: UInt64(index),
                    discontinuitySequence: index < 2 ? 0 : index < 5 ? 1 : 2, isDiscontinuous: index == 2 || index == 5,
                    bytes: rendition == .main ? body : Self.tag("\(index)") + body))
        } + [.ended(rendition)]
    }

    private func alternating(
        _ one: ArraySlice<SpliceInput>, _ other: ArraySlice<SpliceInput>
    ) -> [SpliceInput] {
        zip(one, other).flatMap { [$0, $1] }
    }

    private func splice(_ inputs: [SpliceInput]) throws -> (segments: [SplicedSegment], counts: SpliceCounts) {
        var engine = SpliceEngine(
            SpliceConfiguration(hasAudioRendition: true, longestSegment: .seconds(2), wallClock: 0))
        let segments = try inputs.flatMap { try engine.handle($0) }
        return (segments, engine.counts)
    }

    @Test func tagsArriveWithTheirAudio() throws {
        let inputs = alternating(try inputs(.main)[...], try inputs(.audio)[...])
        let (segments, counts) = try splice(inputs)
        let messages = segments.flatMap { WrittenMessage.all(in: $0.bytes) }
        #expect(messages.map(\.data) == (0..<7).map { Self.tag("\($0)") }, "the timestamp tag is not metadata")
        #expect(messages.allSatisfy { $0.scheme == EventMessage.id3Scheme })
        #expect(counts[.eventMessages] == 7 && counts[.discardedTimedMetadata] == 0)
        let expected = try expected(segments)
        #expect(messages.map { Int64($0.time) } == expected)
    }

    /// Returns the expected message times, computed from the distance to the period's first frame.
    private func expected(_ segments: [SplicedSegment]) throws -> [Int64] {
        let starts = try segments.filter { $0.isDiscontinuous || $0.description.index == 0 }.reduce(
            into: [Int: Int64]()
        ) {
            let decode = try MovieFragment.fragments(of: $1.bytes)[0].tracks[0].decodeTime ?? 0
            if $0[$1.description.index] == nil { $0[$1.description.index] = Int64(decode) + 18_000 }
        }
        var demuxer = TransportDemuxer(tracks: .video)
        var first: [Int: Ticks] = [:]
        return try zip(
            CaptureFixture("packed_audio").bodies("v"), CaptureFixture("packed_audio").bodies("a")
        ).enumerated().map { index, bodies in
            let period = index < 2 ? 0 : index < 5 ? 1 : 2
            if index == 2 || index == 5 { demuxer = TransportDemuxer(tracks: .video) }
            let video = try demuxer.feed(bodies.0).video
            first[period] = first[period] ?? video.first?.pts
            let (start, time) = (try #require(first[period]), try #require(ID3Tags(bodies.1).timestamp))
            let distance = Ticks(wire: time, near: start) - start
            return try #require(starts[period]) + distance.count
        }
    }

    @Test func outputDoesNotDependOnOrderOfRenditions() throws {
        let (main, companion) = (try inputs(.main), try inputs(.audio))
        let companionFirst = companion[..<2] + alternating(main.dropLast(2), companion.dropFirst(2)) + main.suffix(2)
        let mainFirst = main[..<2] + alternating(main.dropFirst(2), companion.dropLast(2)) + companion.suffix(2)
        let orders = [
            alternating(main[...], companion[...]), alternating(companion[...], main[...]),
            Array(companionFirst), Array(mainFirst),
        ]
        let outputs = try orders.map { try splice($0) }
        for output in outputs {
            #expect(output.segments.map(\.bytes) == outputs[0].segments.map(\.bytes))
            #expect(output.counts == outputs[0].counts)
        }
    }

    @Test func metadataWithoutFramesIsCounted() {
        var matcher = AudioVideoMatcher(isMuxed: false)
        matcher.append([], discontinuitySequence: 0, metadata: [TimedMetadata(.id3([]), at: nil)])
        #expect(matcher.counts[.discardedTimedMetadata] == 1 && matcher.dequeueMetadata().isEmpty)
    }
}
