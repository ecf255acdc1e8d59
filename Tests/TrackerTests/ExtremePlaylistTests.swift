@testable import Fetch
import Playlist
import TestSupport
import Testing

@testable import Support
@testable import Tracker

/// Playlists whose numbers are at the ends of their ranges, and beyond them, through a whole session.
struct ExtremePlaylistTests {
    private static let integers = [
        "0", "1", "2147483647", "2147483648", "4294967296", "9999999999", "10000000000", "9223372036854775807",
        "9223372036854775808", "18446744069414584320", "18446744069414584321", "18446744073709551615", "-1", "x",
    ]
    private static let durations = [
        "0", "0.000000000000000001", "0.5", "9999999999", "9999999999.999999999999999999", "10000000000", "-1",
        "-9999999999.999999999999999999",
    ]
    private static let dates = [
        "0000-01-01T00:00:00.000+23:59", "9999-12-31T23:59:60.999-23:59", "2026-02-29T00:00:00Z",
        "2026-11-22T12:00:00Z",
    ]

    /// One line of a playlist with a number, and the line of a good playlist.
    private enum Line: CaseIterable {
        case targetDuration, mediaSequence, discontinuitySequence, extinf, byteRange, map, date, part, skip, control,
            start
        case dateRange, cueOut, bitrate

        func text(_ random: inout SeededGenerator) -> String {
            let integer = ExtremePlaylistTests.integers.randomElement(using: &random) ?? "0"
            let other = ExtremePlaylistTests.integers.randomElement(using: &random) ?? "0"
            let duration = ExtremePlaylistTests.durations.randomElement(using: &random) ?? "0"
            let date = ExtremePlaylistTests.dates.randomElement(using: &random) ?? ""
            return switch self {
            case .targetDuration: "#EXT-X-TARGETDURATION:\(duration)"
            case .mediaSequence: "#EXT-X-MEDIA-SEQUENCE:\(integer)"
            case .discontinuitySequence: "#EXT-X-DISCONTINUITY-SEQUENCE:\(integer)"
            case .extinf: "#EXTINF:\(duration),"
            case .byteRange: "#EXT-X-BYTERANGE:\(integer)@\(other)"
            case .map: "#EXT-X-MAP:URI=\"i\",BYTERANGE=\"\(integer)@\(other)\""
            case .date: "#EXT-X-PROGRAM-DATE-TIME:\(date)"
            case .part: "#EXT-X-PART:URI=\"p\",DURATION=\(duration),BYTERANGE=\"\(integer)@\(other)\""
            case .skip: "#EXT-X-SKIP:SKIPPED-SEGMENTS=\(integer)"
            case .control:
                "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL=\(duration),HOLD-BACK=\(duration)"
            case .start: "#EXT-X-START:TIME-OFFSET=\(duration)"
            case .dateRange: "#EXT-X-DATERANGE:ID=\"\(other)\",START-DATE=\"\(date)\",DURATION=\(duration)"
            case .cueOut: "#EXT-X-CUE-OUT:\(duration)"
            case .bitrate: "#EXT-X-BITRATE:\(integer)"
            }
        }

        var isSegment: Bool { [.extinf, .byteRange, .date, .part, .dateRange, .cueOut].contains(self) }
    }

    /// A playlist in which some kinds of lines are extreme. It grows by a segment at each load.
    private static func playlist(
        _ lines: Set<Line>, load: Int, count: Int, _ random: inout SeededGenerator
    ) -> String {
        var text = "#EXTM3U\n"
        if !lines.contains(.targetDuration) { text += "#EXT-X-TARGETDURATION:6\n" }
        if !lines.contains(.mediaSequence) { text += "#EXT-X-MEDIA-SEQUENCE:\(load)\n" }
        for line in Line.allCases where lines.contains(line) && !line.isSegment { text += line.text(&random) + "\n" }
        for number in load..<load + count {
            for line in Line.allCases where lines.contains(line) && line.isSegment { text += line.text(&random) + "\n" }
            if !lines.contains(.extinf) { text += "#EXTINF:6,\n" }
            text += "s\(number).ts\n"
        }
        return text
    }

    @Test(arguments: 0..<300 as Range<UInt64>)
    func noNumberOfAPlaylistTraps(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let lines = Set(Line.allCases.filter { _ in UInt64.random(in: 0..<5, using: &random) == 0 })
        let count = Int.random(in: 1...8, using: &random)
        // Some playlists keep their extreme numbers, as an upstream does, and some have others with each load.
        let isFixed = Bool.random(using: &random)
        let fixed = random
        var origin = SessionOrigin()
        let loads = RequestCounter()
        origin.instead = { request, _ in
            guard request.purpose == .mediaPlaylist else { return nil }
            let load = loads.count("playlist")
            var random = isFixed ? fixed : SeededGenerator(seed: seed &* 1000 &+ UInt64(load))
            return text(Self.playlist(lines, load: load, count: count, &random), request)
        }
        var policy = UpstreamSession.Policy(variant: .lowest)
        policy.polling = [.standard, .edge, .blocking].randomElement(using: &random) ?? .edge
        policy.startDate = ProgramDateTime(parsing: Self.dates.randomElement(using: &random) ?? "")
        policy.joinPoint = JoinPoint(
            date: policy.startDate, mediaSequence: [nil, 0, 5, .max].randomElement(using: &random) ?? nil)
        let run = try await SessionRun(origin, seconds: 90, policy: policy)
        #expect(run.requests.count < 2000, "seed \(seed)")
    }
}
