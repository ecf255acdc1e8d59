import Testing

@testable import Playlist
@testable import Support

private func range(_ text: String) throws -> DateRange {
    let attributes = try AttributeList(parsing: text, line: 1, tag: "EXT-X-DATERANGE")
    return DateRange(id: attributes["ID"] ?? "", attributes: attributes)
}

private let endRows: [(when: String, text: String, end: String?)] = [
    (
        "an end", #"ID="a",START-DATE="2026-01-02T03:04:05Z",END-DATE="2026-01-02T03:05:05Z""#,
        "2026-01-02T03:05:05.000Z"
    ),
    ("a length", #"ID="a",START-DATE="2026-01-02T03:04:05Z",DURATION=30.5"#, "2026-01-02T03:04:35.500Z"),
    ("only a planned duration", #"ID="a",START-DATE="2026-01-02T03:04:05Z",PLANNED-DURATION=30"#, nil),
    ("an unreadable end", #"ID="a",START-DATE="2026-01-02T03:04:05Z",END-DATE="soon""#, nil),
    ("a length without a start", #"ID="a",DURATION=30"#, nil),
]

@Test(arguments: endRows)
func endOfRange(when: String, text: String, end: String?) throws {
    #expect(try range(text).end?.text == end, "\(when)")
}

@Test func attributesRoundTrip() throws {
    var value = DateRange(id: "b")
    value.startDate = ProgramDateTime(parsing: "2026-01-02T03:04:05.006Z")
    value.plannedDuration = .milliseconds(30_500)
    value[splice: .out] = [0xFC, 0x30, 0x0A]
    #expect(
        value.attributes.text
            == #"ID="b",START-DATE="2026-01-02T03:04:05.006Z",PLANNED-DURATION=30.5,SCTE35-OUT=0xFC300A"#)
    let read = try range(value.attributes.text)
    #expect(read == value && read[splice: .out] == [0xFC, 0x30, 0x0A] && read[splice: .in] == nil)
    value.plannedDuration = nil
    #expect(value.plannedDuration == nil && value.attributes["PLANNED-DURATION"] == nil)
}

private let uriRows: [(when: String, base: String, text: String, absolute: String?)] = [
    (
        "a relative asset", "https://up.example/tv/live/index.m3u8?x=1", #"ID="a",X-ASSET-URI="../ads/1.m3u8?b=2""#,
        #"ID="a",X-ASSET-URI="https://up.example/tv/ads/1.m3u8?b=2""#
    ),
    (
        "a list of assets from the root", "https://up.example/tv/live/index.m3u8",
        #"ID="a",X-ASSET-LIST="/l?t=1",X-N=1"#,
        #"ID="a",X-ASSET-LIST="https://up.example/l?t=1",X-N=1"#
    ),
    (
        "another attribute with a URI", "https://up.example/a/b", #"ID="a",X-AD-URL="c.json",X-LIST="c""#,
        #"ID="a",X-AD-URL="https://up.example/a/c.json",X-LIST="c""#
    ),
    ("an absolute URI", "https://up.example/a/b", #"ID="a",X-ASSET-URI="data:,x""#, #"ID="a",X-ASSET-URI="data:,x""#),
    ("no base", "", #"ID="a",X-ASSET-URI="b.m3u8""#, #"ID="a",X-ASSET-URI="b.m3u8""#),
    (
        "a session in the path", "https://up.example/0123456789abcdef0123456789abcdef/b",
        #"ID="a",CLASS="com.apple.hls.interstitial",X-ASSET-LIST="l""#,
        #"ID="a",CLASS="com.apple.hls.interstitial",X-ASSET-LIST="https://up.example/0123456789abcdef0123456789abcdef/l""#
    ),
    (
        "an asset of the operator's account", "http://up.example/live/anna/secret/12.m3u8",
        #"ID="a",CLASS="com.apple.hls.interstitial",X-ASSET-URI="12/ad.m3u8""#, nil
    ),
    (
        "user information of the operator", "http://anna:secret@up.example/12.m3u8", #"ID="a",X-AD-URL="ad",X-N=1"#,
        #"ID="a",X-N=1"#
    ),
    (
        "a root without the account", "http://up.example/live/anna/secret/12.m3u8",
        #"ID="a",CLASS="com.apple.hls.interstitial",X-ASSET-URI="/ads/1.m3u8""#,
        #"ID="a",CLASS="com.apple.hls.interstitial",X-ASSET-URI="http://up.example/ads/1.m3u8""#
    ),
]

@Test(arguments: uriRows) func urisBecomeAbsolute(when: String, base: String, text: String, absolute: String?) throws {
    #expect(try range(text).resolvingURIs(against: base)?.attributes.text == absolute, "\(when)")
    let playlist = try MediaPlaylistParser.parse(
        Array("#EXTM3U\n#EXT-X-DATERANGE:\(text)\n#EXTINF:6,\ns.ts\n".utf8), url: base)
    #expect(playlist.dateRanges.map(\.attributes.text) == [absolute].compactMap { $0 }, "\(when)")
    #expect(!playlist.irregularities.contains { "\($0)".contains("secret") }, "\(when)")
}

private let interstitialRows: [(when: String, text: String, end: String)] = [
    ("an offset to resume at", "X-RESUME-OFFSET=15.5,DURATION=30", "2026-01-02T03:04:20.500Z"),
    ("a duration", "DURATION=30", "2026-01-02T03:04:35.000Z"),
    ("a planned duration", "PLANNED-DURATION=20", "2026-01-02T03:04:25.000Z"),
    ("neither", "X-N=1", "2026-01-02T03:04:05.000Z"), ("inserted", "X-RESUME-OFFSET=0", "2026-01-02T03:04:05.000Z"),
]

@Test(arguments: interstitialRows) func endOfInterstitial(when: String, text: String, end: String) throws {
    let found = try range(#"ID="a",CLASS="com.apple.hls.interstitial",START-DATE="2026-01-02T03:04:05Z","# + text)
    #expect(found.isInterstitial && found.interstitialEnd?.text == end, "\(when)")
}

private let additionRows: [(when: String, old: String, new: String, both: String, refused: [String])] = [
    ("an end is added", #"ID="a",X-N=1"#, #"ID="a",DURATION=5"#, #"ID="a",X-N=1,DURATION=5"#, []),
    ("nothing new", #"ID="a",X-N=1"#, #"ID="a",X-N=1"#, #"ID="a",X-N=1"#, []),
    ("another value", #"ID="a",X-N=1"#, #"ID="a",X-N=2,X-M=3"#, #"ID="a",X-N=1,X-M=3"#, ["X-N"]),
    ("less", #"ID="a",X-N=1"#, #"ID="a""#, #"ID="a",X-N=1"#, []),
]

@Test(arguments: additionRows)
func addsMissingAttributes(when: String, old: String, new: String, both: String, refused: [String]) throws {
    var value = try range(old)
    #expect(value.add(try range(new)) == refused, "\(when)")
    #expect(value.attributes.text == both, "\(when)")
}

@Test(arguments: ["", "0x", "0x1", "0x1g", "FC", "0xFC 30"])
func refusesInvalidHexadecimal(text: String) { #expect(SpliceSectionText.decodeHexadecimal(text) == nil) }

@Test func base64IsReadWithAndWithoutPadding() {
    #expect(SpliceSectionText.decodeBase64("/DAl") == [0xFC, 0x30, 0x25])
    #expect(SpliceSectionText.decodeBase64("/DA=") == [0xFC, 0x30])
    #expect(SpliceSectionText.decodeBase64("/DA") == [0xFC, 0x30])
    #expect(SpliceSectionText.decodeBase64("") == nil)
    #expect(SpliceSectionText.decodeBase64("/D A") == nil)
}
