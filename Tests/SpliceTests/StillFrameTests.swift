import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

/// Channels that change between video and audio only.
@Suite struct StillFrameTests {
    static func program(_ serial: Int, clock: Int64 = 900_000) -> TortureProgram {
        TortureProgram(serial: serial, clock: clock)
    }

    /// Consecutive segments of one kind: video with audio, or audio only.
    struct SourceInterval: Sendable {
        var serial: Int
        var clock: Int64
        var hasVideo = true
        var segments = 3
        /// Video frames per segment at 25 per second, or audio of the same duration.
        var frames = 50
        var isTagged = true
        /// Number of its first video frames that are not sent.
        var cut = 0
    }

    static func inputs(_ intervals: [SourceInterval]) -> [SpliceInput] {
        var multiplexer = TortureMultiplexer()
        var inputs: [SpliceInput] = []
        for interval in intervals {
            var program = program(interval.serial, clock: interval.clock)
            program.segments = Array(repeating: interval.frames, count: interval.segments)
            program.cutAtStart = interval.cut
            let bodies =
                interval.hasVideo
                ? multiplexer.segments(of: program)
                : multiplexer.companion(
                    of: program, boundaries: (1...interval.segments).map { Int64($0 * interval.frames) * 3600 })
            for (index, bytes) in bodies.enumerated() {
                inputs.append(
                    .segment(
                        SegmentInput(
                            rendition: .main, mediaSequence: UInt64(inputs.count),
                            isDiscontinuous: interval.isTagged && index == 0 && !inputs.isEmpty, bytes: bytes)))
            }
        }
        return inputs + [.ended(.main)]
    }

    struct Row: Sendable {
        var when: String
        var spans: [SourceInterval]
        /// Tracks of the output segments in order: V for both, A for audio only; equal neighbors are one letter.
        var tracks: String
        var periods: Int
        /// Audio frames published, at least: the audio of a period does not end after its video.
        var frames: Int
    }

    static let rows = [
        Row(
            when: "a tagged audio-only ad",
            spans: [
                SourceInterval(serial: 1, clock: 900_000),
                SourceInterval(serial: 2, clock: 126_000, hasVideo: false),
                SourceInterval(serial: 3, clock: 1_440_000),
            ], tracks: "V", periods: 3, frames: 840),
        Row(
            when: "a tagged program whose first picture comes with its second segment",
            spans: [
                SourceInterval(serial: 1, clock: 900_000),
                SourceInterval(serial: 2, clock: 126_000, cut: 50),
            ], tracks: "V", periods: 3, frames: 558),
        Row(
            when: "video is missing for a while on an unbroken clock: the period goes on",
            spans: [
                SourceInterval(serial: 1, clock: 900_000),
                SourceInterval(serial: 2, clock: 1_440_000, hasVideo: false, isTagged: false),
                SourceInterval(serial: 3, clock: 1_980_000, isTagged: false),
            ], tracks: "V", periods: 1, frames: 840),
        Row(
            when: "audio only, then video",
            spans: [
                SourceInterval(serial: 1, clock: 900_000, hasVideo: false),
                SourceInterval(serial: 2, clock: 126_000),
            ], tracks: "AV", periods: 2, frames: 560),
        Row(
            when: "audio only for longer than an ad",
            spans: [
                SourceInterval(serial: 1, clock: 900_000, segments: 1),
                SourceInterval(serial: 2, clock: 126_000, hasVideo: false, segments: 4, frames: 2500),
                SourceInterval(serial: 3, clock: 900_000, segments: 1),
            ], tracks: "VAV", periods: 4, frames: 18_900),
    ]

    @Test(arguments: rows.indices) func allAudioIsPublishedBesideVideo(_ index: Int) {
        let row = Self.rows[index]
        let output = AudioOnlyOutput(Self.inputs(row.spans))
        #expect(output.errors.isEmpty && output.faults.isEmpty, "\(row.when): \(output.errors) \(output.faults)")
        #expect(output.kinds == row.tracks, "\(row.when)")
        #expect(output.periods == row.periods, "\(row.when)")
        #expect(output.labels.count >= row.frames, "\(row.when): \(output.labels.count)")
        #expect(output.counts[.adjustedTimestamps] == 0 && output.counts[.timestampGaps] == 0, "\(row.when)")
    }

    /// A variant without video that names a companion publishes its own audio.
    @Test func audioOnlyChannelNeedsNoCompanion() {
        let inputs = Self.inputs([SourceInterval(serial: 2, clock: 126_000, hasVideo: false)])
        let alone = AudioOnlyOutput(inputs)
        let beside = AudioOnlyOutput(
            inputs.dropLast() + [.lost(.audio), .ended(.audio), .ended(.main)], hasAudioRendition: true)
        #expect(beside.errors.isEmpty && beside.kinds == "A")
        #expect(beside.labels == alone.labels && !alone.labels.isEmpty)
    }

    /// A second of audio gets a second of repeated key frames.
    @Test func stillFrameLastsAsLongAsItsAudio() throws {
        let output = TortureOutput(Self.inputs(Self.rows[0].spans))
        // Repeated key frames are expected here.
        #expect(output.faults.filter { $0 != "frames twice or out of order" }.isEmpty, "\(output.faults)")
        let still = output.segments[3..<6]
        #expect(still.allSatisfy { $0.video.allSatisfy(\.isSync) })
        let ends = still.map { ($0.video.first?.presentation ?? 0, $0.video.reduce(0) { $0 + $1.duration }) }
        let lengths = ends.map(\.1)
        #expect(lengths.allSatisfy { abs($0 - 180_000) <= 1920 }, "\(lengths)")
        #expect(output.counts[.stillFrames] == still.reduce(0) { $0 + $1.video.count })
    }

    /// After audio only both clocks advance: video that follows is placed after it.
    @Test func restartKeepsBothClocksMonotonic() throws {
        let video = AudioOnlyOutput(Self.inputs([SourceInterval(serial: 1, clock: 900_000)]))
        let radio = AudioOnlyOutput(
            Self.inputs([SourceInterval(serial: 2, clock: 126_000, hasVideo: false)]), position: video.position)
        let back = AudioOnlyOutput(Self.inputs([SourceInterval(serial: 3, clock: 900_000)]), position: radio.position)
        #expect(radio.faults.isEmpty && back.faults.isEmpty)
        let positions = [video.position, radio.position, back.position]
        let videoTimes = positions.compactMap(\.videoDecodeTime)
        #expect(
            videoTimes.count == 3 && zip(videoTimes, videoTimes.dropFirst()).allSatisfy { $1 - $0 >= 530_000 },
            "\(videoTimes)")
        let audioTimes = positions.compactMap(\.audioDecodeTime)
        #expect(
            audioTimes.count == 3 && zip(audioTimes, audioTimes.dropFirst()).allSatisfy { $1 - $0 >= 83_000_000 },
            "\(audioTimes)")
        #expect(radio.segments.allSatisfy { $0.trackIDs == [TrackID.audio] })
    }
}

extension AudioOnlyOutput {
    fileprivate var kinds: String {
        segments.map { $0.trackIDs.count == 2 ? "V" : "A" }.reduce("") { $0.hasSuffix($1) ? $0 : $0 + $1 }
    }
}
