import Testing

@testable import Playlist

private func master(_ text: String) throws(PlaylistError) -> MultivariantPlaylist {
    try MultivariantPlaylistParser.parse(Array("#EXTM3U\n\(text)".utf8))
}

@Test func everyAttributeHasItsField() throws {
    let read = try master(
        """
        #EXT-X-VERSION:7
        #EXT-X-INDEPENDENT-SEGMENTS
        #EXT-X-DEFINE:NAME="host",VALUE="http://cdn"
        #EXT-X-START:TIME-OFFSET=0
        #EXT-X-CONTENT-STEERING:SERVER-URI="/s"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Deutsch",LANGUAGE="de",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="2",URI="{$host}/de"
        #EXT-X-STREAM-INF:AVERAGE-BANDWIDTH=900,CODECS="avc1.4d401f, mp4a.40.2,BANDWIDTH=99",BANDWIDTH=1000,RESOLUTION=1280x720,FRAME-RATE=29.970,AUDIO="a",VIDEO="v",SUBTITLES="s"

        {$host}/720
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=100,URI="i"
        #EXT-X-SESSION-DATA:DATA-ID="d",VALUE="x"
        #EXT-X-SESSION-KEY:METHOD=AES-128,URI="k"
        #EXT-X-OURS:1
        """)
    #expect(read.hasIndependentSegments)
    #expect(read.variables == [VariableDefinition(name: "host", value: "http://cdn")])
    let variant = try #require(read.variants.first)
    #expect(variant.uri == "http://cdn/720")
    #expect(variant.bandwidth == 1000)
    #expect(variant.averageBandwidth == 900)
    #expect(variant.codecs == ["avc1.4d401f", "mp4a.40.2", "BANDWIDTH=99"])
    #expect(variant.resolution == Variant.Resolution(width: 1280, height: 720))
    #expect(variant.frameRate == "29.970")
    #expect([variant.audio, variant.subtitles] == ["a", "s"])
    let rendition = try #require(read.renditions.first)
    #expect(rendition.type == .audio)
    #expect([rendition.groupID, rendition.name, rendition.language] == ["a", "Deutsch", "de"])
    #expect(rendition.isDefault && rendition.isAutoselect)
    #expect(rendition.uri == "http://cdn/de")
}

@Test func settingPropertyWritesAttribute() {
    var variant = Variant(uri: "v", bandwidth: 1)
    variant.codecs = ["avc1.64001f", "mp4a.40.2"]
    variant.resolution = Variant.Resolution(width: 640, height: 360)
    variant.bandwidth = 2
    variant.audio = "a"
    #expect(variant.attributes.text == #"BANDWIDTH=2,CODECS="avc1.64001f,mp4a.40.2",RESOLUTION=640x360,AUDIO="a""#)
    var rendition = Rendition(type: .audio, groupID: "a", name: "n")
    rendition.type = .subtitles
    #expect(rendition.attributes.text == #"TYPE=SUBTITLES,GROUP-ID="a",NAME="n""#)
}

private let malformedRows: [(when: String, text: String, reason: PlaylistError.Reason, tag: String, line: Int)] = [
    (
        "a variant without its URI, then another", "\n#EXT-X-STREAM-INF:BANDWIDTH=1\n#EXT-X-STREAM-INF:BANDWIDTH=2\na",
        .missingAttribute("URI"), "EXT-X-STREAM-INF", 3
    ),
    (
        "a variant without its URI at the end", "#EXT-X-STREAM-INF:BANDWIDTH=1", .missingAttribute("URI"),
        "EXT-X-STREAM-INF", 2
    ),
    ("a media playlist", "#EXT-X-STREAM-INF:BANDWIDTH=1\na\n#EXTINF:6,\nb", .misplaced, "EXTINF", 4),
]

@Test(arguments: malformedRows)
func malformedMultivariantPlaylists(when: String, text: String, reason: PlaylistError.Reason, tag: String, line: Int) {
    let error = #expect(throws: PlaylistError.self, "\(when)") { _ = try master(text) }
    #expect(error?.reason == reason, "\(when)")
    #expect(error?.tag == tag, "\(when)")
    #expect(error?.line == line, "\(when)")
}

private let irregularRows: [(when: String, text: String, bandwidth: Int, reasons: [PlaylistError.Reason], line: Int)] =
    [
        ("nothing wrong", "#EXT-X-STREAM-INF:BANDWIDTH=1280000\na", 1_280_000, [], 0),
        ("a URI of no variant", "stray\n#EXT-X-STREAM-INF:BANDWIDTH=1\na", 1, [.missing], 2),
        ("a URI of no variant at the end", "#EXT-X-STREAM-INF:BANDWIDTH=1\na\nstray", 1, [.missing], 4),
        (
            "BANDWIDTH with a fraction", "#EXT-X-STREAM-INF:BANDWIDTH=1280000.0\na", 1_280_000,
            [.badValue("BANDWIDTH=1280000.0")], 2
        ),
        (
            "a BANDWIDTH that is no number", "#EXT-X-STREAM-INF:BANDWIDTH=fast\na", 0, [.badValue("BANDWIDTH=fast")], 2
        ),
        (
            "a tag of media playlists that governs nothing",
            "#EXT-X-PLAYLIST-TYPE:VOD\n#EXT-X-STREAM-INF:BANDWIDTH=1\na", 1, [.misplaced], 2
        ),
        (
            "a tag of the head of media playlists", "#EXT-X-TARGETDURATION:2\n#EXT-X-STREAM-INF:BANDWIDTH=1\na", 1,
            [.misplaced], 2
        ),
        ("a blank before the version", "#EXT-X-VERSION: 10\n#EXT-X-STREAM-INF:BANDWIDTH=1\na", 1, [], 0),
    ]

@Test(arguments: irregularRows)
func irregularMultivariantPlaylistsAreRead(
    when: String, text: String, bandwidth: Int, reasons: [PlaylistError.Reason], line: Int
) throws {
    let read = try master(text)
    #expect(read.variants.map(\.uri) == ["a"], "\(when)")
    #expect(read.variants.map(\.bandwidth) == [bandwidth], "\(when)")
    #expect(read.irregularities.map(\.reason) == reasons, "\(when)")
    #expect(read.irregularities.allSatisfy { $0.line == line }, "\(when)")
}

@Test func unreadableRenditionAffectsNoOther() throws {
    let bad = ["#EXT-X-MEDIA:TYPE=SMELL,GROUP-ID=\"a\",NAME=\"n\"", "#EXT-X-MEDIA:TYPE=AUDIO,NAME=\"n\""]
    let read = try master(bad.joined(separator: "\n") + "\n#EXT-X-STREAM-INF:BANDWIDTH=1\na")
    #expect(read.irregularities.count == bad.count)
    #expect(read.variants.count == 1)
}

private let kindRows: [(when: String, text: String, isMultivariant: Bool)] = [
    ("segments", "#EXT-X-VERSION:3\n#EXTINF:6,\na", false),
    ("variants", "#EXT-X-VERSION:3\n#EXT-X-STREAM-INF:BANDWIDTH=1\na", true),
    (
        "variants between the head and the end of a media playlist",
        "#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:0\n#EXT-X-STREAM-INF:BANDWIDTH=1\na\n#EXT-X-ENDLIST", true
    ),
    ("variants under a tag of media playlists", "#EXT-X-PLAYLIST-TYPE:VOD\n#EXT-X-STREAM-INF:BANDWIDTH=1\na", true),
    ("renditions only", "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"n\"", true),
    ("a playlist that is still empty", "#EXT-X-TARGETDURATION:6", false),
]

@Test(arguments: kindRows)
func firstTagOfOneKindDecides(when: String, text: String, isMultivariant: Bool) throws {
    switch try PlaylistParser.parse(Array("#EXTM3U\n\(text)".utf8)) {
    case .media: #expect(!isMultivariant, "\(when)")
    case .multivariant: #expect(isMultivariant, "\(when)")
    }
}
