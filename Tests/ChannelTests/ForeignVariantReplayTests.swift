import Foundation
import LiveRing
import Playlist
import TestSupport
import Testing

@testable import Channel
@testable import Demux
@testable import Fetch
@testable import Media
@testable import Splice
@testable import Support
@testable import Tracker

/// A channel whose best variant turns out to have video that cannot be republished, from its first segment to the spool.
@Suite struct ForeignVariantReplayTests {
    private static let url = "http://channel.example/main.m3u8"

    /// The bodies of a variant with VC-1 beside audio, which is sound alone for us.
    private static var foreign: [[UInt8]] {
        (0..<3).map { segment in
            var builder = TransportStreamBuilder()
            builder.tables([.init(pid: 0x100, type: 0xEA), .init(pid: 0x101, type: 0x0F)])
            let frame: [UInt8] =
                [0xFF, 0xF1, 0x4C, 0x80, 0x02, 0x1F, 0xFC] + [0x21, 0x10, 0x04, 0x60, 0x8C, 0x1C, 0, 0, 0]
            for index in 0..<94 {
                builder.pes(pid: 0x101, streamID: 0xC0, pts: Int64(segment * 94 + index) * 1920, frame)
            }
            return builder.cut()
        }
    }

    static let rows: [(when: String, variants: [String], refused: [String]?, hasVideo: Bool)] = [
        ("the best is foreign", ["vc1", "avc"], ["1280x720 5000000"], true),
        ("two are", ["vc1", "vc1-low", "avc"], ["1280x720 5000000", "1280x720 4000000"], true),
        ("the best is not", ["avc", "vc1"], nil, true),
        ("there is no other", ["vc1"], nil, false),
    ]

    @Test(arguments: rows.indices) func nextVariantIsPublished(row: Int) async throws {
        let row = Self.rows[row]
        let bodies = ["vc1": Self.foreign, "vc1-low": Self.foreign, "avc": try CaptureFixture.clean.bodies("clean")]
        let spool = FileManager.default.temporaryDirectory.appending(path: "liverelay-test-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: spool) }
        let configuration = RelayConfiguration(
            upstream: Self.url, giveUp: nil, spool: spool.path,
            retention: RetentionPolicy(rewind: nil, freeReserve: 0))
        let state = ChannelState(upstream: Self.url) { .zero }
        var relay = Relay(configuration, state: state, wallClock: { 0 })
        var driver = ReplayDriver(session: ChannelSession(upstream: Self.url, policy: configuration.policy))
        let end = try await driver.run(until: .seconds(120)) { request, _ in
            (Self.answer(request, row.variants, bodies), .milliseconds(20))
        } perform: { output, now in
            try await relay.perform(output, at: now)
        }
        try relay.recordEnd(try #require(end))
        #expect(state.status.upstream.refusedVariants == row.refused, "\(row.when)")
        let entries = try #require(state.snapshot).index.listed
        #expect(entries.allSatisfy { ($0.format.videoCodec != nil) == row.hasVideo && !$0.isGap }, "\(row.when)")
        #expect(entries.count >= 3, "\(row.when)")
    }

    private static func answer(
        _ request: FetchRequest, _ variants: [String], _ bodies: [String: [[UInt8]]]
    ) -> FetchOutcome {
        let names = request.url.split(separator: "/").suffix(2).map(String.init)
        let text: String
        if request.url == url {
            text =
                "#EXTM3U\n"
                + variants.enumerated().map { index, name in
                    "#EXT-X-STREAM-INF:BANDWIDTH=\(5_000_000 - index * 1_000_000),RESOLUTION=1280x720\n\(name)/list.m3u8\n"
                }.joined()
        } else if names[1] == "list.m3u8" {
            let lines = (bodies[names[0]] ?? []).indices.map { "#EXTINF:6,\n\($0).ts\n" }.joined()
            text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n\(lines)#EXT-X-ENDLIST\n"
        } else {
            let body = Int(names[1].dropLast(3)).flatMap { bodies[names[0]]?[$0] }
            return .success(FetchAnswer(status: body == nil ? 404 : 200, finalURL: request.url, body: body ?? []))
        }
        return .success(FetchAnswer(status: 200, finalURL: request.url, body: Array(text.utf8)))
    }
}
