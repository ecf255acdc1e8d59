import Support
import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Transcode

/// Streams of every format, cut at any packet: every frame arrives once, complete, with its timestamp.
@Suite struct OracleRecutTests {
    struct Material: CustomTestStringConvertible, Sendable {
        let name: String
        var video: [String]? = OracleMedia.h264
        var audio: [String]? = ["-c:a", "aac"]
        var output: [String] = []

        var testDescription: String { name }
        func stream() throws -> [UInt8] {
            try OracleMedia.make(video: video, audio: audio, seconds: 1, size: "160x96", output: output)
        }
    }

    static let hevc = ["-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=none:keyint=12"]

    static let materials = [
        Material(name: "HEVC and AC-3", video: hevc, audio: ["-c:a", "ac3"]),
        Material(name: "HEVC and MP3 in bounded PES", video: hevc, audio: ["-c:a", "libmp3lame"], output: bounded),
        Material(name: "H.264 and AAC in LATM", output: ["-mpegts_flags", "latm"]),
        Material(name: "H.264 and E-AC-3", audio: ["-c:a", "eac3", "-ac", "6"]),
        Material(
            name: "interlaced H.264 and AAC",
            video: ["-c:v", "libx264", "-preset", "veryfast", "-flags", "+ilme+ildct", "-g", "12"]),
    ]

    private static let bounded = ["-omit_video_pes_length", "0"]

    @Test(arguments: materials)
    func cutsAnywhereChangeNothing(material: Material) throws {
        let stream = try material.stream()
        let whole = try TransportDemuxer.all([stream])
        let video = whole.video.map(ComparableFrame.init)
        #expect(video.count == 25 && whole.audio.count > 15)
        for seed in 0..<10 {
            var random = SeededGenerator(seed: UInt64(seed))
            let cut = try TransportDemuxer.all(Self.cut(stream, random: &random))
            #expect(cut.audio == whole.audio, "seed \(seed)")
            #expect(cut.video.map(ComparableFrame.init) == video, "seed \(seed)")
            #expect(!cut.video.contains(where: \.isDamaged) && !cut.audio.contains(where: \.isDamaged))
        }
    }

    /// A boundary that is clean by chance makes the next one trusted, which may cost one frame once.
    @Test(arguments: materials.prefix(2))
    func boundaryTrustedTooEarlyCostsOneFrame(material: Material) throws {
        let stream = try material.stream()
        let whole = try TransportDemuxer.all([stream])
        let video = whole.video.map(ComparableFrame.init)
        for seed in 100..<115 {
            var random = SeededGenerator(seed: UInt64(seed))
            let cut = try TransportDemuxer.all(Self.cut(stream, cutsFirstFrame: false, random: &random))
            #expect(cut.audio == whole.audio, "seed \(seed)")
            let kept = Set(cut.video.map(ComparableFrame.init))
            let lost = video.filter { !kept.contains($0) }
            #expect(lost.count <= 1, "seed \(seed)")
            #expect(cut.counts[.undecodableUnits] >= lost.count)
        }
    }

    /// - Parameter cutsFirstFrame: whether the first cut is inside the first frame, which shows that boundaries are
    ///   unaligned before they are trusted.
    private static func cut(
        _ stream: [UInt8], cutsFirstFrame: Bool = true, random: inout SeededGenerator
    ) throws -> [[UInt8]] {
        let firstVideoPacket = (3..<stream.count / 188).first { index in
            let packet = TransportPacket(stream, at: index * 188)
            return packet.pid == 0x100 || packet.pid == 0x1011
        }
        let first = cutsFirstFrame ? (try #require(firstVideoPacket) + 1) * 188 : 0
        var segments = cutsFirstFrame ? [Array(stream[..<first])] : []
        var rest = stream[first...]
        while !rest.isEmpty {
            let size = Int.random(in: 5...90, using: &random) * 188
            segments.append(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        return segments
    }
}
