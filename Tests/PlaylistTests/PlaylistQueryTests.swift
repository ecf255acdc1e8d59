import TestSupport
import Testing

@testable import Playlist
@testable import Support

/// A line of a playlist, and the same with a query item.
private let rows: [(when: String, line: String, carried: String)] = [
    ("a segment", "seg-1.m4s", "seg-1.m4s?token=a%20b"),
    ("a playlist with a query", "dvr.m3u8?start=1", "dvr.m3u8?start=1&token=a%20b"),
    ("an init section", "#EXT-X-MAP:URI=\"init-a.mp4\"", "#EXT-X-MAP:URI=\"init-a.mp4?token=a%20b\""),
    (
        "subtitles", "#EXT-X-MEDIA:TYPE=SUBTITLES,URI=\"subs-0.m3u8\",NAME=\"URI=\"",
        "#EXT-X-MEDIA:TYPE=SUBTITLES,URI=\"subs-0.m3u8?token=a%20b\",NAME=\"URI=\""
    ),
    ("a rendition without URI", "#EXT-X-MEDIA:TYPE=AUDIO,X-URI=\"x\"", "#EXT-X-MEDIA:TYPE=AUDIO,X-URI=\"x\""),
    (
        "an ad server's list", "#EXT-X-DATERANGE:ID=\"1\",X-ASSET-URI=\"https://ads.example/x\"",
        "#EXT-X-DATERANGE:ID=\"1\",X-ASSET-URI=\"https://ads.example/x\""
    ),
    ("a cue tag", "#EXT-X-CUE-OUT:DURATION=30,URI=\"x\"", "#EXT-X-CUE-OUT:DURATION=30,URI=\"x\""),
    ("a duration", "#EXTINF:2.002,", "#EXTINF:2.002,"),
    ("nothing", "", ""),
]

@Test(arguments: rows) func onlyOurURIsCarryTheQuery(when: String, line: String, carried: String) {
    let text = "#EXTM3U\n\(line)\n#EXT-X-ENDLIST\n"
    let result = PlaylistWriter.adding(query: "token=a%20b", toURIsOf: Array(text.utf8))
    #expect(String(decoding: result, as: UTF8.self) == "#EXTM3U\n\(carried)\n#EXT-X-ENDLIST\n", "\(when)")
}

/// A playlist that is answered at another path leads to the folder of its files.
@Test func urisBeginWithTheFolderOfTheirFiles() {
    let text = "#EXTM3U\n#EXT-X-MAP:URI=\"init-a.mp4\"\n#EXTINF:2,\nseg-1.m4s\n\n#EXT-X-CUE-OUT:URI=\"x\"\n"
    let result = PlaylistWriter.adding(folder: "../../news/", query: "token=x", toURIsOf: Array(text.utf8))
    #expect(
        String(decoding: result, as: UTF8.self)
            == "#EXTM3U\n#EXT-X-MAP:URI=\"../../news/init-a.mp4?token=x\"\n#EXTINF:2,\n../../news/seg-1.m4s?token=x\n"
            + "\n#EXT-X-CUE-OUT:URI=\"x\"\n")
    let plain = PlaylistWriter.adding(folder: "news/", toURIsOf: Array("a.ts\n".utf8))
    #expect(String(decoding: plain, as: UTF8.self) == "news/a.ts\n")
}

/// Whatever is written, only the URIs of segments and init sections differ.
@Test(arguments: 0..<200 as Range<UInt64>) func carriedPlaylistsAreTheSameButForTheirURIs(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let written = Array(PlaylistWriter.write(generator.mediaPlaylist()).utf8)
    let before = try MediaPlaylistParser.parse(written)
    let after = try MediaPlaylistParser.parse(PlaylistWriter.adding(query: "token=x", toURIsOf: written))
    var expected = before
    func carry(_ uri: String) -> String { uri + (uri.contains("?") ? "&" : "?") + "token=x" }
    for index in expected.segments.indices {
        expected.segments[index].uri = carry(expected.segments[index].uri)
        if let map = expected.segments[index].map { expected.segments[index].map?.uri = carry(map.uri) }
    }
    #expect(after == expected)
}

@Test(arguments: [("a-._~Z9", "a-._~Z9"), ("a b&c=d,\"'/+%é", "a%20b%26c%3Dd%2C%22%27%2F%2B%25%C3%A9")])
func encodedTextIsDecodedAgain(text: String, encoded: String) {
    #expect(PercentEncoding.encode(text) == encoded)
    #expect(PercentEncoding.decode(encoded[...]) == text)
}
