import Support
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

/// Fragmented MP4 through the complete splice engine, alone and with other containers.
@Suite struct MovieSpliceTests {
    private static let aac = ["-c:a", "aac", "-ar", "48000", "-ac", "2"]

    private static func transport(seconds: Int, size: String = "320x180") throws -> [UInt8] {
        try OracleMedia.make(video: MovieMedia.h264, audio: aac, seconds: seconds, size: size)
    }

    private func engine(companion: Bool = false) -> SpliceEngine {
        SpliceEngine(
            SpliceConfiguration(hasAudioRendition: companion, longestSegment: .seconds(12), wallClock: 0))
    }

    /// Splices programs of one container each, with EXT-X-DISCONTINUITY before all but the first.
    private func splice(
        _ programs: [(initialization: [UInt8]?, segments: [[UInt8]])], _ engine: inout SpliceEngine
    ) throws -> [SplicedSegment] {
        var output: [SplicedSegment] = []
        var sequence: UInt64 = 0
        for (index, program) in programs.enumerated() {
            for (position, segment) in program.segments.enumerated() {
                output += try engine.handle(
                    .segment(
                        SegmentInput(
                            rendition: .main, mediaSequence: sequence, discontinuitySequence: UInt64(index),
                            isDiscontinuous: index > 0 && position == 0, initialization: program.initialization,
                            bytes: segment)))
                sequence += 1
            }
        }
        return try output + engine.handle(.ended(.main))
    }

    private func frameCount(_ segments: [SplicedSegment]) throws -> Int {
        try segments.reduce(0) { sum, segment in
            let bytes = segment.fragment.header + segment.fragment.payloads.joined()
            let track = try MovieFragment.fragments(of: bytes)[0].tracks.first { $0.trackID == TrackID.video }
            return sum + (track?.samples.count ?? 0)
        }
    }

    @Test("the container changes at a splice, and back")
    func containerSwitch() throws {
        let advertisement = try MovieMedia.cut(MovieMedia.make(audio: Self.aac, size: "160x90"))
        var engine = engine()
        let output = try splice(
            [
                (nil, [Self.transport(seconds: 1)]),
                (advertisement.initialization, advertisement.segments),
                (nil, [Self.transport(seconds: 1)]),
            ], &engine)
        #expect(try frameCount(output) == 75)
        #expect(engine.counts[.periods] == 3)
        #expect(output.map(\.description.video?.width) == [320, 160, 160, 320])
        #expect(output.map(\.isDiscontinuous) == [false, true, false, true])
        #expect(engine.counts.demux == Counts<DemuxCount>())
        // At most one frame at each discontinuity.
        #expect(engine.counts[.silentAudioFrames] <= 3)
        #expect(engine.counts[.framesBeforeSync] == 0)
    }

    @Test("another init section begins a period; the same one again does not")
    func severalMaps() throws {
        let (first, second) = (
            try MovieMedia.cut(MovieMedia.make(audio: Self.aac)),
            try MovieMedia.cut(
                MovieMedia.make(
                    audio: Self.aac, rate: "30000/1001", size: "160x90",
                    output: MovieMedia.fragments + ["-video_track_timescale", "600"]))
        )
        var engine = engine()
        let output = try splice([first, second, first], &engine)
        #expect(engine.counts[.periods] == 3)
        #expect(output.map(\.isDiscontinuous).filter(\.self).count == 2)
        #expect(try frameCount(output) == 25 + 30 + 25)
        #expect(Set(output.map(\.initSection.name)).count == 2)
    }

    /// The companion is in one container and the video in the other.
    @Test(arguments: [true, false])
    func companion(isMovie: Bool) throws {
        let video = try MovieMedia.cut(MovieMedia.make(audio: nil))
        let audio = try MovieMedia.cut(
            MovieMedia.make(
                video: nil, audio: Self.aac,
                output: ["-movflags", "+empty_moov+default_base_moof", "-frag_duration", "500000"]))
        let transport = try OracleMedia.make(video: MovieMedia.h264, audio: nil, seconds: 1)
        let transportAudio = try OracleMedia.make(video: nil, audio: Self.aac, seconds: 1)
        var engine = engine(companion: true)
        func input(_ rendition: InputRendition, _ bytes: [UInt8], _ initialization: [UInt8]?) -> SpliceInput {
            .segment(
                SegmentInput(rendition: rendition, mediaSequence: 0, initialization: initialization, bytes: bytes))
        }
        var output: [SplicedSegment] = []
        for segment in isMovie ? audio.segments : [transportAudio] {
            output += try engine.handle(input(.audio, segment, isMovie ? audio.initialization : nil))
        }
        for segment in isMovie ? [transport] : video.segments {
            output += try engine.handle(input(.main, segment, isMovie ? nil : video.initialization))
        }
        output += try engine.handle(.ended(.audio))
        output += try engine.handle(.ended(.main))
        #expect(try frameCount(output) == 25)
        #expect(output.allSatisfy { $0.description.audioCodec == "mp4a.40.2" })
    }

    /// MP3 is copied frame by frame, and ffmpeg decodes the result.
    @Test func copiedAudio() throws {
        let source = try MovieMedia.cut(MovieMedia.make(audio: ["-c:a", "libmp3lame"]))
        var engine = engine()
        let output = try splice([source], &engine)
        let bytes = output.reduce(into: output[0].initSection.bytes) {
            $0 += $1.fragment.header + $1.fragment.payloads.joined()
        }
        let input = try OracleDemuxer.packets(source.initialization + source.segments.joined(), container: "mp4")
        let result = try OracleDemuxer.packets(bytes, container: "mp4")
        let frames = result.filter { !$0.isVideo }.map(\.bytes)
        // Audio before the first video frame and after the last is dropped, and nothing in between.
        let isContiguous = input.filter { !$0.isVideo }.map(\.bytes).firstRange(of: frames) != nil
        #expect(isContiguous)
        #expect(frames.count >= 8)
        let decoded = try FragmentTool.run("ffmpeg", ["-v", "warning", "-i", "INPUT", "-f", "null", "-"], input: bytes)
        #expect(decoded.status == 0)
        #expect(decoded.errors.isEmpty)
    }

    /// Audio that players do not expect in a transport stream is encoded, and ffmpeg decodes the result.
    @Test(arguments: ["flac", "libopus"])
    func encodedAudio(encoder: String) throws {
        let source = try MovieMedia.cut(MovieMedia.make(audio: ["-c:a", encoder]))
        var engine = engine()
        let output = try splice([source], &engine)
        #expect(output.allSatisfy { $0.description.audioCodec == "mp4a.40.2" })
        #expect(output.allSatisfy { $0.position.audio.flatMap { TransportAudioCodec($0) } == .aac })
        #expect(engine.counts[.undecodableAudioFrames] == 0 && engine.counts[.transcodedAudioFrames] >= 8)
        let bytes = output.reduce(into: output[0].initSection.bytes) {
            $0 += $1.fragment.header + $1.fragment.payloads.joined()
        }
        let decoded = try FragmentTool.run("ffmpeg", ["-v", "warning", "-i", "INPUT", "-f", "null", "-"], input: bytes)
        #expect(decoded.status == 0 && decoded.errors.isEmpty)
    }

    /// Audio that is transcoded is decoded with the configuration of the sample entry.
    @Test(arguments: ["flac", "libopus"])
    func decodedAudio(encoder: String) throws {
        let source = try MovieMedia.cut(MovieMedia.make(video: nil, audio: ["-c:a", encoder]))
        let audio = try FragmentedMP4Demuxer.all(source.segments, initialization: source.initialization).audio
        let decoder = try AudioDecoder(try #require(audio.first?.configuration))
        var frames = 0
        for packet in audio {
            try decoder.send(packet.payload, time: 0)
            while try decoder.receive() { frames += 1 }
        }
        #expect(frames >= audio.count - 1)
    }
}
