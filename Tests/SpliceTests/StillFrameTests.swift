import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import Mux
@testable import Splice
@testable import Transcode

/// Channels that change between pictures and sound alone.
@Suite struct StillFrameTests {
    static func programme(_ serial: Int, clock: Int64 = 900_000) -> TortureProgram {
        TortureProgram(serial: serial, clock: clock)
    }

    /// Segments of a kind, in order: pictures with sound, or sound alone.
    struct SourceInterval: Sendable {
        var serial: Int
        var clock: Int64
        var hasPictures = true
        var segments = 3
        /// Of each segment, or as long a stretch of sound, at 25 a second.
        var pictures = 50
        var isTagged = true
    }

    static func inputs(_ stretches: [SourceInterval]) -> [SpliceInput] {
        var multiplexer = TortureMultiplexer()
        var inputs: [SpliceInput] = []
        for stretch in stretches {
            var programme = programme(stretch.serial, clock: stretch.clock)
            programme.segments = Array(repeating: stretch.pictures, count: stretch.segments)
            let bodies =
                stretch.hasPictures
                ? multiplexer.segments(of: programme)
                : multiplexer.companion(
                    of: programme, borders: (1...stretch.segments).map { Int64($0 * stretch.pictures) * 3600 })
            for (place, bytes) in bodies.enumerated() {
                inputs.append(
                    .segment(
                        SegmentInput(
                            rendition: .main, mediaSequence: UInt64(inputs.count),
                            isDiscontinuous: stretch.isTagged && place == 0 && !inputs.isEmpty, bytes: bytes)))
            }
        }
        return inputs + [.ended(.main)]
    }

    struct Row: Sendable {
        var when: String
        var spans: [SourceInterval]
        /// Tracks of the output segments in order, V for both and A for sound alone; equal neighbours are one letter.
        var tracks: String
        var runs: Int
        /// Of sound that come out, at least: a run's sound does not end after its picture.
        var frames: Int
    }

    static let rows = [
        Row(
            when: "an advertisement of sound alone, tagged",
            spans: [
                SourceInterval(serial: 1, clock: 900_000),
                SourceInterval(serial: 2, clock: 126_000, hasPictures: false),
                SourceInterval(serial: 3, clock: 1_440_000),
            ], tracks: "V", runs: 3, frames: 840),
        Row(
            when: "the picture fails for a while on an unbroken clock",
            spans: [
                SourceInterval(serial: 1, clock: 900_000),
                SourceInterval(serial: 2, clock: 1_440_000, hasPictures: false, isTagged: false),
                SourceInterval(serial: 3, clock: 1_980_000, isTagged: false),
            ], tracks: "V", runs: 3, frames: 840),
        Row(
            when: "sound alone that pictures follow",
            spans: [
                SourceInterval(serial: 1, clock: 900_000, hasPictures: false),
                SourceInterval(serial: 2, clock: 126_000),
            ], tracks: "AV", runs: 2, frames: 560),
        Row(
            when: "sound alone for longer than an advertisement",
            spans: [
                SourceInterval(serial: 1, clock: 900_000, segments: 1),
                SourceInterval(serial: 2, clock: 126_000, hasPictures: false, segments: 4, pictures: 2500),
                SourceInterval(serial: 3, clock: 900_000, segments: 1),
            ], tracks: "VAV", runs: 4, frames: 18_900),
    ]

    @Test(arguments: rows.indices) func allAudioIsPublishedBesideAFrame(_ index: Int) {
        let row = Self.rows[index]
        let output = AudioOnlyOutput(Self.inputs(row.spans))
        #expect(output.errors.isEmpty && output.faults.isEmpty, "\(row.when): \(output.errors) \(output.faults)")
        #expect(output.kinds == row.tracks, "\(row.when)")
        #expect(output.periods == row.runs, "\(row.when)")
        #expect(output.labels.count >= row.frames, "\(row.when): \(output.labels.count)")
        #expect(output.counts.timestampsSanitized == 0 && output.counts.timestampGaps == 0, "\(row.when)")
    }

    /// A variant without pictures that names a companion: what it carries itself is heard.
    @Test func anAudioOnlyChannelNeedsNoCompanion() {
        let inputs = Self.inputs([SourceInterval(serial: 2, clock: 126_000, hasPictures: false)])
        let alone = AudioOnlyOutput(inputs)
        let beside = AudioOnlyOutput(
            inputs.dropLast() + [.lost(.audio), .ended(.audio), .ended(.main)], hasAudioRendition: true)
        #expect(beside.errors.isEmpty && beside.kinds == "A")
        #expect(beside.labels == alone.labels && !alone.labels.isEmpty)
    }

    /// A second of sound is a second of picture, whatever shows it.
    @Test func aStillLastsAsLongAsItsAudio() throws {
        let output = TortureOutput(Self.inputs(Self.rows[0].spans))
        // The same key frame again and again is what it is about.
        #expect(output.faults.filter { $0 != "pictures twice or out of order" }.isEmpty, "\(output.faults)")
        let still = output.segments[3..<6]
        #expect(still.allSatisfy { $0.video.allSatisfy(\.isSync) })
        let ends = still.map { ($0.video.first?.presentation ?? 0, $0.video.reduce(0) { $0 + $1.duration }) }
        let lengths = ends.map(\.1)
        #expect(lengths.allSatisfy { abs($0 - 180_000) <= 1920 }, "\(lengths)")
        #expect(output.counts.stillFrames == still.reduce(0) { $0 + $1.video.count })
    }

    /// After sound alone both clocks go on: the picture that follows is placed behind it.
    @Test func aRestartKeepsBothClocksForward() throws {
        let pictures = AudioOnlyOutput(Self.inputs([SourceInterval(serial: 1, clock: 900_000)]))
        let radio = AudioOnlyOutput(
            Self.inputs([SourceInterval(serial: 2, clock: 126_000, hasPictures: false)]), position: pictures.position)
        let back = AudioOnlyOutput(Self.inputs([SourceInterval(serial: 3, clock: 900_000)]), position: radio.position)
        #expect(radio.faults.isEmpty && back.faults.isEmpty)
        let positions = [pictures.position, radio.position, back.position]
        let video = positions.compactMap(\.videoDecodeTime)
        #expect(video.count == 3 && zip(video, video.dropFirst()).allSatisfy { $1 - $0 >= 530_000 }, "\(video)")
        let sound = positions.compactMap(\.audioDecodeTime)
        #expect(sound.count == 3 && zip(sound, sound.dropFirst()).allSatisfy { $1 - $0 >= 83_000_000 }, "\(sound)")
        #expect(radio.segments.allSatisfy { $0.trackIDs == [TrackID.audio] })
    }
}

extension AudioOnlyOutput {
    fileprivate var kinds: String {
        segments.map { $0.trackIDs.count == 2 ? "V" : "A" }.reduce("") { $0.hasSuffix($1) ? $0 : $0 + $1 }
    }
}
