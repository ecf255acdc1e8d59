import TestSupport
import Testing

@testable import Playlist
@testable import Support

@Test func livePlaylistText() throws {
    let map = MediaInitialization(uri: "init-1.mp4")
    var first = MediaSegment(uri: "seg-7.m4s", duration: .milliseconds(6006))
    first.map = map
    first.programDateTime = ProgramDateTime(parsing: "2026-01-02T03:04:05.678Z")
    var second = MediaSegment(uri: "seg-8.m4s", duration: .nanoseconds(4_004_004_600))
    second.map = map
    var third = MediaSegment(uri: "seg-9.m4s", duration: .seconds(2))
    third.map = MediaInitialization(uri: "init-2.mp4")
    third.isDiscontinuous = true
    third.unknownTags = ["#EXT-X-CUE-OUT:30"]
    var playlist = MediaPlaylist(targetDuration: .milliseconds(5500), mediaSequence: 7)
    playlist.discontinuitySequence = 0
    playlist.hasIndependentSegments = true
    playlist.segments = [first, second, third]
    #expect(
        PlaylistWriter.write(playlist) == """
            #EXTM3U
            #EXT-X-VERSION:6
            #EXT-X-INDEPENDENT-SEGMENTS
            #EXT-X-TARGETDURATION:6
            #EXT-X-MEDIA-SEQUENCE:7
            #EXT-X-DISCONTINUITY-SEQUENCE:0
            #EXT-X-MAP:URI="init-1.mp4"
            #EXT-X-PROGRAM-DATE-TIME:2026-01-02T03:04:05.678Z
            #EXTINF:6.00600,
            seg-7.m4s
            #EXTINF:4.00400,
            seg-8.m4s
            #EXT-X-DISCONTINUITY
            #EXT-X-MAP:URI="init-2.mp4"
            #EXT-X-CUE-OUT:30
            #EXTINF:2.00000,
            seg-9.m4s

            """)
}

@Test func entriesAddUpToThePlaylist() {
    var random = SeededGenerator(seed: 4)
    for _ in 0..<200 {
        var playlist = random.mediaPlaylist()
        playlist.trailingDateRanges = []
        playlist.hasEndList = false
        var text = PlaylistWriter.head(of: playlist, version: PlaylistWriter.version(neededBy: playlist))
        for (index, segment) in playlist.segments.enumerated() {
            text += PlaylistWriter.entryLines(
                for: segment, previous: index > 0 ? playlist.segments[index - 1] : nil)
        }
        #expect(text == PlaylistWriter.write(playlist))
    }
}

@Test(arguments: 0..<200 as Range<UInt64>)
func mediaPlaylistsRoundTrip(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let playlist = random.mediaPlaylist()
    let text = PlaylistWriter.write(playlist)
    #expect(try MediaPlaylistParser.parse(Array(text.utf8)) == playlist, "\(text)")
}

@Test(arguments: 0..<50 as Range<UInt64>)
func multivariantPlaylistsRoundTrip(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let playlist = random.multivariantPlaylist()
    let text = PlaylistWriter.write(playlist)
    #expect(try MultivariantPlaylistParser.parse(Array(text.utf8)) == playlist, "\(text)")
}

private let versionRows: [(when: String, lines: String, version: Int)] = [
    ("nothing listed", "#EXT-X-TARGETDURATION:6", 1),
    ("decimal durations", "#EXTINF:6,\na", 3),
    ("byte ranges", "#EXTINF:6,\n#EXT-X-BYTERANGE:1@0\na", 4),
    ("key formats", "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k\",KEYFORMAT=\"x\"\n#EXTINF:6,\na", 5),
    ("init sections", "#EXT-X-MAP:URI=\"i\"\n#EXTINF:6,\na", 6),
    ("what was announced does not matter", "#EXT-X-VERSION:9\n#EXTINF:6,\na", 3),
]

@Test(arguments: versionRows)
func versionIsLowestPossible(when: String, lines: String, version: Int) throws {
    let playlist = try MediaPlaylistParser.parse(Array("#EXTM3U\n\(lines)".utf8))
    #expect(PlaylistWriter.version(neededBy: playlist) == version, "\(when)")
    let isSaid = PlaylistWriter.write(playlist).contains("#EXT-X-VERSION:\(version)\n")
    #expect(isSaid == (version > 1), "\(when)")
}

@Test func noValueBreaksLine() throws {
    let segment = MediaSegment(uri: "a\r\n#EXT-X-ENDLIST\u{0}\u{85}", duration: .seconds(6))
    let text = PlaylistWriter.entryLines(for: segment, previous: nil)
    #expect(text == "#EXTINF:6.00000,\na#EXT-X-ENDLIST\n")
}

@Test func targetDurationIsAtLeastOneSecond() {
    #expect(PlaylistWriter.write(MediaPlaylist(targetDuration: .zero)).contains("#EXT-X-TARGETDURATION:1\n"))
}

/// CONFORMANCE in text: what holds for anything that is written.
@Test func everyWrittenPlaylistKeepsTheOrderOfTheHead() throws {
    var random = SeededGenerator(seed: 5)
    for _ in 0..<200 {
        let lines = PlaylistWriter.write(random.mediaPlaylist()).split(
            separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.first == "#EXTM3U" && lines.last == "")
        #expect(lines.dropLast().allSatisfy { !$0.isEmpty })
        let firstOfSegments =
            lines.firstIndex { $0 == "#EXT-X-DISCONTINUITY" || $0.hasPrefix("#EXTINF") } ?? lines.endIndex
        for tag in ["#EXT-X-TARGETDURATION:", "#EXT-X-MEDIA-SEQUENCE:"] {
            let places = lines.indices.filter { lines[$0].hasPrefix(tag) }
            #expect(places.count == 1 && places[0] < firstOfSegments)
        }
        if let position = lines.firstIndex(where: { $0.hasPrefix("#EXT-X-DISCONTINUITY-SEQUENCE:") }) {
            #expect(position < firstOfSegments)
        }
    }
}
