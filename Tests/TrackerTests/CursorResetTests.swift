import Playlist
import Testing

@testable import Fetch
@testable import Support
@testable import Tracker

// Playlists whose numbers or URLs are not those of the playlists before. `CursorTests` runs the rows.

let resetRows: [CursorRow] = [
    (
        "encoder restart under the same names",
        [mediaPlaylist(0..<6), mediaPlaylist(4..<10), mediaPlaylist(0..<1)], [.reset(.liveEdge), .fetch(0..<1)]
    ),
    (
        "encoder restart under the same names, found late",
        [mediaPlaylist(0..<6), mediaPlaylist(4..<10), mediaPlaylist(0..<3)], [.reset(.liveEdge), .fetch(1..<3)]
    ),
    (
        "an old playlist of a channel that began when it was joined",
        [mediaPlaylist(0..<1), mediaPlaylist(0..<2), mediaPlaylist(0..<6), mediaPlaylist(0..<1)], [.stale(count: 1)]
    ),
    (
        "an old playlist with some segments less", [mediaPlaylist(0..<6), mediaPlaylist(4..<10), mediaPlaylist(0..<4)],
        [.stale(count: 1)]
    ),
    (
        "an old playlist by its dates", [datedPlaylist(0..<6), datedPlaylist(4..<10), datedPlaylist(0..<2)],
        [.stale(count: 1)]
    ),
    (
        "encoder restart", [mediaPlaylist(100..<106), mediaPlaylist(0..<4) { "new\($0).ts" }],
        [.reset(.liveEdge), .fetch(2..<4)]
    ),
    (
        "renumbered, same URLs",
        [mediaPlaylist(100..<106), mediaPlaylist(0..<6) { "seg\($0 + 102).ts" }], [.reset(.url), .fetch(4..<6)]
    ),
    (
        "renumbered, then a new segment",
        [
            mediaPlaylist(100..<106), mediaPlaylist(0..<6) { "seg\($0 + 102).ts" },
            mediaPlaylist(1..<7) { "seg\($0 + 102).ts" },
        ], [.fetch(6..<7)]
    ),
    (
        "renumbered after a slide, one known URL",
        [mediaPlaylist(100..<106), mediaPlaylist(0..<6) { $0 == 0 ? "seg105.ts" : "x\($0 + 102).ts" }],
        [.reset(.url), .fetch(1..<6)]
    ),
    (
        "renamed and renumbered, continuous dates",
        [datedPlaylist(100..<106), datedPlaylist(0..<6, epoch: 6 * 103) { "new\($0).ts" }],
        [.reset(.programDateTime), .fetch(3..<6)]
    ),
    (
        "renumbered far ahead, continuous dates: nothing slid out",
        [datedPlaylist(100..<106), datedPlaylist(900..<906, epoch: -6 * 797)],
        [.reset(.programDateTime), .fetch(903..<906)]
    ),
    (
        "window slid past the next segment, by the dates too",
        [datedPlaylist(100..<106), datedPlaylist(109..<115)], [.slidOut(lost: 106..<109), .fetch(109..<115)]
    ),
    (
        "renamed and renumbered, nothing new by the dates",
        [datedPlaylist(100..<106), datedPlaylist(0..<6, epoch: 6 * 100) { "new\($0).ts" }],
        [.reset(.programDateTime)]
    ),
    (
        "renamed and renumbered, and older than what was fetched: cut short, or of an edge that lags",
        [datedPlaylist(100..<106), datedPlaylist(0..<4, epoch: 6 * 100) { "new\($0).ts" }], [.stale(count: 1)]
    ),
    (
        "renamed, with numbers ahead, and older than what was fetched",
        [datedPlaylist(100..<106), datedPlaylist(120..<124, epoch: -6 * 20) { "new\($0).ts" }], [.stale(count: 1)]
    ),
    (
        "the same with numbers from 0, and then whole",
        [
            datedPlaylist(100..<106), datedPlaylist(0..<4, epoch: 6 * 100) { "new\($0).ts" },
            datedPlaylist(0..<8, epoch: 6 * 100) { "new\($0).ts" },
        ],
        [.reset(.programDateTime), .fetch(6..<8)]
    ),
    (
        "two encoder restarts in a row: the same numbers, other names and other dates",
        [
            datedPlaylist(100..<106), datedPlaylist(0..<1, epoch: 6 * 107) { "new\($0).ts" },
            datedPlaylist(0..<1, epoch: 6 * 110) { "newer\($0).ts" },
        ],
        [.reset(.programDateTime), .fetch(0..<1)]
    ),
    (
        "numbers far ahead, dates long ago: both restarted",
        [datedPlaylist(100..<106), datedPlaylist(900..<906, epoch: -6 * 890)],
        [.reset(.liveEdge), .fetch(904..<906)]
    ),
    (
        "restart after an outage: all segments are new by the dates",
        [datedPlaylist(100..<106), datedPlaylist(0..<6, epoch: 6 * 500) { "new\($0).ts" }],
        [.reset(.programDateTime), .fetch(0..<6)]
    ),
    (
        "restart with the same numbers",
        [mediaPlaylist(0..<6), mediaPlaylist(2..<8) { "new\($0).ts" }], [.reset(.liveEdge), .fetch(6..<8)]
    ),
    (
        "restart with the same numbers and names, later dates",
        [datedPlaylist(0..<6), datedPlaylist(0..<6, epoch: 900)], [.reset(.programDateTime), .fetch(0..<6)]
    ),
    (
        "other URLs at each refresh: only numbers count after one reset",
        [
            mediaPlaylist(0..<6) { "/\($0)a/media.ts" }, mediaPlaylist(1..<7) { "/\($0)b/media.ts" },
            mediaPlaylist(2..<8) { "/\($0)c/media.ts" }, mediaPlaylist(3..<9) { "/\($0)d/media.ts" },
        ], [.fetch(8..<9)]
    ),
    (
        "same names again, growing for long: a reset at the first of them, not a lag",
        [mediaPlaylist(0..<6)] + (1...4).map { mediaPlaylist(0..<$0) }, [.fetch(3..<4)]
    ),
]

/// Playlists six seconds apart. `seg105.ts` is the last segment fetched from the first one.
let aheadRows: [CursorRow] = [
    (
        "numbers far ahead, same URLs",
        [mediaPlaylist(0..<50), mediaPlaylist(5001..<5051) { "seg\($0 - 5000).ts" }],
        [.reset(.url), .fetch(5050..<5051)]
    ),
    (
        "numbers ahead by exactly the window, same URLs",
        [mediaPlaylist(100..<106), mediaPlaylist(106..<112) { "seg\($0 - 6).ts" }], [.reset(.url)]
    ),
    (
        "numbers ahead by exactly the window, other URLs, dates of what was fetched",
        [datedPlaylist(100..<106), datedPlaylist(106..<112, epoch: -30) { "new\($0).ts" }],
        [.reset(.programDateTime), .fetch(111..<112)]
    ),
    (
        "numbers ahead by less than the window, same URLs",
        [mediaPlaylist(100..<106), mediaPlaylist(104..<110) { "seg\($0 - 3).ts" }],
        [.reset(.url), .fetch(109..<110)]
    ),
    (
        "numbers far ahead, no new URL",
        [mediaPlaylist(100..<106), mediaPlaylist(902..<906) { "seg\($0 - 800).ts" }], [.reset(.url)]
    ),
    (
        "numbers far ahead, other URLs",
        [mediaPlaylist(100..<106), mediaPlaylist(1_795_000_000..<1_795_000_050) { "x\($0).ts" }],
        [.reset(.liveEdge), .fetch(1_795_000_048..<1_795_000_050)]
    ),
    (
        "the largest numbers",
        [mediaPlaylist(100..<106), mediaPlaylist(UInt64.max - 9..<UInt64.max - 3) { "x\($0).ts" }],
        [.reset(.liveEdge), .fetch(UInt64.max - 5..<UInt64.max - 3)]
    ),
    (
        "segments of duration 0, far ahead",
        [mediaPlaylist(100..<106, seconds: 0), mediaPlaylist(1 << 60..<1 << 60 + 6, seconds: 0) { "x\($0)" }],
        [.reset(.liveEdge), .fetch(1 << 60 + 3..<1 << 60 + 6)]
    ),
    (
        "numbers ahead by the length of an outage",
        [mediaPlaylist(100..<106)] + frozen(29) + [mediaPlaylist(131..<137)],
        [.slidOut(lost: 106..<131), .fetch(131..<137)]
    ),
    (
        "file names repeat, after an outage",
        [mediaPlaylist(100..<106) { "\($0 % 6).ts" }] + frozen(9) { "\($0 % 6).ts" }
            + [mediaPlaylist(112..<118) { "\($0 % 6).ts" }],
        [.slidOut(lost: 106..<112), .fetch(112..<118)]
    ),
    (
        "file names repeat, window slid to the next segment",
        [mediaPlaylist(100..<106) { "\($0 % 6).ts" }] + frozen(5) { "\($0 % 6).ts" }
            + [mediaPlaylist(106..<112) { "\($0 % 6).ts" }], [.fetch(106..<112)]
    ),
    (
        "the same ad again after an outage",
        [mediaPlaylist(100..<106) { 102..<105 ~= $0 ? "ad\($0 - 102).ts" : "m\($0).ts" }]
            + [mediaPlaylist(120..<126) { 121..<124 ~= $0 ? "ad\($0 - 121).ts" : "m\($0).ts" }],
        [.slidOut(lost: 106..<120), .fetch(120..<126)]
    ),
    (
        "segments differ by query only, numbers restart",
        [mediaPlaylist(100..<106) { "s.ts?n=\($0)" }, mediaPlaylist(0..<6) { "s.ts?n=\($0 + 101)" }],
        [.reset(.url), .fetch(5..<6)]
    ),
    (
        "known names with other dates",
        [datedPlaylist(100..<106), datedPlaylist(0..<6, epoch: 6000) { "seg\($0 + 101).ts" }],
        [.reset(.programDateTime), .fetch(0..<6)]
    ),
]

/// Two packagers or origins that answer at one URL.
let flappingRows: [CursorRow] = [
    (
        "two packagers in turn, same URLs",
        [mediaPlaylist(100..<106), mediaPlaylist(5101..<5107) { "seg\($0 - 5000).ts" }, mediaPlaylist(102..<108)],
        [.reset(.url), .fetch(107..<108)]
    ),
    (
        "another origin",
        [mediaPlaylist(100..<106), foreign(7..<13)], [.reset(.liveEdge), .fetch(11..<13)]
    ),
    (
        "another origin, and back",
        [mediaPlaylist(100..<106), foreign(7..<13), mediaPlaylist(102..<108)],
        [.reset(.previousOrigin), .fetch(106..<108)]
    ),
    (
        "another origin with the same numbers, and back",
        [mediaPlaylist(100..<106), foreign(101..<107), mediaPlaylist(103..<109)],
        [.reset(.previousOrigin), .fetch(106..<109)]
    ),
    (
        "another origin with numbers ahead, and back",
        [mediaPlaylist(100..<106), foreign(9000..<9006), mediaPlaylist(102..<108)],
        [.reset(.previousOrigin), .fetch(106..<108)]
    ),
    (
        "another origin, back, then a new segment",
        [mediaPlaylist(100..<106), foreign(7..<13), mediaPlaylist(102..<108), mediaPlaylist(103..<109)],
        [.fetch(108..<109)]
    ),
    (
        "two origins in turn",
        [
            mediaPlaylist(100..<106), foreign(7..<13), mediaPlaylist(102..<108), foreign(9..<15),
            mediaPlaylist(104..<110),
        ], [.reset(.previousOrigin), .fetch(108..<110)]
    ),
    (
        "another origin, back with new numbers",
        [mediaPlaylist(100..<106), foreign(7..<13), mediaPlaylist(0..<6) { "seg\($0 + 102).ts" }],
        [.reset(.previousOrigin), .fetch(4..<6)]
    ),
    (
        "old playlist of the previous origin",
        [mediaPlaylist(100..<106), mediaPlaylist(0..<4) { "new\($0).ts" }, mediaPlaylist(100..<106)],
        [.stale(count: 1)]
    ),
    (
        "an origin without dates, then the dated one with new numbers and names",
        [datedPlaylist(100..<106), foreign(7..<13), datedPlaylist(0..<6, epoch: 6 * 102) { "new\($0).ts" }],
        [.reset(.programDateTime), .fetch(4..<6)]
    ),
    (
        "back to a playlist of hours, left near its edge",
        [mediaPlaylist(0..<900), foreign(7..<13), mediaPlaylist(2..<902)], [.reset(.previousOrigin), .fetch(900..<902)]
    ),
    (
        "back to a playlist of hours, left far from its edge",
        [mediaPlaylist(0..<900), foreign(7..<13), mediaPlaylist(200..<1100)], [.reset(.liveEdge), .fetch(1098..<1100)]
    ),
]

/// Playlists without useful numbers or URLs.
let numberlessRows: [CursorRow] = [
    (
        "no media sequence numbers, sliding window",
        (0..<4).map { slide in mediaPlaylist(0..<6) { "seg\(Int($0) + slide).ts" } }, [.reset(.url), .fetch(5..<6)]
    ),
    (
        "no media sequence numbers, no common URL after an outage",
        [0, 1, 90, 91].map { slide in mediaPlaylist(0..<6) { "seg\(Int($0) + slide).ts" } },
        [.reset(.url), .fetch(5..<6)]
    ),
    (
        "URLs that were ignored and are known again",
        ["a", "b", "c"].enumerated().map { at, token in
            mediaPlaylist(UInt64(at)..<UInt64(at) + 6) { "/\($0)\(token)/media.ts" }
        } + [mediaPlaylist(0..<6) { "/\($0 + 3)c/media.ts" }],
        [.reset(.url), .fetch(5..<6)]
    ),
]

/// Playlists right after a reset, and while URLs are ignored.
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

/// Every trust with every verdict.
@Test func trustFollowsFromTrustAndVerdict() {
    typealias Trust = SegmentCursor.Trust
    typealias Verdict = SegmentCursor.Verdict
    let (old, new) = (
        SegmentCursor.StalePlaylists(count: 1, firstUpperBound: 9),
        SegmentCursor.StalePlaylists(count: 2, firstUpperBound: 9)
    )
    func reset(_ method: SegmentCursor.RejoinMethod) -> Verdict {
        .reset(.init(method: method, next: 0, knownSegments: KnownSegments(mediaPlaylist(0..<1))))
    }
    let (byURL, byNumber) = (Trust.urls(stale: old), Trust.numbers(stale: old))
    let rows: [(verdict: Verdict, from: [Trust], to: Trust)] = [
        (.continuous, [byURL, .urlsAfterReset], .urls(stale: nil)),
        (.continuous, [byNumber], .numbers(stale: nil)),
        (.continuousByNumber, [byURL, .urlsAfterReset, byNumber], .numbers(stale: nil)),
        (.stale(new), [byURL, .urlsAfterReset], .urls(stale: new)),
        (.stale(new), [byNumber], .numbers(stale: new)),
        (reset(.url), [byURL, .urlsAfterReset, byNumber], .urls(stale: nil)),
        (reset(.previousOrigin), [byURL, .urlsAfterReset], .urls(stale: nil)),
        (reset(.previousOrigin), [byNumber], .numbers(stale: nil)),
        (reset(.programDateTime), [byURL, .urlsAfterReset], .urlsAfterReset),
        (reset(.programDateTime), [byNumber], .numbers(stale: nil)),
        (reset(.liveEdge), [byURL, .urlsAfterReset], .urlsAfterReset),
        (reset(.liveEdge), [byNumber], .numbers(stale: nil)),
    ]
    for row in rows {
        for from in row.from { #expect(from.following(row.verdict) == row.to, "\(from), \(row.verdict)") }
    }
}
