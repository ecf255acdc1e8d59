import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

/// Plays a program, an ad with another audio codec, an ad without audio, and the program again.
@Suite("Audio over an ad pod")
struct UniformAudioTests {
    private func pod(_ policy: AudioPolicy) throws -> [SplicedSegment] {
        let video = ["-c:v", "libx264", "-preset", "ultrafast", "-g", "25"]
        let program = try OracleMedia.make(
            video: video, audio: ["-c:a", "aac", "-ar", "48000", "-ac", "2"], seconds: 1, size: "64x64")
        let ad = try OracleMedia.make(
            video: video, audio: ["-c:a", "libmp3lame", "-ar", "44100", "-ac", "1"], seconds: 1, size: "96x64")
        let adWithoutAudio = try OracleMedia.make(video: video, audio: nil, seconds: 1, size: "64x96")
        var engine = SpliceEngine(
            .init(hasAudioRendition: false, audio: policy, longestSegment: .seconds(10), wallClock: 0))
        var written: [SplicedSegment] = []
        for (index, stream) in [program, ad, adWithoutAudio, program].enumerated() {
            written += try engine.handle(
                .segment(
                    SegmentInput(
                        rendition: .main, mediaSequence: UInt64(index), discontinuitySequence: UInt64(index),
                        isDiscontinuous: index > 0, bytes: stream)))
        }
        return try written + engine.handle(.ended(.main))
    }

    /// Returns the `esds` box with its header.
    private func descriptor(_ segment: SplicedSegment) -> [UInt8]? {
        let bytes = segment.initSection.bytes
        let name = Array("esds".utf8)
        guard let found = bytes.indices.first(where: { bytes[$0...].starts(with: name) }), found >= 4 else {
            return nil
        }
        return Array(bytes[(found - 4)..<min(bytes.count, found - 4 + Int(bytes[found - 1]))])
    }

    @Test("uniform: one configuration in all init sections and audio in every fragment")
    func uniformHasOneConfiguration() throws {
        let segments = try pod(.uniform)
        #expect(Set(segments.map(\.description.index)).count == 4)
        #expect(Set(segments.map(descriptor)).count == 1 && segments.first.flatMap(descriptor) != nil)
        #expect(Set(segments.map(\.description.audioCodec)) == ["mp4a.40.2"])
        try expectContinuousAudio(segments)
    }

    @Test("copy: a channel of AAC keeps its codec, each period has its own format, and silence keeps the last one")
    func copyKeepsTheCodec() throws {
        let segments = try pod(.copy)
        #expect(Set(segments.map(\.description.audioCodec)) == ["mp4a.40.2"])
        let audio = segments.map(\.position.audio)
        #expect(audio[0] == audio[3] && audio[0] != audio[1] && audio[1] == audio[2])
        try expectContinuousAudio(segments)
    }

    @Test("drop: no audio track")
    func dropHasNoAudioTrack() throws {
        let segments = try pod(.drop)
        #expect(Set(segments.map(\.description.index)).count == 4)
        #expect(segments.allSatisfy { $0.description.audioCodec == nil && descriptor($0) == nil })
    }

    /// Expects that the audio's decode time is continuous and ends with the video.
    ///
    /// At the end of a period up to two frames in the transcoder and one in the demuxer may be missing. They belong to the
    /// next period.
    private func expectContinuousAudio(_ segments: [SplicedSegment]) throws {
        for segment in segments {
            let end = try #require(segment.position.audioDecodeTime)
            let videoEnd = PeriodTimeline.audioTime(segment.position.presentationEnd)
            #expect(
                videoEnd - end < 4 * 301_056 && videoEnd >= end,
                "segment \(segment.mediaSequence): \((videoEnd - end) / 14_112) ms")
        }
    }
}
