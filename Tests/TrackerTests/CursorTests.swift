import Playlist
import Testing

@testable import Tracker

typealias CursorRow = (when: String, lists: [MediaPlaylist], yields: [SegmentCursor.Effect])

let joinRows: [CursorRow] = [
    ("six seconds each: two cover one and a half", [mediaPlaylist(100..<106)], [.fetch(104..<106)]),
    ("two seconds each: three at most", [mediaPlaylist(100..<106, seconds: 2)], [.fetch(103..<106)]),
    ("twelve seconds each: one would run dry", [mediaPlaylist(100..<106, seconds: 12)], [.fetch(104..<106)]),
    ("padded target duration", [mediaPlaylist(100..<106, seconds: 6, targetDuration: 10)], [.fetch(103..<106)]),
    ("a single segment", [mediaPlaylist(100..<101)], [.fetch(100..<101)]),
    ("nothing listed yet", [mediaPlaylist(0..<0)], []),
    ("nothing listed, then two", [mediaPlaylist(0..<0), mediaPlaylist(0..<2)], [.fetch(0..<2)]),
    ("ENDLIST from the start", [mediaPlaylist(0..<9, edit: { $0.hasEndList = true })], [.fetch(0..<9), .ended]),
    ("type VOD", [mediaPlaylist(0..<9, edit: { $0.playlistType = .vod })], [.fetch(0..<9), .ended]),
    ("type EVENT is live", [mediaPlaylist(0..<9, edit: { $0.playlistType = .event })], [.fetch(7..<9)]),
    (
        "the edge has a gap", [mediaPlaylist(0..<6, edit: { $0.segments[4].isGap = true })],
        [.gap(4..<5), .fetch(5..<6)]
    ),
    ("numbers at the end of 64 bits", [mediaPlaylist(UInt64.max - 3..<UInt64.max)], [.fetch(.max - 2 ..< .max)]),
]

let growthRows: [CursorRow] = [
    ("grew by one", [mediaPlaylist(100..<106), mediaPlaylist(101..<107)], [.fetch(106..<107)]),
    ("grew by three at once", [mediaPlaylist(100..<106), mediaPlaylist(103..<109)], [.fetch(106..<109)]),
    ("unchanged", [mediaPlaylist(100..<106), mediaPlaylist(100..<106)], []),
    ("empty for once", [mediaPlaylist(100..<106), mediaPlaylist(0..<0)], []),
    (
        "slid just past: nothing lost", [mediaPlaylist(100..<106), mediaPlaylist(106..<112)],
        [.fetch(106..<112)]
    ),
    (
        "slid past us: on from the oldest listed", [mediaPlaylist(100..<106), mediaPlaylist(109..<115)],
        [.slidOut(lost: 106..<109), .fetch(109..<115)]
    ),
    (
        "a gap between two that are there",
        [mediaPlaylist(100..<106), mediaPlaylist(103..<109, edit: { $0.segments[4].isGap = true })],
        [.fetch(106..<107), .gap(107..<108), .fetch(108..<109)]
    ),
    (
        "ENDLIST with the last ones",
        [mediaPlaylist(100..<106), mediaPlaylist(100..<108, edit: { $0.hasEndList = true })],
        [.fetch(106..<108), .ended]
    ),
    (
        "ENDLIST alone", [mediaPlaylist(100..<106), mediaPlaylist(100..<106, edit: { $0.hasEndList = true })], [.ended]
    ),
    (
        "after the ENDLIST of a live channel, a list that goes on",
        [mediaPlaylist(0..<6), mediaPlaylist(0..<6, edit: { $0.hasEndList = true }), mediaPlaylist(0..<9)],
        [.fetch(6..<9)]
    ),
    (
        "after its ENDLIST, an old list",
        [mediaPlaylist(0..<6), mediaPlaylist(0..<6, edit: { $0.hasEndList = true }), mediaPlaylist(0..<5)], []
    ),
    (
        "a query that changes at each refresh",
        [mediaPlaylist(0..<6) { "s\($0).ts?t=1" }, mediaPlaylist(1..<7) { "s\($0).ts?t=2" }], [.fetch(6..<7)]
    ),
    (
        "a token in the path", [mediaPlaylist(0..<6) { "/a/s\($0).ts" }, mediaPlaylist(1..<7) { "/b/s\($0).ts" }],
        [.fetch(6..<7)]
    ),
    (
        "one segment replaced in place",
        [mediaPlaylist(0..<6), mediaPlaylist(0..<7) { $0 == 5 ? "ad" : "seg\($0).ts" }],
        [.fetch(6..<7)]
    ),
    (
        "parts of one file",
        [byteRanges(0..<6), byteRanges(1..<7)], [.fetch(6..<7)]
    ),
    (
        "one slate over and over",
        [mediaPlaylist(0..<6) { _ in "slate.ts" }, mediaPlaylist(3..<9) { _ in "slate.ts" }], [.fetch(6..<9)]
    ),
]

let backwardRows: [CursorRow] = [
    ("a stale edge once", [mediaPlaylist(100..<106), mediaPlaylist(97..<103)], [.stale(count: 1)]),
    (
        "a stale edge twice",
        [mediaPlaylist(100..<106), mediaPlaylist(97..<103), mediaPlaylist(97..<103)], [.stale(count: 2)]
    ),
    (
        "a stale edge, then on",
        [mediaPlaylist(100..<106), mediaPlaylist(97..<103), mediaPlaylist(102..<108)], [.fetch(106..<108)]
    ),
    ("the newest one withdrawn", [mediaPlaylist(100..<106), mediaPlaylist(100..<105)], [.stale(count: 1)]),
    (
        "the newest one withdrawn and back",
        [mediaPlaylist(100..<106), mediaPlaylist(100..<105), mediaPlaylist(101..<107)], [.fetch(106..<107)]
    ),
    (
        "an edge that lags, three in a row: waited for",
        [mediaPlaylist(100..<106), mediaPlaylist(97..<103), mediaPlaylist(98..<104), mediaPlaylist(99..<105)],
        [.stale(count: 3)]
    ),
    (
        "an edge that lagged and caught up: nothing twice",
        [
            mediaPlaylist(100..<106), mediaPlaylist(97..<103), mediaPlaylist(98..<104), mediaPlaylist(99..<105),
            mediaPlaylist(101..<107),
        ], [.fetch(106..<107)]
    ),
    (
        "a frozen edge stays disbelieved",
        [mediaPlaylist(100..<106)] + Array(repeating: mediaPlaylist(97..<103), count: 20), [.stale(count: 20)]
    ),
    (
        "known segments, but long gone: the third in a row is a reset",
        [mediaPlaylist(0..<6), mediaPlaylist(6..<12)] + Array(repeating: mediaPlaylist(0..<4), count: 3),
        [.reset(.liveEdge), .fetch(2..<4)]
    ),
    (
        "dates prove them old: never a reset",
        [datedPlaylist(0..<6), datedPlaylist(6..<12)] + Array(repeating: datedPlaylist(0..<4), count: 9),
        [.stale(count: 9)]
    ),
]

let resetRows: [CursorRow] = [
    (
        "encoder restart", [mediaPlaylist(100..<106), mediaPlaylist(0..<4) { "new\($0).ts" }],
        [.reset(.liveEdge), .fetch(2..<4)]
    ),
    (
        "renumbered: the addresses tell",
        [mediaPlaylist(100..<106), mediaPlaylist(0..<6) { "seg\($0 + 102).ts" }], [.reset(.url), .fetch(4..<6)]
    ),
    (
        "renumbered, then on",
        [
            mediaPlaylist(100..<106), mediaPlaylist(0..<6) { "seg\($0 + 102).ts" },
            mediaPlaylist(1..<7) { "seg\($0 + 102).ts" },
        ], [.fetch(6..<7)]
    ),
    (
        "renumbered after a slide: the loss is exact",
        [mediaPlaylist(100..<106), mediaPlaylist(0..<6) { $0 == 0 ? "seg105.ts" : "x\($0 + 102).ts" }],
        [.reset(.url), .fetch(1..<6)]
    ),
    (
        "renamed and renumbered: the dates tell",
        [datedPlaylist(100..<106), datedPlaylist(0..<6, epoch: 6 * 103) { "new\($0).ts" }],
        [.reset(.programDateTime), .fetch(3..<6)]
    ),
    (
        "renumbered far ahead, by the dates: nothing slid past us",
        [datedPlaylist(100..<106), datedPlaylist(900..<906, epoch: -6 * 797)],
        [.reset(.programDateTime), .fetch(903..<906)]
    ),
    (
        "slid past us, by the dates too",
        [datedPlaylist(100..<106), datedPlaylist(109..<115)], [.slidOut(lost: 106..<109), .fetch(109..<115)]
    ),
    (
        "renamed and renumbered, with nothing new yet: the dates tell",
        [datedPlaylist(100..<106), datedPlaylist(0..<6, epoch: 6 * 100) { "new\($0).ts" }],
        [.reset(.programDateTime)]
    ),
    (
        "far ahead by its numbers, long ago by its dates: both began anew",
        [datedPlaylist(100..<106), datedPlaylist(900..<906, epoch: -6 * 890)],
        [.reset(.liveEdge), .fetch(904..<906)]
    ),
    (
        "restart after an outage: dates say that nothing listed is old",
        [datedPlaylist(100..<106), datedPlaylist(0..<6, epoch: 6 * 500) { "new\($0).ts" }],
        [.reset(.programDateTime), .fetch(0..<6)]
    ),
    (
        "restart onto the same numbers",
        [mediaPlaylist(0..<6), mediaPlaylist(2..<8) { "new\($0).ts" }], [.reset(.liveEdge), .fetch(6..<8)]
    ),
    (
        "restart onto the same numbers and names, later by the date",
        [datedPlaylist(0..<6), datedPlaylist(0..<6, epoch: 900)], [.reset(.programDateTime), .fetch(0..<6)]
    ),
    (
        "other addresses at each refresh: after one reset only numbers count",
        [
            mediaPlaylist(0..<6) { "/\($0)a/media.ts" }, mediaPlaylist(1..<7) { "/\($0)b/media.ts" },
            mediaPlaylist(2..<8) { "/\($0)c/media.ts" }, mediaPlaylist(3..<9) { "/\($0)d/media.ts" },
        ], [.fetch(8..<9)]
    ),
    (
        "same names again, growing for long: no edge lags like that",
        [mediaPlaylist(0..<6)] + (1...4).map { mediaPlaylist(0..<$0) }, [.reset(.liveEdge), .fetch(2..<4)]
    ),
]

/// Lists six seconds apart; `seg105.ts` is the last that was taken of the first one.
let aheadRows: [CursorRow] = [
    (
        "numbers far ahead, the addresses as before",
        [mediaPlaylist(0..<50), mediaPlaylist(5001..<5051) { "seg\($0 - 5000).ts" }],
        [.reset(.url), .fetch(5050..<5051)]
    ),
    (
        "numbers ahead by just the window, the addresses as before",
        [mediaPlaylist(100..<106), mediaPlaylist(106..<112) { "seg\($0 - 6).ts" }], [.reset(.url)]
    ),
    (
        "numbers ahead by less than the window",
        [mediaPlaylist(100..<106), mediaPlaylist(104..<110) { "seg\($0 - 3).ts" }],
        [.reset(.url), .fetch(109..<110)]
    ),
    (
        "numbers far ahead, with nothing new",
        [mediaPlaylist(100..<106), mediaPlaylist(902..<906) { "seg\($0 - 800).ts" }], [.reset(.url)]
    ),
    (
        "numbers far ahead, the addresses others",
        [mediaPlaylist(100..<106), mediaPlaylist(1_795_000_000..<1_795_000_050) { "x\($0).ts" }],
        [.reset(.liveEdge), .fetch(1_795_000_048..<1_795_000_050)]
    ),
    (
        "the largest numbers there are",
        [mediaPlaylist(100..<106), mediaPlaylist(UInt64.max - 9..<UInt64.max - 3) { "x\($0).ts" }],
        [.reset(.liveEdge), .fetch(UInt64.max - 5..<UInt64.max - 3)]
    ),
    (
        "segments that last nothing, far ahead",
        [mediaPlaylist(100..<106, seconds: 0), mediaPlaylist(1 << 60..<1 << 60 + 6, seconds: 0) { "x\($0)" }],
        [.reset(.liveEdge), .fetch(1 << 60 + 3..<1 << 60 + 6)]
    ),
    (
        "ahead by what an outage lasted",
        [mediaPlaylist(100..<106)] + frozen(29) + [mediaPlaylist(131..<137)],
        [.slidOut(lost: 106..<131), .fetch(131..<137)]
    ),
    (
        "names that come round, after an outage",
        [mediaPlaylist(100..<106) { "\($0 % 6).ts" }] + frozen(9) { "\($0 % 6).ts" }
            + [mediaPlaylist(112..<118) { "\($0 % 6).ts" }],
        [.slidOut(lost: 106..<112), .fetch(112..<118)]
    ),
    (
        "names that come round, slid just past",
        [mediaPlaylist(100..<106) { "\($0 % 6).ts" }] + frozen(5) { "\($0 % 6).ts" }
            + [mediaPlaylist(106..<112) { "\($0 % 6).ts" }], [.fetch(106..<112)]
    ),
    (
        "an advertisement that comes again after an outage",
        [mediaPlaylist(100..<106) { 102..<105 ~= $0 ? "ad\($0 - 102).ts" : "m\($0).ts" }]
            + [mediaPlaylist(120..<126) { 121..<124 ~= $0 ? "ad\($0 - 121).ts" : "m\($0).ts" }],
        [.slidOut(lost: 106..<120), .fetch(120..<126)]
    ),
    (
        "only queries tell the segments apart, and the numbers begin anew",
        [mediaPlaylist(100..<106) { "s.ts?n=\($0)" }, mediaPlaylist(0..<6) { "s.ts?n=\($0 + 101)" }],
        [.reset(.url), .fetch(5..<6)]
    ),
    (
        "known names, but dates that say otherwise",
        [datedPlaylist(100..<106), datedPlaylist(0..<6, epoch: 6000) { "seg\($0 + 101).ts" }],
        [.reset(.programDateTime), .fetch(0..<6)]
    ),
]

/// Two packagers or origins behind one address.
let flappingRows: [CursorRow] = [
    (
        "two packagers in turn, the addresses the same",
        [mediaPlaylist(100..<106), mediaPlaylist(5101..<5107) { "seg\($0 - 5000).ts" }, mediaPlaylist(102..<108)],
        [.reset(.url), .fetch(107..<108)]
    ),
    (
        "another origin's list",
        [mediaPlaylist(100..<106), foreign(7..<13)], [.reset(.liveEdge), .fetch(11..<13)]
    ),
    (
        "another origin's list, and back",
        [mediaPlaylist(100..<106), foreign(7..<13), mediaPlaylist(102..<108)],
        [.reset(.previousOrigin), .fetch(106..<108)]
    ),
    (
        "another origin's list under the same numbers, and back",
        [mediaPlaylist(100..<106), foreign(101..<107), mediaPlaylist(103..<109)],
        [.reset(.previousOrigin), .fetch(106..<109)]
    ),
    (
        "another origin's list under numbers ahead, and back",
        [mediaPlaylist(100..<106), foreign(9000..<9006), mediaPlaylist(102..<108)],
        [.reset(.previousOrigin), .fetch(106..<108)]
    ),
    (
        "back, and on",
        [mediaPlaylist(100..<106), foreign(7..<13), mediaPlaylist(102..<108), mediaPlaylist(103..<109)],
        [.fetch(108..<109)]
    ),
    (
        "in turn",
        [
            mediaPlaylist(100..<106), foreign(7..<13), mediaPlaylist(102..<108), foreign(9..<15),
            mediaPlaylist(104..<110),
        ], [.reset(.previousOrigin), .fetch(108..<110)]
    ),
    (
        "back, and counting anew",
        [mediaPlaylist(100..<106), foreign(7..<13), mediaPlaylist(0..<6) { "seg\($0 + 102).ts" }],
        [.reset(.previousOrigin), .fetch(4..<6)]
    ),
    (
        "an old list of what was followed before",
        [mediaPlaylist(100..<106), mediaPlaylist(0..<4) { "new\($0).ts" }, mediaPlaylist(100..<106)],
        [.stale(count: 1)]
    ),
    (
        "an undated list, and back to the dated one that counts anew under other names",
        [datedPlaylist(100..<106), foreign(7..<13), datedPlaylist(0..<6, epoch: 6 * 102) { "new\($0).ts" }],
        [.reset(.programDateTime), .fetch(4..<6)]
    ),
    (
        "back to hours of it: where it was left, if that is near",
        [mediaPlaylist(0..<900), foreign(7..<13), mediaPlaylist(2..<902)], [.reset(.previousOrigin), .fetch(900..<902)]
    ),
    (
        "back to hours of it: at the edge, if it was left long ago",
        [mediaPlaylist(0..<900), foreign(7..<13), mediaPlaylist(200..<1100)], [.reset(.liveEdge), .fetch(1098..<1100)]
    ),
]

/// Addresses that say less than they should.
let numberlessRows: [CursorRow] = [
    (
        "no media sequence numbers, sliding: the addresses tell",
        (0..<4).map { slide in mediaPlaylist(0..<6) { "seg\(Int($0) + slide).ts" } }, [.reset(.url), .fetch(5..<6)]
    ),
    (
        "no media sequence numbers, and nothing in common after an outage",
        [0, 1, 90, 91].map { slide in mediaPlaylist(0..<6) { "seg\(Int($0) + slide).ts" } },
        [.reset(.url), .fetch(5..<6)]
    ),
    (
        "addresses that were distrusted and count again",
        ["a", "b", "c"].enumerated().map { at, token in
            mediaPlaylist(UInt64(at)..<UInt64(at) + 6) { "/\($0)\(token)/media.ts" }
        } + [mediaPlaylist(0..<6) { "/\($0 + 3)c/media.ts" }],
        [.reset(.url), .fetch(5..<6)]
    ),
]

/// What a playlist means right after a reset, and while URLs are ignored.
let urlTrustRows: [CursorRow] = [
    (
        "a reset, then other URLs again: the URLs are ignored",
        [mediaPlaylist(100..<106), renamed("a", 102..<108), renamed("b", 104..<110)], [.fetch(108..<110)]
    ),
    (
        "a reset, a stale playlist, then other URLs: another reset",
        [mediaPlaylist(100..<106), renamed("a", 102..<108), renamed("a", 99..<105), renamed("b", 104..<110)],
        [.reset(.liveEdge), .fetch(108..<110)]
    ),
    (
        "a reset, then other URLs that end before the reset's: another reset",
        [mediaPlaylist(100..<106), renamed("a", 102..<108), renamed("b", 101..<107)],
        [.reset(.liveEdge), .fetch(105..<107)]
    ),
    (
        "back to the previous origin, then other URLs: another reset",
        [mediaPlaylist(100..<106), foreign(7..<13), mediaPlaylist(102..<108), renamed("b", 104..<110)],
        [.reset(.liveEdge), .fetch(108..<110)]
    ),
    (
        "URLs are ignored, and the playlist ends early: stale",
        [mediaPlaylist(100..<106), renamed("a", 102..<108), renamed("b", 104..<110), renamed("c", 103..<109)],
        [.stale(count: 1)]
    ),
    (
        "URLs are ignored, and no number is known: a reset",
        [mediaPlaylist(100..<106), renamed("a", 102..<108), renamed("b", 104..<110), renamed("c", 0..<4)],
        [.reset(.liveEdge), .fetch(2..<4)]
    ),
    (
        "URLs are ignored, after a reset by number too",
        [
            mediaPlaylist(100..<106), renamed("a", 102..<108), renamed("b", 104..<110), renamed("c", 0..<4),
            renamed("d", 1..<5),
        ], [.fetch(4..<5)]
    ),
    (
        "URLs are ignored, then a known URL under another number",
        [mediaPlaylist(100..<106), renamed("a", 102..<108), renamed("b", 104..<110)]
            + [mediaPlaylist(0..<6) { "b\($0 + 105)/media.ts" }],
        [.reset(.url), .fetch(5..<6)]
    ),
]

private func renamed(_ prefix: String, _ numbers: Range<UInt64>) -> MediaPlaylist {
    mediaPlaylist(numbers) { "\(prefix)\($0)/media.ts" }
}

private func foreign(_ numbers: Range<UInt64>) -> MediaPlaylist { mediaPlaylist(numbers) { "other\($0).ts" } }

private func frozen(_ loads: Int, _ uri: (UInt64) -> String = { "seg\($0).ts" }) -> [MediaPlaylist] {
    Array(repeating: mediaPlaylist(100..<106, uri: uri), count: loads)
}

@Test(
    arguments: joinRows + growthRows + backwardRows + resetRows + aheadRows + flappingRows + numberlessRows
        + urlTrustRows)
func cursorAfterLastList(when: String, lists: [MediaPlaylist], yields: [SegmentCursor.Effect]) {
    var cursor = SegmentCursor()
    let all = lists.enumerated().map { cursor.handle($1, at: .seconds(6 * $0)) }
    #expect(all.last == yields, "\(when)")
}

@Test func aCompanionJoinsOneSegmentFurtherBack() {
    var cursor = SegmentCursor(policy: .companion)
    #expect(cursor.handle(mediaPlaylist(100..<106), at: .zero) == [.fetch(103..<106)])
    var short = SegmentCursor(policy: .companion)
    #expect(short.handle(mediaPlaylist(100..<101), at: .zero) == [.fetch(100..<101)])
}

private func byteRanges(_ numbers: Range<UInt64>) -> MediaPlaylist {
    var list = mediaPlaylist(numbers, uri: { _ in "all.ts" })
    for index in list.segments.indices {
        let offset = 1000 * list.segments[index].mediaSequence
        list.segments[index].byteRange = ByteRange(offset: offset, length: 1000)
    }
    return list
}
