import Playlist
import Testing

@testable import Fetch
@testable import Support
@testable import Tracker

typealias CursorRow = (when: String, playlists: [MediaPlaylist], effects: [SegmentCursor.Effect])

let joinRows: [CursorRow] = [
    ("segments of 6 s: two cover 1.5 target durations", [mediaPlaylist(100..<106)], [.fetch(104..<106)]),
    ("segments of 2 s: three at most", [mediaPlaylist(100..<106, seconds: 2)], [.fetch(103..<106)]),
    ("segments of 12 s: two, because one would run dry", [mediaPlaylist(100..<106, seconds: 12)], [.fetch(104..<106)]),
    (
        "target duration longer than the segments", [mediaPlaylist(100..<106, seconds: 6, targetDuration: 10)],
        [.fetch(103..<106)]
    ),
    ("a single segment", [mediaPlaylist(100..<101)], [.fetch(100..<101)]),
    ("empty playlist", [mediaPlaylist(0..<0)], []),
    ("empty playlist, then two segments", [mediaPlaylist(0..<0), mediaPlaylist(0..<2)], [.fetch(0..<2)]),
    ("ENDLIST from the start", [mediaPlaylist(0..<9, edit: { $0.hasEndList = true })], [.fetch(0..<9), .ended]),
    ("type VOD", [mediaPlaylist(0..<9, edit: { $0.playlistType = .vod })], [.fetch(0..<9), .ended]),
    ("type EVENT is live", [mediaPlaylist(0..<9, edit: { $0.playlistType = .event })], [.fetch(7..<9)]),
    (
        "gap segment at the live edge", [mediaPlaylist(0..<6, edit: { $0.segments[4].isGap = true })],
        [.gap(4..<5), .fetch(5..<6)]
    ),
    ("numbers near 2^64", [mediaPlaylist(UInt64.max - 3..<UInt64.max)], [.fetch(.max - 2 ..< .max)]),
]

let growthRows: [CursorRow] = [
    ("one new segment", [mediaPlaylist(100..<106), mediaPlaylist(101..<107)], [.fetch(106..<107)]),
    ("three new segments", [mediaPlaylist(100..<106), mediaPlaylist(103..<109)], [.fetch(106..<109)]),
    ("unchanged", [mediaPlaylist(100..<106), mediaPlaylist(100..<106)], []),
    ("empty playlist in between", [mediaPlaylist(100..<106), mediaPlaylist(0..<0)], []),
    (
        "window slid to the next segment: nothing lost", [mediaPlaylist(100..<106), mediaPlaylist(106..<112)],
        [.fetch(106..<112)]
    ),
    (
        "window slid past the next segment: continues at the oldest listed",
        [mediaPlaylist(100..<106), mediaPlaylist(109..<115)],
        [.slidOut(lost: 106..<109), .fetch(109..<115)]
    ),
    (
        "gap segment between two others",
        [mediaPlaylist(100..<106), mediaPlaylist(103..<109, edit: { $0.segments[4].isGap = true })],
        [.fetch(106..<107), .gap(107..<108), .fetch(108..<109)]
    ),
    (
        "ENDLIST with the last segments",
        [mediaPlaylist(100..<106), mediaPlaylist(100..<108, edit: { $0.hasEndList = true })],
        [.fetch(106..<108), .ended]
    ),
    (
        "ENDLIST without new segments",
        [mediaPlaylist(100..<106), mediaPlaylist(100..<106, edit: { $0.hasEndList = true })], [.ended]
    ),
    (
        "live playlist continues after its ENDLIST",
        [mediaPlaylist(0..<6), mediaPlaylist(0..<6, edit: { $0.hasEndList = true }), mediaPlaylist(0..<9)],
        [.fetch(6..<9)]
    ),
    (
        "old playlist after ENDLIST",
        [mediaPlaylist(0..<6), mediaPlaylist(0..<6, edit: { $0.hasEndList = true }), mediaPlaylist(0..<5)], []
    ),
    (
        "query changes at each refresh",
        [mediaPlaylist(0..<6) { "s\($0).ts?t=1" }, mediaPlaylist(1..<7) { "s\($0).ts?t=2" }], [.fetch(6..<7)]
    ),
    (
        "token in the path", [mediaPlaylist(0..<6) { "/a/s\($0).ts" }, mediaPlaylist(1..<7) { "/b/s\($0).ts" }],
        [.fetch(6..<7)]
    ),
    (
        "one segment replaced in place",
        [mediaPlaylist(0..<6), mediaPlaylist(0..<7) { $0 == 5 ? "ad" : "seg\($0).ts" }],
        [.fetch(6..<7)]
    ),
    (
        "byte ranges of one file",
        [byteRanges(0..<6), byteRanges(1..<7)], [.fetch(6..<7)]
    ),
    (
        "the same slate file for all segments",
        [mediaPlaylist(0..<6) { _ in "slate.ts" }, mediaPlaylist(3..<9) { _ in "slate.ts" }], [.fetch(6..<9)]
    ),
]

let backwardRows: [CursorRow] = [
    ("one stale playlist", [mediaPlaylist(100..<106), mediaPlaylist(97..<103)], [.stale(count: 1)]),
    (
        "two stale playlists",
        [mediaPlaylist(100..<106), mediaPlaylist(97..<103), mediaPlaylist(97..<103)], [.stale(count: 2)]
    ),
    (
        "a stale playlist, then a current one",
        [mediaPlaylist(100..<106), mediaPlaylist(97..<103), mediaPlaylist(102..<108)], [.fetch(106..<108)]
    ),
    ("newest segment withdrawn", [mediaPlaylist(100..<106), mediaPlaylist(100..<105)], [.stale(count: 1)]),
    (
        "newest segment withdrawn, then listed again",
        [mediaPlaylist(100..<106), mediaPlaylist(100..<105), mediaPlaylist(101..<107)], [.fetch(106..<107)]
    ),
    (
        "lagging edge, three playlists in a row: stale",
        [mediaPlaylist(100..<106), mediaPlaylist(97..<103), mediaPlaylist(98..<104), mediaPlaylist(99..<105)],
        [.stale(count: 3)]
    ),
    (
        "edge that lags by more than it lists, for three playlists: stale",
        [mediaPlaylist(97..<100), mediaPlaylist(100..<103)] + (96...98).map { mediaPlaylist($0..<$0 + 3) },
        [.stale(count: 3)]
    ),
    (
        "lagging edge that caught up: nothing fetched twice",
        [
            mediaPlaylist(100..<106), mediaPlaylist(97..<103), mediaPlaylist(98..<104), mediaPlaylist(99..<105),
            mediaPlaylist(101..<107),
        ], [.fetch(106..<107)]
    ),
    (
        "edge that does not grow: stale forever",
        [mediaPlaylist(100..<106)] + Array(repeating: mediaPlaylist(97..<103), count: 20), [.stale(count: 20)]
    ),
    (
        "known segments before the newest window: the third playlist is a reset",
        [mediaPlaylist(0..<6), mediaPlaylist(6..<12)] + Array(repeating: mediaPlaylist(0..<4), count: 3),
        [.reset(.liveEdge), .fetch(2..<4)]
    ),
    (
        "dates prove that the segments are old: never a reset",
        [datedPlaylist(0..<6), datedPlaylist(6..<12)] + Array(repeating: datedPlaylist(0..<4), count: 9),
        [.stale(count: 9)]
    ),
]

@Test(
    arguments: joinRows + growthRows + backwardRows + resetRows + aheadRows + flappingRows + numberlessRows
        + urlTrustRows)
func cursorReturnsEffectsOfLastPlaylist(
    when: String, playlists: [MediaPlaylist], effects: [SegmentCursor.Effect]
) {
    var cursor = SegmentCursor()
    let all = playlists.enumerated().map { cursor.handle($1, at: .seconds(6 * $0)) }
    #expect(all.last == effects, "\(when)")
}

@Test func companionJoinsOneSegmentBeforeMain() {
    var cursor = SegmentCursor(policy: .companion)
    #expect(cursor.handle(mediaPlaylist(100..<106), at: .zero) == [.fetch(103..<106)])
    var short = SegmentCursor(policy: .companion)
    #expect(short.handle(mediaPlaylist(100..<101), at: .zero) == [.fetch(100..<101)])
}

private func byteRanges(_ numbers: Range<UInt64>) -> MediaPlaylist {
    var playlist = mediaPlaylist(numbers, uri: { _ in "all.ts" })
    for index in playlist.segments.indices {
        let offset = 1000 * playlist.segments[index].mediaSequence
        playlist.segments[index].byteRange = ByteRange(offset: offset, length: 1000)
    }
    return playlist
}
