import Testing

@testable import Playlist

private func uris(
    _ text: String, url: String = "", imported: [VariableDefinition] = []
) throws(PlaylistError) -> [String] {
    try MediaPlaylistParser.parse(Array("#EXTM3U\n\(text)".utf8), url: url, imported: imported)
        .segments.map { $0.uri }
}

private let token = [VariableDefinition(name: "token", value: "abc")]

private let rows: [(when: String, text: String, uri: String)] = [
    ("defined here", "#EXT-X-DEFINE:NAME=\"h\",VALUE=\"http://cdn\"\n#EXTINF:6,\n{$h}/a.ts", "http://cdn/a.ts"),
    ("twice in one line", "#EXT-X-DEFINE:NAME=\"x\",VALUE=\"1\"\n#EXTINF:6,\n{$x}-{$x}.ts", "1-1.ts"),
    ("imported from the multivariant playlist", "#EXT-X-DEFINE:IMPORT=\"token\"\n#EXTINF:6,\na?t={$token}", "a?t=abc"),
    ("from the query of the URL", "#EXT-X-DEFINE:QUERYPARAM=\"q\"\n#EXTINF:6,\na?t={$q}", "a?t=x%2Fy"),
    ("a value is not read again", "#EXT-X-DEFINE:NAME=\"a\",VALUE=\"{$a}\"\n#EXTINF:6,\n{$a}", "{$a}"),
    (
        "braces that are no reference", "#EXT-X-DEFINE:NAME=\"a\",VALUE=\"1\"\n#EXTINF:6,\n{a}{$}{$b c}{{$a}}{",
        "{a}{$}{$b c}{1}{"
    ),
    ("nothing is defined: braces are text", "#EXTINF:6,\n{$a}", "{$a}"),
]

@Test(arguments: rows)
func variablesInURIs(when: String, text: String, uri: String) throws {
    #expect(try uris(text, url: "http://h/p.m3u8?q=x%2Fy", imported: token) == [uri], "\(when)")
}

@Test func variablesInAttributes() throws {
    let text = """
        #EXTM3U
        #EXT-X-DEFINE:NAME="k",VALUE="https://keys/7"
        #EXT-X-KEY:METHOD=AES-128,URI="{$k}"
        #EXTINF:6,
        a
        """
    let read = try MediaPlaylistParser.parse(Array(text.utf8))
    #expect(read.segments.first?.keys.first?.uri == "https://keys/7")
}

private let errorRows: [(when: String, text: String, reason: PlaylistError.Reason, tag: String, line: Int)] = [
    (
        "a reference to nothing", "#EXT-X-DEFINE:NAME=\"a\",VALUE=\"1\"\n#EXTINF:6,\n{$b}", .undefinedVariable("b"),
        "EXTINF", 4
    ),
    (
        "a reference before its definition",
        "#EXT-X-DEFINE:NAME=\"b\",VALUE=\"1\"\n#EXT-X-MAP:URI=\"{$a}\"\n#EXT-X-DEFINE:NAME=\"a\",VALUE=\"1\"",
        .undefinedVariable("a"), "EXT-X-MAP", 3
    ),
    ("an import of nothing", "#EXT-X-DEFINE:IMPORT=\"b\"", .undefinedVariable("b"), "EXT-X-DEFINE", 2),
    (
        "a parameter that the URL does not have", "#EXT-X-DEFINE:QUERYPARAM=\"b\"", .undefinedVariable("b"),
        "EXT-X-DEFINE", 2
    ),
    (
        "defined twice", "#EXT-X-DEFINE:NAME=\"a\",VALUE=\"1\"\n#EXT-X-DEFINE:NAME=\"a\",VALUE=\"1\"", .duplicate,
        "EXT-X-DEFINE", 3
    ),
    ("a name without value", "#EXT-X-DEFINE:NAME=\"a\"", .missingAttribute("VALUE"), "EXT-X-DEFINE", 2),
    ("nothing defined", "#EXT-X-DEFINE:", .missingAttribute("NAME"), "EXT-X-DEFINE", 2),
]

@Test(arguments: errorRows)
func variablesWithoutAValue(when: String, text: String, reason: PlaylistError.Reason, tag: String, line: Int) {
    let error = #expect(throws: PlaylistError.self, "\(when)") { _ = try uris(text, imported: token) }
    #expect(error?.reason == reason, "\(when)")
    #expect(error?.tag == tag, "\(when)")
    #expect(error?.line == line, "\(when)")
}
