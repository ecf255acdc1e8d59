import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

/// Frames that stand for longer than a segment: the period goes on with the last key frame.
@Suite struct StandingVideoTests {
    struct Segment: Sendable {
        /// Decode times of the frames in seconds.
        var frames: [Double] = []
        /// EXTINF in seconds; nil if it is not known.
        var duration: Double? = 4
        /// Times of the segment's own audio in seconds; nil if a companion carries it.
        var audio: ClosedRange<Double>?
        var boundary = SegmentBoundary.plain
        /// Number of the first frames that are no random access points.
        var dependent = 0
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let when: String
        let segments: [Segment]
        var signals: [DiscontinuityDetector.Signal] = [.joined]
        /// For each part the decode time of each frame in seconds; a repeated key frame is negative.
        let parts: [[Double]]
        /// Duration of the last frame of each part in seconds.
        let last: [Double]

        var testDescription: String { when }
    }

    /// Frames from `start` to `end`, 25 a second.
    private static func running(_ start: Double, _ end: Double) -> [Double] {
        (0..<Int(((end - start) * 25).rounded())).map { start + Double($0) / 25 }
    }

    static let rows = [
        Row(
            when: "a slide every 10 s in segments of 4 s",
            segments: [
                Segment(frames: [0], audio: 0...4), Segment(audio: 4...8), Segment(frames: [10], audio: 8...12),
                Segment(audio: 12...16), Segment(audio: 16...20), Segment(frames: [20], audio: 20...24),
            ], parts: [[0], [-4], [-8, 10], [-12], [-16], [20]], last: [4, 4, 2, 4, 4, 4]),
        Row(
            when: "the same with the audio in a companion",
            segments: [
                Segment(frames: [0]), Segment(), Segment(frames: [10]), Segment(), Segment(), Segment(frames: [20]),
            ], parts: [[0], [-4], [-8, 10], [-12], [-16], [20]], last: [4, 4, 2, 4, 4, 4]),
        Row(
            when: "EXTINF is not known",
            segments: [
                Segment(frames: [0], duration: nil, audio: 0...4), Segment(duration: nil, audio: 4...8),
                Segment(frames: [10], duration: nil, audio: 8...12),
            ], parts: [[0], [-0.04, -4.02], [-8, 10]], last: [0.04, 3.98, 2]),
        Row(
            when: "a slide shortly before the end of its segment",
            segments: [
                Segment(frames: [0], audio: 0...4), Segment(frames: [7.75], audio: 4...8), Segment(audio: 8...12),
                Segment(frames: [12], audio: 12...16),
            ], parts: [[0], [-4, 7.75], [-8], [12]], last: [4, 0.25, 4, 4]),
        Row(
            when: "EXTINF is rounded, the audio is not",
            segments: [
                Segment(frames: [0], audio: 0...3.6), Segment(audio: 3.6...7.2),
                Segment(frames: [10], audio: 7.2...10.8), Segment(audio: 10.8...14.4),
                Segment(frames: [14.5], audio: 14.4...18),
            ], parts: [[0], [-4], [-8, 10], [-10.8], [14.5]], last: [4, 4, 0.8, 4, 4]),
        Row(
            when: "audio is sent 0.75 s after its video",
            segments: [
                Segment(frames: [0], audio: 0...3.25), Segment(audio: 3.25...7.25),
                Segment(frames: [8], audio: 7.25...11.25),
            ], parts: [[0], [-4], [8]], last: [4, 4, 4]),
        Row(
            when: "joined after the last slide",
            segments: [
                Segment(frames: [6.5], audio: 4...8), Segment(audio: 8...12), Segment(frames: [12], audio: 12...16),
            ],
            parts: [[6.5], [-8], [12]], last: [1.5, 4, 4]),
        Row(
            when: "video with a frame rate pauses for a segment",
            segments: [
                Segment(frames: running(0, 4), audio: 0...4), Segment(audio: 4...8),
                Segment(frames: running(8, 12), audio: 8...12),
            ], parts: [running(0, 4), [-4], running(8, 12)], last: [0.04, 4, 0.04]),
        Row(
            when: "video stops inside a segment and returns inside another",
            segments: [
                Segment(frames: running(0, 2.5), audio: 0...4), Segment(audio: 4...8),
                Segment(frames: running(9, 12), audio: 8...12),
            ], parts: [running(0, 2.5), [-2.5, -5.25], [-8] + running(9, 12)], last: [0.04, 2.75, 0.04]),
        Row(
            when: "a short segment has no whole frame, and audio is sent half a second ahead",
            segments: [
                Segment(frames: running(0, 2), duration: nil, audio: 0...2.5),
                Segment(duration: nil, audio: 2.5...3),
                Segment(frames: running(2, 4), duration: nil, audio: 3...4.5),
            ], parts: [running(0, 2), running(2, 4)], last: [0.04, 0.04]),
        Row(
            when: "video with a frame rate pauses, and nothing tells for how long",
            segments: [Segment(frames: running(0, 4)), Segment(), Segment(frames: running(8, 12))],
            signals: [.joined, .clock], parts: [running(0, 4), running(8, 12)], last: [0.04, 0.04]),
        Row(
            when: "video returns between two random access points",
            segments: [
                Segment(frames: running(0, 4), audio: 0...4), Segment(audio: 4...8),
                Segment(frames: running(8, 12), audio: 8...12, dependent: 50),
            ], signals: [.joined, .loss], parts: [running(0, 4), [-4], running(10, 12)], last: [0.04, 4, 0.04]),
        Row(
            when: "the last slide refers to one before: its image cannot be repeated",
            segments: [
                Segment(frames: [0], audio: 0...4), Segment(frames: [4], audio: 4...8, dependent: 1),
                Segment(audio: 8...12), Segment(frames: [12], audio: 12...16),
            ], signals: [.joined, .clock], parts: [[0], [4], [12]], last: [4, 4, 4]),
        Row(
            when: "the audio is on another clock",
            segments: [
                Segment(frames: running(0, 4), audio: 500...504), Segment(audio: 504...508),
                Segment(frames: running(8, 12), audio: 508...512),
            ], signals: [.joined, .clock], parts: [running(0, 4), running(8, 12)], last: [0.04, 0.04]),
        Row(
            when: "EXT-X-DISCONTINUITY before a segment without frames",
            segments: [
                Segment(frames: [0], audio: 0...4), Segment(audio: 4...8, boundary: .tagged),
                Segment(frames: [8], audio: 8...12),
            ], signals: [.joined, .tagged], parts: [[0], [8]], last: [4, 4]),
        Row(
            when: "segments were lost before one without frames",
            segments: [
                Segment(frames: [0], audio: 0...4), Segment(audio: 8...12, boundary: .loss),
                Segment(frames: [12], audio: 12...16),
            ], signals: [.joined, .loss], parts: [[0], [12]], last: [4, 4]),
        Row(
            when: "the clock begins again",
            segments: [
                Segment(frames: [100], audio: 100...104), Segment(audio: 104...108), Segment(frames: [2], audio: 0...4),
            ], signals: [.joined, .clock], parts: [[100], [-104], [2]], last: [4, 4, 2]),
    ]

    private static func ticks(_ seconds: Double) -> Int64 { Int64((seconds * 90_000).rounded()) }

    /// Times as a stream of that clock has them: ten hours after 0.
    private static func packets(_ segment: Segment) -> (video: [VideoPacket], audio: [AudioPacket]) {
        let video = segment.frames.enumerated().map { index, time in
            // A random access point each second, and where a segment begins.
            let isKey =
                index >= segment.dependent && (index == 0 || time == time.rounded() || index == segment.dependent)
            return SyntheticPackets.videoPacket(dts: ticks(time), sync: isKey ? .instantaneousRefresh : nil)
        }
        guard let audio = segment.audio else { return (video, []) }
        let count = Int(((audio.upperBound - audio.lowerBound) * 48_000 / 1024).rounded())
        return (video, SyntheticPackets.audioPackets(count, from: ticks(audio.lowerBound)))
    }

    @Test(arguments: rows)
    func periodGoesOn(row: Row) {
        var splitter = PeriodSplitter(longestGap: .milliseconds(3999), longestSegment: .milliseconds(4499))
        var parts: [PeriodPart] = []
        for (number, segment) in row.segments.enumerated() {
            let (video, audio) = Self.packets(segment)
            let input = SegmentInput(
                rendition: .main, mediaSequence: UInt64(number),
                duration: segment.duration.map { Ticks(Self.ticks($0)) }, bytes: [])
            parts += splitter.split(video, from: input, boundary: segment.boundary, audio: audio)
        }
        parts += splitter.finish()
        #expect(parts.compactMap(\.signal) == row.signals)
        let times = parts.map { $0.units.map { ($0.isRepeated ? -1 : 1) * Double($0.dts.count) / 90_000 } }
        #expect(times.count == row.parts.count)
        for (found, expected) in zip(times, row.parts) {
            #expect(
                found.count == expected.count && zip(found, expected).allSatisfy { abs($0 - $1) < 0.03 }, "\(found)")
        }
        let last = parts.map { Double($0.frameDuration.count) / 90_000 }
        #expect(zip(last, row.last).allSatisfy { abs($0 - $1) < 0.03 }, "\(last)")
        #expect(splitter.counts[.stillFrames] == times.joined().count { $0 < 0 })
        #expect(splitter.counts[.timestampGaps] == 0 || row.signals.contains(.clock))
    }

    /// Slides at any time in segments of any length: each once, where it belongs, and no time is missing between.
    @Test(arguments: 1...40)
    func slidesAtAnyTime(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var splitter = PeriodSplitter(longestGap: .milliseconds(5999), longestSegment: .milliseconds(6499))
        let hasAudio = Bool.random(using: &random)
        var (start, slides, parts) = (0.0, [Double](), [PeriodPart]())
        for number in 0..<30 {
            let end = start + Double.random(in: 1...6, using: &random)
            var frames = number == 0 ? [start] : []
            while let next = (frames.last ?? slides.last).map({ $0 + .random(in: 0.6...15, using: &random) }),
                next < end
            {
                if next >= start { frames.append(next) } else { break }
            }
            slides += frames
            let (video, audio) = Self.packets(Segment(frames: frames, audio: hasAudio ? start...end : nil))
            let keys = video.map { SyntheticPackets.videoPacket(dts: $0.dts?.count ?? 0, sync: .instantaneousRefresh) }
            let input = SegmentInput(
                rendition: .main, mediaSequence: UInt64(number), duration: Ticks(Self.ticks(end - start)), bytes: [])
            parts += splitter.split(keys, from: input, boundary: .plain, audio: audio)
            start = end
        }
        #expect(parts.compactMap(\.signal) == [.joined])
        let units = parts.flatMap(\.units)
        #expect(units.filter { !$0.isRepeated }.map(\.dts.count) == slides.map(Self.ticks))
        for (part, next) in zip(parts, parts.dropFirst()) {
            let gap = next.units[0].dts - part.units[0].dts - part.playingDuration
            #expect(abs(gap.count) <= DiscontinuityDetector.standingTolerance.count)
        }
    }

    /// A video that does not come back ends its period after five minutes; the audio goes on.
    @Test func videoThatDoesNotComeBack() throws {
        let frames = 4 * 25
        var program = StillFrameTests.program(1)
        program.segments = [frames]
        var multiplexer = TortureMultiplexer()
        var inputs = multiplexer.segments(of: program)
        var companion = StillFrameTests.program(2, clock: program.clock)
        companion.segments = Array(repeating: frames, count: 90)
        let boundaries = (1...90).map { Int64($0) * 360_000 }
        inputs += multiplexer.companion(of: companion, boundaries: boundaries).dropFirst()
        let output = AudioOnlyOutput(
            inputs.enumerated().map { number, bytes in
                .segment(
                    SegmentInput(
                        rendition: .main, mediaSequence: UInt64(number), duration: .seconds(4), bytes: bytes))
            } + [.ended(.main)])
        #expect(output.errors.isEmpty && output.faults.isEmpty, "\(output.errors) \(output.faults)")
        let withVideo = output.segments.prefix { $0.trackIDs.count == 2 }
        #expect(withVideo.count == 76 && withVideo.allSatisfy { $0.period == 0 })
        #expect(output.segments.dropFirst(76).allSatisfy { $0.trackIDs.count == 1 && $0.period == 1 })
        #expect(output.counts[.stillFrames] == 75 && output.counts[.videoTimeouts] == 1)
        #expect(
            output.counts[.silentAudioFrames] + output.counts[.trimmedAudioFrames]
                + output.counts[.unmatchedAudioFrames] <= 2)
    }
}
