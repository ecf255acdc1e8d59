import Playlist
import Testing

@testable import Fetch
@testable import Support
@testable import Tracker

/// Variants that cannot be followed, although nothing in the multivariant playlist says so.
@Suite struct ForeignVariantTests {
    /// An origin with variants at these names, the best first.
    private static func origin(_ names: [String]) -> SessionOrigin {
        var origin = SessionOrigin()
        origin.instead = { request, _ in
            guard request.url.hasSuffix("/main.m3u8") else { return nil }
            let lines = names.enumerated().map { index, name in
                "#EXT-X-STREAM-INF:BANDWIDTH=\(9_000_000 - index * 1_000_000)\n\(name)/list.m3u8\n"
            }
            return text("#EXTM3U\n" + lines.joined(), request)
        }
        return origin
    }

    /// What downstream says of segments of variants whose names begin with "av1". Without another variant, audio is published.
    private static func outcome(_ delivery: Delivery) -> DeliveryOutcome {
        guard case .segment(let tracked) = delivery.content, tracked.url.contains("/av1"), delivery.variantTrial != nil
        else { return .published }
        return .refused(.foreignVideo(["av01"]))
    }

    private static func refusals(_ simulation: ChannelSimulation) -> [String] {
        simulation.events.compactMap {
            switch $0.event {
            case .variantRefused(let variant, .foreignVideo(let codecs)): "p \(variant.uri) \(codecs.joined())"
            case .variantRefused(let variant, .failed(let error)): "p \(variant.uri) \(error.status ?? 0)"
            case .backup(let source, .variantRefused(let variant, _)): "\(source) \(variant.uri)"
            default: nil
            }
        }
    }

    private static func delivered(_ simulation: ChannelSimulation) -> String {
        simulation.requests.filter { $0.request.purpose == .segment }.last?.request.url ?? "nothing"
    }

    static let rows: [(when: String, variants: [String], refused: [String], follows: String, status: Int)] = [
        ("the best is foreign", ["av1", "avc", "low"], ["p av1/list.m3u8 av01"], "/avc/", 1),
        (
            "two are foreign", ["av1-a", "av1-b", "avc"], ["p av1-a/list.m3u8 av01", "p av1-b/list.m3u8 av01"],
            "/avc/", 2
        ),
        ("the best is not", ["avc", "av1"], [], "/avc/", 0),
        ("there is no other", ["av1"], [], "/av1/", 0),
        (
            "all are foreign", ["av1-a", "av1-b"], ["p av1-a/list.m3u8 av01"], "/av1-b/", 1
        ),
    ]

    @Test(arguments: rows.indices) func nextVariantIsTried(row: Int) async throws {
        let row = Self.rows[row]
        let origins = ChannelOrigins(primary: Self.origin(row.variants))
        let simulation = try await ChannelSimulation(origins, seconds: 40, backups: 0) { delivery, _ in
            Self.outcome(delivery)
        }
        #expect(Self.refusals(simulation) == row.refused, "\(row.when)")
        #expect(Self.delivered(simulation).contains(row.follows), "\(row.when)")
        #expect(simulation.status?.refusedVariants.count == row.status, "\(row.when)")
        #expect(simulation.end == nil && simulation.trace.hasSuffix("p111"), "\(row.when): \(simulation.trace)")
        let loads = simulation.requests.filter { $0.request.purpose == .multivariantPlaylist }
        #expect(loads.count == 1 + row.refused.count && loads.allSatisfy { $0.at < .seconds(1) }, "\(row.when)")
    }

    static let dead: [(when: String, variants: [String], refused: [String], follows: String, end: String?)] = [
        ("the best is not there", ["gone", "avc", "low"], ["p gone/list.m3u8 404"], "/avc/", nil),
        (
            "only the last is there", ["gone-a", "gone-b", "avc"],
            ["p gone-a/list.m3u8 404", "p gone-b/list.m3u8 404"], "/avc/", nil
        ),
        ("the best is a page", ["page", "avc"], ["p page/list.m3u8 0"], "/avc/", nil),
        ("the best is protected", ["drm", "avc"], ["p drm/list.m3u8 0"], "/avc/", nil),
        ("none is there", ["gone-a", "gone-b"], ["p gone-a/list.m3u8 404"], "nothing", "404"),
        ("the best is not there yet", ["busy", "avc"], ["p busy/list.m3u8 503"], "/avc/", nil),
    ]

    @Test(arguments: dead.indices) func nextVariantIsTriedForADeadOne(row: Int) async throws {
        let row = Self.dead[row]
        var origin = Self.origin(row.variants)
        let master = origin.instead
        origin.instead = { request, now in
            switch request.url.split(separator: "/").dropLast().last?.prefix(4) {
            case "gone": refused(404, request)
            case "busy": refused(503, request)
            case "page": text("<html><body>Welcome</body></html>", request)
            case "drm":
                text(
                    """
                    #EXTM3U
                    #EXT-X-TARGETDURATION:2
                    #EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://1",KEYFORMAT="com.apple.streamingkeydelivery"
                    #EXTINF:2,
                    a.ts

                    """, request)
            default: master(request, now)
            }
        }
        let simulation = try await ChannelSimulation(ChannelOrigins(primary: origin), seconds: 40, backups: 0) { _, _ in
            .published
        }
        #expect(Self.refusals(simulation) == row.refused, "\(row.when)")
        #expect(Self.delivered(simulation).contains(row.follows), "\(row.when)")
        #expect(simulation.end.map { "\($0)" }?.contains(row.end ?? "-") ?? (row.end == nil), "\(row.when)")
    }

    /// A variant that was published is not left because an ad in it is foreign.
    @Test func aForeignAdChangesNoVariant() async throws {
        let origins = ChannelOrigins(primary: Self.origin(["avc", "low"]))
        let simulation = try await ChannelSimulation(origins, seconds: 40, backups: 0) { delivery, now in
            delivery.variantTrial != nil && now > .seconds(5) ? .refused(.foreignVideo(["av01"])) : .published
        }
        #expect(Self.refusals(simulation).isEmpty && Self.delivered(simulation).contains("/avc/"))
    }

    @Test func aBackupOnTrialTriesItsNextVariant() async throws {
        var origins = ChannelOrigins(backupA: Self.origin(["av1", "avc"]))
        origins.primary.instead = down(8..<1000)
        let simulation = try await ChannelSimulation(origins, seconds: 80, backups: 1) { delivery, _ in
            Self.outcome(delivery)
        }
        #expect(Self.refusals(simulation) == ["1 av1/list.m3u8"])
        #expect(simulation.switches == [1] && Self.delivered(simulation).contains("/avc/"))
    }
}
