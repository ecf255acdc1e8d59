import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

/// Pictures that stand for longer than half a second: slides, the cover of a radio program, one frame a second.
@Suite struct StandingFrameTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let when: String
        /// Decode times in seconds of the frames of each segment.
        let segments: [[Double]]
        /// EXTINF of each segment in seconds; nil if it is not known.
        let durations: [Double?]
        let signals: [DiscontinuityDetector.Signal]
        /// Duration of the last frame of each part.
        let last: [Double]

        var testDescription: String { when }
    }

    static let rows = [
        Row(
            when: "one frame a second", segments: [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]], durations: [4, 4, 4],
            signals: [.joined], last: [1, 1, 1]),
        Row(
            when: "one frame for each segment", segments: [[0], [4], [8]], durations: [4, 4, 4], signals: [.joined],
            last: [4, 4, 4]),
        Row(
            when: "slides at any time", segments: [[0, 3], [6, 7.5], [12]], durations: [6, 6, 6], signals: [.joined],
            last: [3, 4.5, 6]),
        Row(
            when: "one frame a second, EXTINF not known", segments: [[0, 1, 2, 3], [4, 5, 6, 7]],
            durations: [nil, nil], signals: [.joined], last: [1, 1]),
        Row(
            when: "the last frame of a segment comes with the next",
            segments: [[0, 1, 2], [3, 4, 5, 6], [7, 8, 9, 10]],
            durations: [4, 4, 4], signals: [.joined], last: [1, 1, 1]),
        Row(
            when: "time that EXTINF does not explain", segments: [[0, 0.04], [3, 3.04]], durations: [0.08, 0.08],
            signals: [.joined, .clock], last: [0.04, 0.04]),
        Row(
            when: "a clock that steps back", segments: [[10], [0]], durations: [4, 4], signals: [.joined, .clock],
            last: [4, 4]),
        Row(
            when: "a rounded EXTINF of a stream with a frame rate", segments: [[0, 0.04], [0.08, 0.12]],
            durations: [1, 1], signals: [.joined], last: [0.04, 0.04]),
    ]

    @Test(arguments: rows)
    func clockGoesOn(row: Row) {
        var splitter = PeriodSplitter()
        var parts: [PeriodPart] = []
        for (number, (times, duration)) in zip(row.segments, row.durations).enumerated() {
            let frames = times.map {
                SyntheticPackets.videoPacket(dts: Int64($0 * 90_000), sync: .instantaneousRefresh)
            }
            let segment = SegmentInput(
                rendition: .main, mediaSequence: UInt64(number), duration: duration.map { Ticks(Int64($0 * 90_000)) },
                bytes: [])
            parts += splitter.split(frames, from: segment, boundary: .plain)
        }
        #expect(parts.compactMap(\.signal) == row.signals)
        #expect(parts.map { Double($0.frameDuration.count) / 90_000 } == row.last)
    }

    /// Frames and EXTINFs as they come: no segment is longer than it may be.
    @Test(arguments: 1...40)
    func noSegmentIsTooLong(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var splitter = PeriodSplitter(longestGap: .milliseconds(5999), longestSegment: .milliseconds(6499))
        var assembler = PeriodAssembler(
            SpliceConfiguration(hasAudioRendition: false, longestSegment: .milliseconds(6499), wallClock: 0))
        let configuration = VideoConfiguration(
            codec: .h264, sequenceParameterSets: [h264Rows[0].nalUnit],
            pictureParameterSets: [[0x68, 0xEE, 0x3C, 0x80]])
        var (time, output) = (Int64(0), [SplicedSegment]())
        for number in 0..<12 {
            let frames = (0..<Int.random(in: 0...4, using: &random)).map { _ in
                time += Int64.random(in: 3600...630_000, using: &random)
                return SyntheticPackets.videoPacket(
                    dts: time, sync: .instantaneousRefresh, configuration: configuration)
            }
            let segment = SegmentInput(
                rendition: .main, mediaSequence: UInt64(number),
                duration: Ticks(Int64.random(in: 0...900_000, using: &random)), bytes: [])
            for part in splitter.split(frames, from: segment, boundary: .plain) {
                output += assembler.append(VideoSpanQueue.MatchedPart(part: part, audio: [], configuration: nil))
            }
        }
        output += assembler.finish()
        #expect(output.allSatisfy { $0.duration <= .milliseconds(6499) })
    }

    /// Through the whole engine: one period, no audio lost, segments as long as the upstream's.
    @Test(arguments: [("1", 4), ("1/4", 4), ("25", 4)])
    func audioOfSlidesIsWhole(rate: String, seconds: Int) throws {
        var engine = SpliceEngine(
            SpliceConfiguration(hasAudioRendition: false, longestSegment: .milliseconds(4499), wallClock: 0))
        var output: [SplicedSegment] = []
        for number in 0..<4 {
            let bytes = try OracleMedia.run([
                "-nostdin", "-loglevel", "error", "-bitexact", "-f", "lavfi", "-i",
                "testsrc2=size=320x180:rate=\(rate):duration=\(seconds)", "-f", "lavfi", "-i",
                "sine=frequency=440:sample_rate=48000:duration=\(seconds)", "-c:v", "libx264", "-preset", "veryfast",
                "-x264-params", "keyint=250:bframes=0", "-c:a", "aac", "-flags", "+bitexact", "-output_ts_offset",
                "\(10 + number * seconds)", "-muxdelay", "0", "-muxpreload", "0", "-f", "mpegts", "pipe:1",
            ])
            output += try engine.handle(
                .segment(
                    SegmentInput(
                        rendition: .main, mediaSequence: UInt64(number), duration: .seconds(Int64(seconds)),
                        bytes: bytes)))
        }
        output += try engine.handle(.ended(.main))
        #expect(engine.counts[.periods] == 1)
        let whole = Double(4 * seconds) * 90_000
        let video = output.reduce(Int64(0)) { $0 + $1.duration.count }
        #expect(abs(Double(video) - whole) < 4500)
        #expect(
            engine.counts[.trimmedAudioFrames] + engine.counts[.unmatchedAudioFrames] <= 4,
            "at most the rest of each encoder run")
        #expect(output.allSatisfy { abs($0.duration.count - Int64(seconds) * 90_000) < 9000 })
    }
}
