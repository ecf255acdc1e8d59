import Testing

@testable import Playlist

struct LadderChoiceTests {
    @Test func textIsReadBack() {
        for text in ["max", "all", "720", "1080,720,480"] { #expect(LadderChoice(text)?.text == text) }
        #expect(LadderChoice("720p,480p")?.text == "720,480")
        for text in ["", "min", "720,", ",720", "all,720", "900000", "-5", "a"] {
            #expect(LadderChoice(text) == nil, "\(text)")
        }
    }

    private static func variant(_ text: String) throws -> [String] {
        let fields = text.split(separator: " ")
        let size = fields[1] == "audio" ? "CODECS=\"mp4a.40.2\"" : "RESOLUTION=\(fields[1])"
        let more = fields.dropFirst(3).map { ",\($0)" }.joined()
        return ["#EXT-X-STREAM-INF:BANDWIDTH=\(fields[2]),\(size)\(more)", String(fields[0])]
    }

    /// Each variant is a URI, a size, a bandwidth, and further attributes.
    private static let ladder = ["a 1920x1080 5000", "b 1280x720 3000", "c 854x480 1000", "d audio 60"]
    private static let rows: [(String, String, VariantChoice, [String], [String], [String])] =
        [
            ("one", "max", .highest, ladder, ["a"], []),
            ("all, without what has audio alone", "all", .highest, ladder, ["a"], ["b", "c"]),
            ("all, and another one leads", "all", .height(480), ladder, ["c"], ["a", "b"]),
            ("heights", "720,480", .highest, ladder, ["b"], ["c"]),
            ("heights that are not there: the nearest", "900,500,400", .highest, ladder, ["b"], ["c"]),
            ("a height that two variants have", "720", .highest, ladder + ["e 1280x720 2000"], ["b"], []),
            (
                "redundant variants are backups", "all", .highest,
                ["a 1920x1080 5000", "b 1280x720 3000", "x/a 1920x1080 5000", "x/b 1280x720 3000"], ["a", "x/a"],
                ["b"]
            ),
            (
                "a video with several audio groups is one", "all", .highest,
                ["a 1920x1080 5000 AUDIO=\"x\"", "b 1280x720 3000 AUDIO=\"x\"", "a 1920x1080 5400 AUDIO=\"y\""],
                ["a"], ["b"]
            ),
            (
                "codecs that are not republished", "all", .highest,
                ["a 1920x1080 5000 CODECS=\"av01.0.04M.08\"", "b 1280x720 3000 CODECS=\"avc1.64001f\"", ladder[2]],
                ["b"], ["c"]
            ),
            ("audio alone", "all", .highest, ["d audio 60", "e audio 120"], ["e"], []),
            ("nothing", "all", .highest, [], [], []),
        ]

    @Test(arguments: rows.indices)
    func variants(_ index: Int) throws {
        let (when, text, leader, variants, leadingURIs, furtherURIs) = Self.rows[index]
        let lines = try ["#EXTM3U"] + variants.flatMap { try Self.variant($0) }
        let playlist = try MultivariantPlaylistParser.parse(Array(lines.joined(separator: "\n").utf8))
        let choice = try #require(LadderChoice(text))
        let leading = choice.leading(leader, of: playlist)
        #expect(leading.map(\.uri) == leadingURIs, "\(when)")
        #expect(choice.further(than: leading, in: playlist).map(\.uri) == furtherURIs, "\(when)")
    }
}
