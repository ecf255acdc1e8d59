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
        let tracks = try #require(AudioTrackChoice(row.choice))
        var locator = PlaylistLocator(upstream: Self.base, .init(variant: .highest, audioTracks: tracks))
        let url = { (name: String) in "http://origin.example/\(name).m3u8" }
        let urls = try locator.update(from: Self.master(row.languages), base: Self.base)
        #expect(urls.audio == row.audio.map(url))
        #expect(urls.furtherAudio == row.further.map(url))
        let uninvited = row.choice == "all" ? max(0, row.languages.count - 9) : 0
        #expect(locator.omittedAudioCount == uninvited)
        // A later playlist changes their URLs and not their order; one that it does not list has none.
        let later = Array(row.languages.reversed().dropLast(row.languages.count > 1 ? 1 : 0))
        let moved = try locator.update(from: Self.master(later, prefix: "b"), base: Self.base)
        let expected = row.further.map { name in
            later.contains(String(name.dropFirst(2))) ? url("b" + name.dropFirst()) : nil
        }
        #expect(moved.furtherAudio == expected)
    }

    /// Playlists one after the other: names with languages. The further tracks are those of the first one.
    private static let renamed: [(when: String, first: [String], later: [String], further: [String?])] = [
        ("another name", ["A en", "B de"], ["A en", "Deutsch de"], ["Deutsch"]),
        ("gone", ["A en", "B de"], ["A en"], [nil]),
        ("another language", ["A en", "B de"], ["A en", "B fr"], [nil]),
        ("two of one language, one is renamed", ["A en", "B de", "C de"], ["A en", "B de", "D de"], ["B", "D"]),
        ("two of one language, both are renamed", ["A en", "B de", "C de"], ["A en", "D de", "E de"], [nil, nil]),
        ("the names change places", ["A en", "B de", "C fr"], ["A en", "C de", "B fr"], ["C", "B"]),
    ]

    @Test(arguments: renamed.indices)
    func renamedRendition(_ index: Int) throws {
        let row = Self.renamed[index]
        let master = { (names: [String]) in
            let media = names.enumerated().map { index, text in
                let parts = text.split(separator: " ")
                return "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"\(parts[0])\",LANGUAGE=\"\(parts[1])\","
                    + "DEFAULT=\(index == 0 ? "YES" : "NO"),URI=\"\(parts[0]).m3u8\""
            }
            let lines = ["#EXTM3U"] + media + ["#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"a\"", "v.m3u8"]
            return try MultivariantPlaylistParser.parse(Array(lines.joined(separator: "\n").utf8))
        }
        var locator = PlaylistLocator(upstream: Self.base, .init(variant: .highest, audioTracks: .all))
        _ = try locator.update(from: master(row.first), base: Self.base)
        let later = try locator.update(from: master(row.later), base: Self.base)
        #expect(
            later.furtherAudio == row.further.map { $0.map { "http://origin.example/\($0).m3u8" } }, "\(row.when)")
    }
}
