import Testing

@testable import Playlist

private let wishRows: [(text: String, choice: VariantChoice?)] = [
    ("max", .highest), ("min", .lowest), ("720", .height(720)), ("1080p", .height(1080)), ("4320", .height(4320)),
    ("4321", .bandwidth(4321)), ("2500000", .bandwidth(2_500_000)), ("2500000p", nil), ("0", nil), ("-1", nil),
    ("best", nil), ("", nil), ("p", nil),
]

@Test(arguments: wishRows)
func parsesVariantChoices(text: String, choice: VariantChoice?) {
    #expect(VariantChoice(text) == choice)
}

/// `<bandwidth>`, `<bandwidth>x<height>` or `<bandwidth>:<codecs>` per variant, and `:<layout>` after the codecs; its URI is its
/// index.
private func variants(_ texts: [String]) -> MultivariantPlaylist {
    MultivariantPlaylist(
        variants: texts.enumerated().map { index, text in
            let parts = text.split(separator: ":")
            let numbers = parts[0].split(separator: "x").compactMap { Int($0) }
            var variant = Variant(uri: String(index), bandwidth: numbers[0])
            if numbers.count > 1 { variant.resolution = .init(width: numbers[1] * 16 / 9, height: numbers[1]) }
            if parts.count > 2 { variant.requiredLayout = String(parts[2]) }
            if parts.count > 1 { variant.codecs = parts[1].split(separator: ",").map { String($0) } }
            return variant
        })
}

private let ladder = ["800x360", "5000x1080", "2500x720", "3500x720", "64:mp4a.40.2"]

private let choiceRows: [(when: String, variants: [String], choice: VariantChoice, chosen: String?)] = [
    ("the highest", ladder, .highest, "1"),
    ("the lowest with video", ladder, .lowest, "0"),
    ("the height itself, the better of two", ladder, .height(720), "3"),
    ("the nearest height below", ladder, .height(1079), "3"),
    ("no height below: the lowest above", ladder, .height(240), "0"),
    ("a height, but no variant has one", ["1", "3", "2"], .height(720), "1"),
    ("the nearest bandwidth below", ladder, .bandwidth(3499), "2"),
    ("no bandwidth below: the lowest above", ladder, .bandwidth(100), "0"),
    ("equal bandwidth: the larger frame", ["5x360", "5x720", "5x540"], .highest, "1"),
    ("equal bandwidth: the smaller frame", ["5x720", "5x360", "5x540"], .lowest, "1"),
    ("all equal: the first", ["5", "5", "5"], .highest, "0"),
    ("only audio variants", ["64:mp4a.40.2", "128:mp4a.40.2,stpp"], .highest, "1"),
    ("unknown codecs may be video", ["64:mp4a.40.2", "32:zzzz"], .highest, "1"),
    ("a better one in a codec that is not republished", ["1x360:avc1.42c00a", "2x720:av01.0.04M.08"], .highest, "0"),
    ("the same in VP9", ["1x360:avc1.42c00a,mp4a.40.2", "2x720:vp09.00.10.08,opus"], .highest, "0"),
    ("the same in VVC, at the height that is wanted", ["1x360:hvc1.1.6.L93", "2x720:vvc1.1.L51"], .height(720), "0"),
    (
        "a better one with audio that is not republished", ["1x360:avc1.42c00a,mp4a.40.2", "2x720:avc1,ac-4"], .highest,
        "0"
    ),
    ("HEVC above H.264", ["1x360:avc1.42c00a", "2x720:hev1.1.6.L93"], .highest, "1"),
    ("a variant without CODECS above one with them", ["1x360:avc1.42c00a", "2x720"], .highest, "1"),
    ("nothing that is republished, beside audio alone", ["64:mp4a.40.2", "2x720:av01.0.04M.08"], .highest, "1"),
    (
        "a better one that is stereoscopic", ["1x360:avc1.42c00a", "2x720:hvc1.2.4.L123.B0:CH-STEREO,CH-MONO"],
        .highest, "0"
    ),
    ("a better one with a projection", ["1x360:hvc1.1.6.L93", "2x720:hvc1.1.6.L93:PROJ-EQUI"], .highest, "0"),
    ("a better one that is ordinary", ["1x360:avc1.42c00a", "2x720:hvc1.1.6.L93:CH-MONO/PROJ-RECT"], .highest, "1"),
    ("stereoscopic alone", ["64:mp4a.40.2", "2x720:hvc1.2.4.L123.B0:CH-STEREO"], .highest, "1"),
    ("a layout, or a codec that is not republished", ["1x360:hvc1.1.6.L93:PROJ-HEQU", "2x720:av01"], .highest, "0"),
    ("MPEG-2, subtitles and Opus", ["1x360:avc1.42c00a", "2x720:mp4v.61,Opus,wvtt"], .highest, "1"),
    ("nothing to choose from", [], .highest, nil),
]

@Test(arguments: choiceRows)
func choices(when: String, variants texts: [String], choice: VariantChoice, chosen: String?) {
    #expect(choice.choose(from: variants(texts)).first?.uri == chosen, "\(when)")
}

/// The same video with several audio groups, as Apple's tools write it.
@Test func audioThatEveryPlayerDecodesIsPreferredAtOneURI() {
    var read = variants(["500x720:avc1.64001f,ec-3", "450x720:avc1.64001f,mp4a.40.2", "800x1080:avc1.640028,ec-3"])
    #expect(VariantChoice.height(720).choose(from: read).first?.uri == "0", "another URI may have another video")
    read.variants[1].uri = "0"
    #expect(VariantChoice.height(720).choose(from: read).first?.codecs == ["avc1.64001f", "mp4a.40.2"])
    #expect(VariantChoice.highest.choose(from: read).first?.uri == "2")
}

@Test func bandwidthIsNotMatchedInsideOtherNames() throws {
    let text = """
        #EXTM3U
        #EXT-X-STREAM-INF:AVERAGE-BANDWIDTH=9000,BANDWIDTH=1000,CODECS="avc1.4d401f,BANDWIDTH=99999"
        low
        #EXT-X-STREAM-INF:AVERAGE-BANDWIDTH=1,BANDWIDTH=2000
        high
        """
    let read = try MultivariantPlaylistParser.parse(Array(text.utf8))
    #expect(VariantChoice.highest.choose(from: read).first?.uri == "high")
}

private let audioRows: [(when: String, renditions: [String], uri: String?)] = [
    ("DEFAULT wins", ["AUTOSELECT=YES,URI=\"1\"", "DEFAULT=YES,URI=\"2\""], "2"),
    ("else AUTOSELECT", ["URI=\"1\"", "AUTOSELECT=YES,URI=\"2\""], "2"),
    ("else the first", ["URI=\"1\"", "URI=\"2\""], "1"),
    ("without URI it is muxed", ["DEFAULT=YES", "URI=\"2\""], nil),
    ("an empty URI is none", ["DEFAULT=YES,URI=\"\""], nil),
    ("a group without renditions", [], nil),
]

@Test(arguments: audioRows)
func companionOfVariant(when: String, renditions: [String], uri: String?) throws {
    let media = renditions.map { "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"n\",\($0)\n" }.joined()
    let others = """
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="other",NAME="n",DEFAULT=YES,URI="wrong"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="a",NAME="n",DEFAULT=YES,URI="wrong"
        """
    let text = "#EXTM3U\n\(others)\n\(media)#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"a\"\nv\n"
    let read = try MultivariantPlaylistParser.parse(Array(text.utf8))
    #expect(read.audio(of: try #require(read.variants.first))?.uri == uri, "\(when)")
}

@Test func redundantVariantsAreAlternates() throws {
    let text = """
        #EXTM3U
        #EXT-X-STREAM-INF:BANDWIDTH=5000,RESOLUTION=1280x720,AUDIO="a1"
        http://one/720
        #EXT-X-STREAM-INF:BANDWIDTH=800,RESOLUTION=640x360,AUDIO="a1"
        http://one/360
        #EXT-X-STREAM-INF:RESOLUTION=1280x720,BANDWIDTH=5000,AUDIO="a2"
        http://two/720
        #EXT-X-STREAM-INF:BANDWIDTH=5000,RESOLUTION=1280x720,AUDIO="a1",FRAME-RATE=50
        http://one/720p50
        """
    let read = try MultivariantPlaylistParser.parse(Array(text.utf8))
    let chosen = VariantChoice.highest.choose(from: read)
    #expect(chosen.map(\.uri) == ["http://one/720", "http://two/720"])
}

private let captionRows: [(when: String, variant: String, channels: [String])] = [
    ("the variant's group", ",CLOSED-CAPTIONS=\"b\"", ["CC3"]),
    ("a packager that forgets the attribute", "", ["CC1", "SERVICE1"]),
    ("none", ",CLOSED-CAPTIONS=NONE", []),
    ("a group that is not there", ",CLOSED-CAPTIONS=\"c\"", []),
]

@Test(arguments: captionRows)
func closedCaptionsOfVariant(when: String, variant: String, channels: [String]) throws {
    let text = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="a",NAME="n",URI="wrong"
        #EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="a",NAME="1",INSTREAM-ID="CC1"
        #EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="b",NAME="1",INSTREAM-ID="CC3"
        #EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="a",NAME="2",INSTREAM-ID="SERVICE1"
        #EXT-X-STREAM-INF:BANDWIDTH=1\(variant)
        v
        """
    let read = try MultivariantPlaylistParser.parse(Array(text.utf8))
    let captions = read.closedCaptions(of: try #require(read.variants.first))
    #expect(captions.map { $0.attributes["INSTREAM-ID"] } == channels, "\(when)")
}

/// REQ-VIDEO-LAYOUT, whether it is understood, and what is declared of the republished video.
private let layoutRows: [(text: String, isKnown: Bool, republished: String?)] = [
    ("CH-MONO", true, nil), ("CH-STEREO", true, nil), ("CH-STEREO,CH-MONO", true, nil), ("PROJ-RECT", true, nil),
    ("CH-STEREO/PROJ-EQUI", true, "PROJ-EQUI"), ("PROJ-HEQU/CH-MONO", true, "PROJ-HEQU"),
    ("CH-STEREO/PROJ-PRIM,CH-MONO", true, "PROJ-PRIM,PROJ-RECT"), ("PROJ-AIV,CH-STEREO/PROJ-AIV", true, "PROJ-AIV"),
    ("CH-QUAD", false, nil), ("", false, nil), ("CH-STEREO,", false, nil), ("CH-STEREO/HOLO-1", false, nil),
]

@Test(arguments: layoutRows) func layouts(text: String, isKnown: Bool, republished: String?) {
    let layout = VideoLayout(text)
    #expect((layout != nil) == isKnown && layout?.republished == republished, "\(text)")
}

/// Clients ignore a variant whose layout they do not know (draft-pantos-hls-rfc8216bis §4.4.6.2).
@Test func unknownLayoutIsIgnored() throws {
    let text = """
        #EXTM3U
        #EXT-X-STREAM-INF:BANDWIDTH=3,REQ-VIDEO-LAYOUT="CH-STEREO/HOLO-1"
        unknown.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=2,REQ-VIDEO-LAYOUT="CH-STEREO"
        stereo.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=1
        mono.m3u8
        """
    let playlist = try MultivariantPlaylistParser.parse(Array(text.utf8))
    #expect(playlist.variants.map(\.uri) == ["stereo.m3u8", "mono.m3u8"])
    #expect(playlist.irregularities.map(\.reason) == [.badValue("REQ-VIDEO-LAYOUT=CH-STEREO/HOLO-1")])
    #expect(VariantChoice.highest.choose(from: playlist).map(\.uri) == ["mono.m3u8"])
}

@Test func excludedVariants() {
    let playlist = variants(["3x720", "2x480", "64:mp4a.40.2"])
    let (first, second) = (playlist.variants[0], playlist.variants[1])
    #expect(VariantChoice.highest.choose(from: playlist.excluding([first])).first?.uri == "1")
    #expect(VariantChoice.highest.choose(from: playlist.excluding([first, second])).first?.uri == "2")
    #expect(playlist.excluding(playlist.variants) == playlist)
    #expect(playlist.hasVariant(otherThan: [first, second]) && !playlist.hasVariant(otherThan: playlist.variants))
    var redundant = first
    redundant.uri = "http://other.example/0"
    #expect(playlist.excluding([redundant]).variants.map(\.uri) == ["1", "2"])
}
