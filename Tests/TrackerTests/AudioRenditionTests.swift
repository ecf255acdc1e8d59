import Fetch
import Playlist
import Testing

@testable import Media
@testable import Tracker

/// The audio renditions that are followed beside that of the variant.
struct AudioRenditionTests {
    private static let base = "http://origin.example/master.m3u8"

    private static func master(_ languages: [String], prefix: String = "a") throws -> MultivariantPlaylist {
        let renditions = languages.map { language in
            let uri = language == "mux" ? "" : ",URI=\"\(prefix)-\(language).m3u8\""
            let isDefault = language == "en" || language == "mux" ? ",DEFAULT=YES" : ""
            return
                "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"\(language)\",LANGUAGE=\"\(language)\"\(isDefault)\(uri)"
        }
        let lines = ["#EXTM3U"] + renditions + ["#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"a\"", "v.m3u8"]
        return try MultivariantPlaylistParser.parse(Array(lines.joined(separator: "\n").utf8))
    }

    private static let rows: [(choice: String, languages: [String], audio: String?, further: [String])] = [
        ("all", ["en", "de", "fr"], "a-en", ["a-de", "a-fr"]), ("default", ["en", "de", "fr"], "a-en", []),
        ("fr,de", ["en", "de", "fr"], "a-fr", ["a-de"]), ("es", ["en", "de"], "a-en", []),
        ("all", ["mux", "de"], nil, ["a-de"]), ("all", ["en"], "a-en", []), ("all", [], nil, []),
        (
            "all",
            (0..<60).map {
                "q\(String(UnicodeScalar(UInt8(97 + $0 % 20))))\(String(UnicodeScalar(UInt8(97 + $0 / 20))))"
            }, "a-qaa",
            (1...8).map { "a-q\(String(UnicodeScalar(UInt8(97 + $0))))a" }
        ),
    ]

    @Test(arguments: rows.indices)
    func renditions(_ index: Int) throws {
        let row = Self.rows[index]
        var locator = PlaylistLocator(
            upstream: Self.base, choice: .highest, maxSubtitles: 8, followsAudio: true,
            audioTracks: try #require(AudioTrackChoice(row.choice)))
        let url = { (name: String) in "http://origin.example/\(name).m3u8" }
        let urls = try locator.update(from: Self.master(row.languages), base: Self.base)
        #expect(urls.audio == row.audio.map(url))
        #expect(urls.furtherAudio == row.further.map(url))
        // A later playlist changes their URLs and not their order; one that it does not list has none.
        let later = Array(row.languages.reversed().dropLast(row.languages.count > 1 ? 1 : 0))
        let moved = try locator.update(from: Self.master(later, prefix: "b"), base: Self.base)
        let expected = row.further.map { name in
            later.contains(String(name.dropFirst(2))) ? url("b" + name.dropFirst()) : nil
        }
        #expect(moved.furtherAudio == expected)
    }
}
