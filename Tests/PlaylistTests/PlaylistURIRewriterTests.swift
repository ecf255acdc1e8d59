import Testing

@testable import Playlist
@testable import Support

/// A playlist, and its text after every URL lost its query.
private let rows: [(when: String, text: String, rewritten: String)] = [
    ("no playlist", "<html>\na.ts?x\n", "<html>\na.ts?x\n"),
    ("nothing to do", "#EXTM3U\n#EXTINF:2,\na.ts\n", "#EXTM3U\n#EXTINF:2,\na.ts\n"),
    ("a segment", "#EXTM3U\n#EXTINF:2,a?b\na.ts?x=1\n", "#EXTM3U\n#EXTINF:2,a?b\na.ts\n"),
    ("CRLF, blanks, a byte order mark", "\u{FEFF}#EXTM3U\r\n  a.ts?x \r\n\r\n", "\u{FEFF}#EXTM3U\r\n  a.ts \r\n\r\n"),
    (
        "control characters", "#EXTM3U\n\u{7}#EXTINF:2,\n\u{1}a\u{2}.ts?x\u{3}\nb\u{4}.ts\n",
        "#EXTM3U\n\u{7}#EXTINF:2,\na.ts\nb\u{4}.ts\n"
    ),
    ("cut off", "#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=\"k?x", "#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=\"k?x"),
    (
        "a key", "#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=\"k?x\",IV=0x1\n",
        "#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x1\n"
    ),
    ("a map", "#EXTM3U\n#EXT-X-MAP:URI=\"m?x\",BYTERANGE=\"1@0\"", "#EXTM3U\n#EXT-X-MAP:URI=\"m\",BYTERANGE=\"1@0\""),
    (
        "a URL that players never fetch", "#EXTM3U\n#EXT-X-DATERANGE:ID=\"a?b\",X-ASSET-URI=\"HTTPS://h/a?x\"\n",
        "#EXTM3U\n#EXT-X-DATERANGE:ID=\"a?b\",X-ASSET-URI=\"HTTPS://h/a\"\n"
    ),
    (
        "other attribute names of URLs",
        "#EXTM3U\n#EXT-X-DATERANGE:ID=\"a\",X-ASSET-LIST=\"/l?t=x\",X-LIMIT=\"a?b\"\n#EXT-X-CONTENT-STEERING:SERVER-URI=\"/s?t=x\"\n",
        "#EXTM3U\n#EXT-X-DATERANGE:ID=\"a\",X-ASSET-LIST=\"/l\",X-LIMIT=\"a?b\"\n#EXT-X-CONTENT-STEERING:SERVER-URI=\"/s\"\n"
    ),
    (
        "a URL without quotes", "#EXTM3U\n#EXT-X-VENDOR:https://h/a?t=x,y\n#EXT-X-V:A=1,B=Http://h/b?t c=1\n",
        "#EXTM3U\n#EXT-X-VENDOR:https://h/a\n#EXT-X-V:A=1,B=Http://h/b c=1\n"
    ),
    (
        "URLs in a text",
        "#EXTM3U\n#EXT-X-V:A=\"see http://h/a?t and 'https://h/b?t'\"\n#EXTINF:2,http://h/?t\na.ts",
        "#EXTM3U\n#EXT-X-V:A=\"see http://h/a and 'https://h/b'\"\n#EXTINF:2,http://h/\na.ts"
    ),
    ("a URL in a comment", "#EXTM3U\n# of http://h/a?t today\n", "#EXTM3U\n# of http://h/a today\n"),
    (
        "other text", "#EXTM3U\n# URI=what?\n#EXT-X-SESSION-DATA:VALUE=\"why?\"\n",
        "#EXTM3U\n# URI=what?\n#EXT-X-SESSION-DATA:VALUE=\"why?\"\n"
    ),
    (
        "variables in a URL",
        "#EXTM3U\n#EXT-X-DEFINE:NAME=\"t\",VALUE=\"?s\"\n#EXT-X-DEFINE:IMPORT=\"i\"\n#EXTINF:2,\na.ts{$t}\n{$i}.ts\n",
        "#EXTM3U\n#EXT-X-DEFINE:NAME=\"t\",VALUE=\"?s\"\n#EXT-X-DEFINE:IMPORT=\"i\"\n#EXTINF:2,\na.ts\n{$i}.ts\n"
    ),
]

private func withoutQuery(_ text: String, redactsText: Bool = false) -> String {
    let imported = [VariableDefinition(name: "i", value: "imported")]
    let rewritten = PlaylistURIRewriter.rewrite(
        Array(text.utf8), url: "http://h/p?q=secret", imported: imported, redactsText: redactsText
    ) { URIReference.withoutQuery($0) }
    return String(decoding: rewritten.bytes, as: UTF8.self)
}

@Test(arguments: rows) func onlyURLsAreRewritten(when: String, text: String, rewritten: String) {
    #expect(withoutQuery(text) == rewritten, "\(when)")
}

@Test func redactedVariablesAreExpandedInURLs() {
    let text = "#EXTM3U\n#EXT-X-DEFINE:QUERYPARAM=\"q\"\n#EXT-X-DEFINE:IMPORT=\"i\"\n{$i}/a.ts?{$q}\n"
    let redacted = "#EXTM3U\n#EXT-X-DEFINE:NAME=\"q\",VALUE=\"\"\n#EXT-X-DEFINE:IMPORT=\"i\"\nimported/a.ts\n"
    #expect(withoutQuery(text, redactsText: true) == redacted)
}

@Test func redactedTextKeepsTags() {
    let text =
        "#EXTM3U\n# token=x\n#\n#X:y\n#EXT-X-SESSION-DATA:DATA-ID=\"a\",VALUE=\"x\",LANGUAGE=\"en\"\n#EXT-X-CUE-IN\n"
    let redacted = "#EXTM3U\n#\n#\n#\n#EXT-X-SESSION-DATA:DATA-ID=\"a\",VALUE=\"\",LANGUAGE=\"en\"\n#EXT-X-CUE-IN\n"
    #expect(withoutQuery(text, redactsText: true) == redacted)
}

@Test func nonTextBytesAreUnchanged() {
    let bytes = Array("#EXTM3U\n#EXTINF:2,".utf8) + [0xFF, 0xFE, 0x0A, 0x61, 0x3F, 0x62, 0x0A, 0x80]
    let expected = Array("#EXTM3U\n#EXTINF:2,".utf8) + [0xFF, 0xFE, 0x0A, 0x61, 0x0A, 0x80]
    let rewritten = PlaylistURIRewriter.rewrite(bytes, url: "") { URIReference.withoutQuery($0) }
    #expect(rewritten.bytes == expected)
}
