import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

/// The end of a channel: audio that goes on after the last video frame is published with it, and what is not is counted.
@Suite struct ChannelEndingTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let when: String
        var video = 4
        var audio = 8
        /// The longest output segment in seconds.
        var longest: Int64 = 10
        /// Output segments.
        var segments = 1
        /// The playing time, to a tenth of a second.
        var tenths: Int64
        /// Audio frames that are published, if not all.
        var published: Int?
        var reordering = 2

        var testDescription: String { when }
    }

    static let rows = [
        Row(when: "both end together, but for the last audio frame", audio: 4, tenths: 40),
        Row(when: "the audio ends first", video: 4, audio: 3, tenths: 40),
        Row(when: "four more seconds of audio: the last frame stays", tenths: 80),
        Row(when: "the same without reordering", tenths: 80, reordering: 0),
        Row(when: "the last segment would be too long: it is split", longest: 5, segments: 2, tenths: 80),
        Row(when: "the same without reordering", longest: 5, segments: 2, tenths: 80, reordering: 0),
        Row(when: "more than a segment of audio: the rest is counted", audio: 12, longest: 5, segments: 2, tenths: 90),
    ]

    @Test(arguments: rows) func audioAfterTheLastFrame(row: Row) throws {
        let bytes = try media(row)
        var engine = SpliceEngine(
            .init(hasAudioRendition: false, longestSegment: .seconds(row.longest), wallClock: 0))
        var written = try engine.handle(.segment(SegmentInput(rendition: .main, mediaSequence: 0, bytes: bytes)))
        written += try engine.handle(.ended(.main))
        #expect(written.count == row.segments)
        #expect(written.allSatisfy { $0.duration <= .seconds(row.longest) })
        let end = written.reduce(Ticks.zero) { $0 + $1.duration }
        #expect(abs(end.count - row.tenths * 9000) < 9000 / 2 * 3, "\(end)")

        let (video, audio) = try samples(of: written)
        var demuxer = TransportDemuxer()
        let input = try [demuxer.feed(bytes), demuxer.finish()]
        #expect(video.count == input.reduce(0) { $0 + $1.video.count })
        let received = input.reduce(0) { $0 + $1.audio.count }
        let counts = engine.counts
        let dropped = counts[.trimmedAudioFrames] + counts[.overlappingAudioFrames] + counts[.unmatchedAudioFrames]
        #expect(audio.count - counts[.silentAudioFrames] + dropped == received, "nothing is lost without a count")
        #expect(counts[.adjustedTimestamps] == 0)
        if row.audio == row.video || row.longest == 10 || row.audio == 8 {
            #expect(
                dropped <= 1 && counts[.silentAudioFrames] == (row.audio < row.video ? counts[.silentAudioFrames] : 0))
        }
        let audioEnd = PeriodTimeline.ticks(ofAudioTime: audio.reduce(0) { $0 + Int64($1.duration) })
        #expect(audioEnd <= end + Ticks(1), "no audio ends after the video")
    }

    /// A finished playlist of several segments that are published as they come.
    @Test(arguments: [false, true]) func lastSegmentOfSeveral(isFinished: Bool) throws {
        let bodies = try CaptureFixture.clean.bodies("clean-")
        var configuration = SpliceConfiguration(hasAudioRendition: false, longestSegment: .seconds(10), wallClock: 0)
        configuration.isFinished = isFinished
        var engine = SpliceEngine(configuration)
        var written: [SplicedSegment] = []
        for (number, bytes) in bodies.enumerated() {
            let input = SegmentInput(rendition: .main, mediaSequence: UInt64(number), bytes: bytes)
            written += try engine.handle(.segment(input))
        }
        let demuxed = try demux(bodies)
        written += try engine.handle(.ended(.main))
        #expect(written.count == bodies.count, "the cadence is that of the upstream")
        let (video, audio) = try samples(of: written)
        #expect(video.count == demuxed.video)
        let counts = engine.counts
        #expect(
            audio.count + counts[.trimmedAudioFrames] + counts[.overlappingAudioFrames] + counts[.unmatchedAudioFrames]
                == demuxed.audio)
        if isFinished { #expect(counts[.trimmedAudioFrames] == 0) }
    }

    private func demux(_ segments: [[UInt8]]) throws -> (video: Int, audio: Int) {
        var demuxer = TransportDemuxer()
        let outputs = try segments.map { try demuxer.feed($0) } + [demuxer.finish()]
        return (outputs.reduce(0) { $0 + $1.video.count }, outputs.reduce(0) { $0 + $1.audio.count })
    }

    private func samples(
        of segments: [SplicedSegment]
    ) throws -> (video: [TrackFragment.Sample], audio: [TrackFragment.Sample]) {
        let tracks = try segments.map { $0.fragment.header + $0.fragment.payloads.flatMap(\.self) }
            .flatMap { try MovieFragment.fragments(of: $0).flatMap(\.tracks) }
        func samples(_ id: UInt32) -> [TrackFragment.Sample] { tracks.filter { $0.trackID == id }.flatMap(\.samples) }
        return (samples(TrackID.video), samples(TrackID.audio))
    }

    private func media(_ row: Row) throws -> [UInt8] {
        try OracleMedia.run(
            [
                "-nostdin", "-hide_banner", "-loglevel", "error", "-bitexact", "-f", "lavfi", "-i",
                "testsrc2=size=320x180:rate=25:duration=\(row.video)", "-f", "lavfi", "-i",
                "sine=frequency=440:sample_rate=48000:duration=\(row.audio)", "-c:v", "libx264", "-preset", "veryfast",
                "-g", "250", "-bf", "\(row.reordering)", "-c:a", "aac", "-flags", "+bitexact", "-f", "mpegts", "pipe:1",
            ])
    }
}
