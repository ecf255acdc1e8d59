import Testing

@testable import Demux
@testable import Media
@testable import Mux
@testable import Splice
@testable import Transcode

/// A programme, an advertisement whose sound is of another kind, one without sound, and the programme again.
@Suite("Sound over a pod of advertisements")
struct UniformAudioTests {
    private func pod(_ policy: AudioPolicy) throws -> [SplicedSegment] {
        let video = ["-c:v", "libx264", "-preset", "ultrafast", "-g", "25"]
        let programme = try OracleMedia.make(
            video: video, audio: ["-c:a", "aac", "-ar", "48000", "-ac", "2"], seconds: 1, size: "64x64")
        let advertisement = try OracleMedia.make(
            video: video, audio: ["-c:a", "libmp3lame", "-ar", "44100", "-ac", "1"], seconds: 1, size: "96x64")
        let mute = try OracleMedia.make(video: video, audio: nil, seconds: 1, size: "64x96")
        var engine = SpliceEngine(
            .init(hasAudioRendition: false, audio: policy, longestSegment: .seconds(10), wallClock: 0))
        var written: [SplicedSegment] = []
        for (index, stream) in [programme, advertisement, mute, programme].enumerated() {
            written += try engine.handle(
                .segment(
                    SegmentInput(
                        rendition: .main, mediaSequence: UInt64(index), discontinuitySequence: UInt64(index),
                        isDiscontinuous: index > 0, bytes: stream)))
        }
        return try written + engine.handle(.ended(.main))
    }

    /// The decoder's configuration, box and all.
    private func descriptor(_ segment: SplicedSegment) -> [UInt8]? {
        let bytes = segment.initSection.bytes
        let name = Array("esds".utf8)
        guard let found = bytes.indices.first(where: { bytes[$0...].starts(with: name) }), found >= 4 else {
            return nil
        }
        return Array(bytes[(found - 4)..<min(bytes.count, found - 4 + Int(bytes[found - 1]))])
    }

    @Test("uniform: one configuration in every init section, and sound in every fragment")
    func uniform() throws {
        let segments = try pod(.uniform)
        #expect(Set(segments.map(\.description.index)).count == 4)
        #expect(Set(segments.map(descriptor)).count == 1 && segments.first.flatMap(descriptor) != nil)
        #expect(Set(segments.map(\.description.audioCodec)) == ["mp4a.40.2"])
        try expectUnbroken(segments)
    }

    @Test("copy: each run its own, and silence goes on in the last one's")
    func copied() throws {
        let segments = try pod(.copy)
        let codecs = segments.map { $0.description.audioCodec }
        #expect(codecs == ["mp4a.40.2", "mp4a.6B", "mp4a.6B", "mp4a.40.2"])
        try expectUnbroken(segments)
    }

    @Test("drop: no track of sound")
    func dropped() throws {
        let segments = try pod(.drop)
        #expect(Set(segments.map(\.description.index)).count == 4)
        #expect(segments.allSatisfy { $0.description.audioCodec == nil && descriptor($0) == nil })
    }

    /// The sound's decode time never jumps, and it ends where the picture does, but for what the bridge holds (two
    /// frames) and the demuxer (one) when a run is over, and the next run brings.
    private func expectUnbroken(_ segments: [SplicedSegment]) throws {
        for segment in segments {
            let end = try #require(segment.position.audioDecodeTime)
            let picture = PeriodTimeline.audioTime(segment.position.presentationEnd)
            #expect(
                picture - end < 4 * 301_056 && picture >= end,
                "segment \(segment.mediaSequence): \((picture - end) / 14_112) ms")
        }
    }
}
