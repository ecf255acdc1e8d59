import Foundation
import Support
import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Transcode

/// Every capture, demuxed segment by segment, compared with libavformat's output for the joined bytes.
@Suite struct OracleCaptureTests {
    /// Consecutive segments of one program.
    struct CaptureSpan: CustomTestStringConvertible, Sendable {
        let name: String
        let segments: [[UInt8]]

        var testDescription: String { name }
    }

    /// Spans without duplicates: captures share their media.
    static let spans = Result { () throws -> [CaptureSpan] in
        var seen: Set<[[UInt8]]> = []
        return try CaptureFixture.all().flatMap { try spans(of: $0) }.filter { seen.insert($0.segments).inserted }
    }

    @Test func capturesAreRead() throws { #expect(try Self.spans.get().count >= 8) }

    @Test(arguments: try spans.get())
    func agreesWithLibavformat(span: CaptureSpan) throws {
        let expected = try OracleDemuxer.packets(Array(span.segments.joined()))
        let ours = try TransportDemuxer.all(span.segments)
        let video = expected.filter(\.isVideo).map { ComparableFrame(video: $0, codec: .h264) }
        try OracleTests.expectEqual(ours.video.map(ComparableFrame.init), video)
        let audio = expected.filter { !$0.isVideo }.map { ComparableFrame(audio: $0, headerSize: 7) }
        try OracleTests.expectEqual(ours.audio.map(ComparableFrame.init), audio)
        #expect(ours.video.count + ours.audio.count > 40)
        #expect(!ours.video.contains(where: \.isDamaged) && !ours.audio.contains(where: \.isDamaged))
        #expect(ours.counts[.undecodableUnits] == 0)
    }

    /// Splits the files of a capture into spans; a name is a span and a number: `ad1-03.ts`.
    private static func spans(of capture: CaptureFixture) throws -> [CaptureSpan] {
        let names = try FileManager.default.contentsOfDirectory(atPath: capture.file("body").path).sorted()
        var spans: [CaptureSpan] = []
        var last: (prefix: Substring, number: Int)?
        for name in names {
            let parts = name.split(separator: "-")
            guard name.hasSuffix(".ts"), parts.count == 2, let number = Int(parts[1].dropLast(3)) else { continue }
            guard let segment = try clear(name, of: capture) else { continue }
            if let last, last == (parts[0], number - 1), let span = spans.popLast() {
                spans.append(CaptureSpan(name: span.name, segments: span.segments + [segment]))
            } else {
                spans.append(CaptureSpan(name: "\(capture.name) \(name)", segments: [segment]))
            }
            last = (parts[0], number)
        }
        return spans
    }

    /// Returns the clear segment; nil if it is no transport stream.
    private static func clear(_ name: String, of capture: CaptureFixture) throws -> [UInt8]? {
        var bytes = try capture.bytes("body/\(name)")
        if capture == .demuxedAES128 { bytes = try decrypted(bytes, name, of: capture) }
        return try LocatedMedia.find(in: bytes)?.container == .transportStream ? bytes : nil
    }

    /// The first five segments of each rendition have one key and an explicit IV; the others have another key and the
    /// media sequence number as IV.
    private static func decrypted(_ bytes: [UInt8], _ name: String, of capture: CaptureFixture) throws -> [UInt8] {
        let isVideo = name.hasPrefix("video")
        let index = Int(name.dropLast(3).suffix(2)) ?? 0
        let number = (isVideo ? 1000 : 2017) + index
        let text = String(decoding: try capture.bytes("index.json"), as: UTF8.self)
        let vectors = text.matches(of: /IV=0x([0-9a-f]{32})/).map { String($0.1) }
        let explicit = try #require(isVideo ? vectors.first : vectors.first { $0 != vectors.first })
        let sequence = String(number, radix: 16)
        let vector = index < 5 ? explicit : String(repeating: "0", count: 32 - sequence.count) + sequence
        let key = try capture.bytes("body/key-\(index < 5 ? 1 : 2).bin")
        let digits = key.map { String(UInt16($0) + 0x100, radix: 16).suffix(2) }.joined()
        let decipher = ["enc", "-d", "-aes-128-cbc", "-K", digits, "-iv", vector, "-in", "INPUT"]
        return try FragmentTool.run("openssl", decipher, input: bytes, hidesBanner: false).output
    }
}
