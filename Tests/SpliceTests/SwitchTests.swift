import Testing

@testable import Splice

/// A stretch of pictures behind a border, and the runs that must come of all of them.
private struct Fed {
    var border: ProgramSwitchDetector.Border
    var pictures: [VideoPacket]
}

private let wrap: Int64 = 1 << 33

private let rows: [(when: String, fed: [Fed], runs: [ProgramSwitchDetector.Signal], pictures: [Int])] = [
    (
        "one programme, two segments",
        [
            .init(border: .plain, pictures: Synthetic.pictures(50, from: 900_000)),
            .init(border: .plain, pictures: Synthetic.pictures(50, from: 1_080_000)),
        ], [.joined], [100]
    ),
    (
        "a tag where nothing changes",
        [
            .init(border: .plain, pictures: Synthetic.pictures(50, from: 900_000)),
            .init(border: .tagged, pictures: Synthetic.pictures(50, from: 1_080_000)),
        ], [.joined], [100]
    ),
    (
        "a tagged advertisement",
        [
            .init(border: .plain, pictures: Synthetic.pictures(50, from: 900_000)),
            .init(
                border: .tagged,
                pictures: Synthetic.pictures(50, from: 126_000, pid: 481, configuration: Synthetic.advertisement)),
        ],
        [.joined, .tagged], [50, 50]
    ),
    (
        "the same, untagged",
        [
            .init(border: .plain, pictures: Synthetic.pictures(50, from: 900_000)),
            .init(
                border: .plain,
                pictures: Synthetic.pictures(50, from: 126_000, pid: 481, configuration: Synthetic.advertisement)),
        ],
        [.joined, .configuration], [50, 50]
    ),
    (
        "the same parameters on a clock that restarts, untagged",
        [
            .init(border: .plain, pictures: Synthetic.pictures(50, from: 900_000)),
            .init(border: .plain, pictures: Synthetic.pictures(50, from: 126_000)),
        ], [.joined, .clock], [50, 50]
    ),
    (
        "a border gap of 0.4 s is a gap",
        [
            .init(border: .plain, pictures: Synthetic.pictures(25, from: 0)),
            .init(border: .plain, pictures: Synthetic.pictures(25, from: 90_000 + 36_000)),
        ], [.joined], [50]
    ),
    (
        "a border gap of 0.6 s is another clock",
        [
            .init(border: .plain, pictures: Synthetic.pictures(25, from: 0)),
            .init(border: .plain, pictures: Synthetic.pictures(25, from: 90_000 + 54_000)),
        ], [.joined, .clock], [25, 25]
    ),
    (
        "inside a segment 9 s forward is a gap",
        [
            .init(border: .plain, pictures: Synthetic.pictures(25, from: 0) + Synthetic.pictures(25, from: 900_000))
        ],
        [.joined], [50]
    ),
    (
        "inside a segment 11 s forward is another clock",
        [
            .init(border: .plain, pictures: Synthetic.pictures(25, from: 0) + Synthetic.pictures(25, from: 1_080_000))
        ],
        [.joined, .clock], [25, 25]
    ),
    (
        "two frames back is another clock",
        [
            .init(
                border: .plain, pictures: Synthetic.pictures(25, from: 900_000) + Synthetic.pictures(25, from: 979_200))
        ],
        [.joined, .clock], [25, 25]
    ),
    (
        "one frame back is a sloppy muxer",
        [
            .init(
                border: .plain, pictures: Synthetic.pictures(25, from: 900_000) + Synthetic.pictures(25, from: 982_800))
        ],
        [.joined], [50]
    ),
    (
        "the 33-bit wrap is no signal", [.init(border: .plain, pictures: Synthetic.pictures(50, from: wrap - 90_000))],
        [.joined], [50]
    ),
    (
        "after a seam a run begins even where the clock goes on",
        [
            .init(border: .plain, pictures: Synthetic.pictures(25, from: 0)),
            .init(border: .seam, pictures: Synthetic.pictures(25, from: 90_000)),
        ], [.joined, .seam], [25, 25]
    ),
    (
        "a run begins at the first IDR after the signal",
        [
            .init(border: .plain, pictures: Synthetic.pictures(25, from: 0)),
            .init(border: .plain, pictures: Array(Synthetic.pictures(50, from: 9_000_000).dropFirst(10))),
        ],
        [.joined, .clock], [25, 25]
    ),
    (
        "joined in the middle of a group",
        [
            .init(border: .plain, pictures: Array(Synthetic.pictures(50, from: 0).dropFirst(10)))
        ], [.joined], [25]
    ),
    (
        "leading pictures of the run's first IDR are not shown",
        [
            .init(
                border: .plain,
                pictures: [
                    Synthetic.picture(dts: 0, pts: 7200, sync: .instantaneousRefresh),
                    Synthetic.picture(dts: 3600, pts: 3600),
                    Synthetic.picture(dts: 7200, pts: 10_800),
                ])
        ], [.joined], [2]
    ),
    (
        "a clean random access picture begins a run, those that lead it are not shown, and the next begins none",
        [
            .init(
                border: .plain,
                pictures: [
                    Synthetic.picture(dts: 0, pts: 7200, sync: .cleanRandomAccess),
                    Synthetic.picture(dts: 3600, pts: 3600),
                    Synthetic.picture(dts: 7200, pts: 14_400, sync: .cleanRandomAccess),
                    Synthetic.picture(dts: 10_800, pts: 10_800),
                ])
        ], [.joined], [3]
    ),
    (
        "where the clock goes back a clean random access picture is enough to go on with",
        [
            .init(border: .plain, pictures: Synthetic.pictures(25, from: 9_000_000)),
            .init(
                border: .plain,
                pictures: [
                    Synthetic.picture(dts: 0, pts: 3600, sync: .cleanRandomAccess),
                    Synthetic.picture(dts: 3600, pts: 7200),
                ]),
        ], [.joined, .clock], [25, 2]
    ),
    (
        "a clean random access picture with other parameter sets begins a run",
        [
            .init(
                border: .plain,
                pictures: Synthetic.pictures(25, from: 0) + [
                    Synthetic.picture(dts: 90_000, sync: .cleanRandomAccess, configuration: Synthetic.advertisement)
                ])
        ], [.joined, .configuration], [25, 1]
    ),
    (
        "two clocks that meet in their decode times alone",
        [
            .init(
                border: .plain,
                pictures: Synthetic.pictures(25, from: 900_000) + [
                    Synthetic.picture(dts: 990_000, pts: 702_000, sync: .instantaneousRefresh),
                    Synthetic.picture(dts: 993_600, pts: 705_600),
                ])
        ], [.joined, .clock], [25, 2]
    ),
    (
        "nor does a picture that nothing can begin with go on on the other clock",
        [
            .init(
                border: .plain,
                pictures: Synthetic.pictures(25, from: 900_000) + [
                    Synthetic.picture(dts: 990_000, pts: 702_000), Synthetic.picture(dts: 993_600, pts: 705_600),
                    Synthetic.picture(dts: 997_200, pts: 709_200, sync: .instantaneousRefresh),
                    Synthetic.picture(dts: 1_000_800, pts: 712_800),
                ])
        ], [.joined, .clock], [25, 2]
    ),
    (
        "a picture of other parameter sets is none of the old run's, whatever it is",
        [
            .init(
                border: .plain,
                pictures: Synthetic.pictures(25, from: 0) + [
                    Synthetic.picture(dts: 90_000, configuration: Synthetic.advertisement),
                    Synthetic.picture(
                        dts: 93_600, sync: .instantaneousRefresh, configuration: Synthetic.advertisement),
                ])
        ], [.joined, .configuration], [25, 1]
    ),
    (
        "two programmes inside one segment",
        [
            .init(
                border: .plain,
                pictures: Synthetic.pictures(25, from: 900_000)
                    + Synthetic.pictures(25, from: 0, pid: 481, configuration: Synthetic.advertisement)
                    + Synthetic.pictures(25, from: 5_000_000))
        ],
        [.joined, .configuration, .configuration], [25, 25, 25]
    ),
]

@Test(arguments: rows.indices)
func runsAreFound(_ index: Int) {
    let row = rows[index]
    var finder = RunFinder()
    var signals: [ProgramSwitchDetector.Signal] = []
    var counts: [Int] = []
    for fed in row.fed {
        for piece in finder.pieces(of: fed.pictures, from: Synthetic.segment(), border: fed.border) {
            if let signal = piece.signal {
                signals.append(signal)
                counts.append(0)
            }
            counts[counts.count - 1] += piece.units.count
        }
    }
    #expect(signals == row.runs, "\(row.when)")
    #expect(counts == row.pictures, "\(row.when)")
    let fed = row.fed.reduce(0) { $0 + $1.pictures.count }
    #expect(
        counts.reduce(0, +) + finder.picturesBeforeSync + finder.leadingPictures == fed, "\(row.when): all accounted")
}

/// A hole is the time of a picture, and no picture can last longer than a segment may.
@Test(arguments: [(Int64(3), 1), (5, 2)])
func aHoleThatNoSegmentHoldsIsAnotherClock(seconds: Int64, runs: Int) {
    let packets = Synthetic.pictures(25, from: 900_000) + Synthetic.pictures(25, from: 990_000 + seconds * 90_000)
    var finder = RunFinder(longestGap: .seconds(4))
    let pieces = finder.pieces(of: packets, from: Synthetic.segment(), border: .plain)
    #expect(pieces.compactMap(\.signal) == [ProgramSwitchDetector.Signal.joined, .clock].dropLast(2 - runs))
}

/// Where the upstream dates a segment, each piece in it has its date: a change of clock takes no time.
@Test func aDateIsCountedOnOverASwitchInsideASegment() {
    let packets =
        Synthetic.pictures(25, from: 900_000)
        + Synthetic.pictures(25, from: 5_000_000, pid: 481, configuration: Synthetic.advertisement)
        + Synthetic.pictures(25, from: 126_000)
    var finder = RunFinder()
    let pieces = finder.pieces(of: packets, from: Synthetic.segment(date: 60_000), border: .plain)
    #expect(pieces.map(\.programDateTime) == [60_000, 61_000, 62_000])
    #expect(pieces.map(\.opensSegment) == [true, false, false])
}

@Test func aRunBeginsWithTheClockOfWhatItHadToLeaveOut() {
    let fed = Array(Synthetic.pictures(50, from: 9_000_000).dropFirst(10))
    var finder = RunFinder()
    let pieces = finder.pieces(of: fed, from: Synthetic.segment(), border: .plain)
    #expect(pieces.first?.window.start.count == 9_090_000)
    #expect(pieces.first?.window.clockStart?.count == 9_036_000, "sound on another clock began with that picture")
}

/// Whatever a leading picture's decode time is to its presentation: an encoder may decode all of them late.
@Test(arguments: [0, 7200, 288_000])
func aLeadingPictureLeftOutGivesItsDecodeTimeAway(late: Int64) {
    let fed = [
        Synthetic.picture(dts: late, pts: 10_800, sync: .instantaneousRefresh),
        Synthetic.picture(dts: late + 3600, pts: 3600), Synthetic.picture(dts: late + 7200, pts: 7200),
        Synthetic.picture(dts: late + 10_800, pts: 14_400),
    ]
    var finder = RunFinder()
    let pieces = finder.pieces(of: fed, from: Synthetic.segment(), border: .plain)
    #expect(pieces.first?.units.map(\.dts.count) == [late + 7200, late + 10_800])
    #expect(pieces.first?.units.map(\.isSync) == [true, false])
}

/// An upstream segment may end between a run's first picture and those that lead it.
@Test func aFirstPictureWaitsForThoseThatLeadIt() {
    var finder = RunFinder()
    let first = [Synthetic.picture(dts: 0, pts: 10_800, sync: .instantaneousRefresh)]
    let rest = [
        Synthetic.picture(dts: 3600, pts: 3600), Synthetic.picture(dts: 7200, pts: 7200),
        Synthetic.picture(dts: 10_800, pts: 14_400),
    ]
    #expect(finder.pieces(of: first, from: Synthetic.segment(7), border: .plain).isEmpty)
    let pieces = finder.pieces(of: rest, from: Synthetic.segment(8), border: .plain)
    #expect(pieces.map { $0.units.map(\.dts.count) } == [[7200], [10_800]])
    #expect(pieces.map(\.mediaSequence) == [7, 8])
    #expect(pieces.map(\.opensSegment) == [true, true])
    #expect(pieces.map(\.frameDuration.count) == [3600, 3600])
    var ended = RunFinder()
    #expect(ended.pieces(of: first, from: Synthetic.segment(), border: .plain).isEmpty)
    #expect(ended.finish().map(\.units.count) == [1])
}

@Test func theClockOfWhatWasLeftOutIsRememberedOverSegments() {
    var finder = RunFinder()
    let fed = [
        Synthetic.pictures(25, from: 0), Array(Synthetic.pictures(25, from: 9_000_000).dropFirst(10)),
        Array(Synthetic.pictures(25, from: 5_000_000).dropFirst(10)),
        Array(Synthetic.pictures(20, from: 5_090_000).dropFirst(1)),
        Synthetic.pictures(25, from: 5_162_000),
    ]
    let pieces = fed.flatMap { finder.pieces(of: $0, from: Synthetic.segment(), border: .plain) }
    #expect(pieces.map(\.window.start.count) == [0, 5_162_000])
    #expect(pieces.last?.window.clockStart?.count == 5_036_000, "of the clock that the run is on")
}
