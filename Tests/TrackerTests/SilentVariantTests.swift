import Playlist
import Testing

@testable import Fetch
@testable import Support
@testable import Tracker

/// Variants that die while another one of the same upstream goes on.
@Suite struct SilentVariantTests {
    enum Fault: Sendable {
        case playlistGone, segmentsGone, frozen, page, refused
    }

    /// An origin with the variants `hi` and `lo`, of which some have a fault at times, in seconds.
    private static func origin(
        _ variants: [String] = ["hi", "lo"], faults: [String: (Fault, Range<Int>)], dated isDated: Bool = false
    ) -> SessionOrigin {
        var origin = SessionOrigin()
        if isDated { origin.tags = dated() }
        let healthy = origin
        origin.instead = { request, now in
            if request.url.hasSuffix("/main.m3u8") {
                let lines = variants.enumerated().map { index, name in
                    "#EXT-X-STREAM-INF:BANDWIDTH=\(9_000_000 - index * 1_000_000)\n\(name)/list.m3u8\n"
                }
                return text("#EXTM3U\n" + lines.joined(), request)
            }
            guard let name = request.url.split(separator: "/").dropLast().last,
                let (fault, times) = faults[String(name)], times.contains(Int(now.components.seconds))
            else { return nil }
            let isPlaylist = request.url.hasSuffix(".m3u8")
            switch fault {
            case .playlistGone: return isPlaylist ? refused(404, request) : nil
            case .segmentsGone: return isPlaylist ? nil : refused(404, request)
            case .frozen: return isPlaylist ? text(healthy.playlist(at: .seconds(times.lowerBound)), request) : nil
            case .page: return isPlaylist ? text("<html><body>Welcome</body></html>", request) : nil
            case .refused: return failed(.refused, request)
            }
        }
        return origin
    }

    private static func changes(_ simulation: ChannelSimulation) -> [String] {
        simulation.events.compactMap {
            switch $0.event {
            case .variantChanged(let old, let new, let change): "\(old.uri.prefix(2))>\(new.uri.prefix(2)) \(change)"
            case .variantRefused(let variant, _): "\(variant.uri.prefix(2)) refused"
            default: nil
            }
        }
    }

    typealias Row = (
        when: String, faults: [String: (Fault, Range<Int>)], dated: Bool, seconds: Int, changes: [String],
        delivers: String
    )

    static let rows: [Row] = [
        (
            "the playlist is gone", ["hi": (.playlistGone, 20..<999)], false, 60, ["hi>lo silent"],
            "p104 p105 p106 p107 p108 |p109 p110 p111 p112 p113 p114"
        ),
        (
            "the playlist is gone, with dates", ["hi": (.playlistGone, 20..<999)], true, 60, ["hi>lo silent"],
            "p104 p105 p106 p107 p108 |p109 p110 p111 p112 p113 p114"
        ),
        (
            "the segments are gone", ["hi": (.segmentsGone, 20..<999)], false, 60, ["hi>lo silent"],
            "p104 p105 p106 p107 p108 - |p109 p110 p111 p112 p113 p114"
        ),
        (
            "the playlist does not grow", ["hi": (.frozen, 20..<999)], false, 60, ["hi>lo silent"],
            "p104 p105 p106 p107 p108 |p109 p110 p111 p112 p113 p114"
        ),
        (
            "a page is in its place", ["hi": (.page, 20..<999)], false, 60, ["hi>lo silent"],
            "p104 p105 p106 p107 p108 |p109 p110 p111 p112 p113 p114"
        ),
        (
            "it comes back", ["hi": (.playlistGone, 20..<90)], false, 200, ["hi>lo silent", "lo>hi returned"],
            "p104 p105 p106 p107 p108 |p109 p110 p111 p112 p113 p114"
        ),
        (
            "both die", ["hi": (.playlistGone, 20..<999), "lo": (.playlistGone, 20..<80)], false, 120,
            ["hi>lo silent"], "p104 p105 p106 p107 p108"
        ),
        (
            "its host is away from the start", ["hi": (.refused, 0..<999)], false, 30, ["hi refused"],
            "p104 p105 p106 p107 p108 p109"
        ),
        (
            "its segments are gone from the start", ["hi": (.segmentsGone, 0..<999)], false, 40, ["hi>lo silent"],
            "p106 p107 p108 p109 p110 p111"
        ),
    ]

    @Test(arguments: rows.indices) func anotherVariantGoesOn(row: Int) async throws {
        let row = Self.rows[row]
        let origin = Self.origin(faults: row.faults, dated: row.dated)
        let simulation = try await ChannelSimulation(
            ChannelOrigins(primary: origin), seconds: row.seconds, backups: 0, gapTolerance: .beforeGaps)
        #expect(Self.changes(simulation) == row.changes, "\(row.when)")
        #expect(simulation.trace.hasPrefix(row.delivers), "\(row.when): \(simulation.trace)")
        #expect(simulation.end == nil, "\(row.when)")
    }
}
