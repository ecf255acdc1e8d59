import Testing

@testable import Demux
@testable import Media
@testable import Mux
@testable import Splice
@testable import Transcode

/// A stretch of pictures behind a border, and the runs that must come of all of them.
private struct Fed {
    var boundary: DiscontinuityDetector.Boundary
    var pictures: [VideoPacket]
}

private let wrap: Int64 = 1 << 33

private let rows: [(when: String, fed: [Fed], runs: [DiscontinuityDetector.Signal], pictures: [Int])] = [
    (
        "one programme, two segments",
        [
            .init(boundary: .plain, pictures: SyntheticPackets.videoPackets(50, from: 900_000)),
            .init(boundary: .plain, pictures: SyntheticPackets.videoPackets(50, from: 1_080_000)),
        ], [.joined], [100]
    ),
    (
        "a tag where nothing changes",
        [
            .init(boundary: .plain, pictures: SyntheticPackets.videoPackets(50, from: 900_000)),
            .init(boundary: .tagged, pictures: SyntheticPackets.videoPackets(50, from: 1_080_000)),
        ], [.joined], [100]
    ),
    (
        "a tagged advertisement",
        [
            .init(boundary: .plain, pictures: SyntheticPackets.videoPackets(50, from: 900_000)),
            .init(
                boundary: .tagged,
                pictures: SyntheticPackets.videoPackets(
                    50, from: 126_000, pid: 481, configuration: SyntheticPackets.advertisement)),
        ],
        [.joined, .tagged], [50, 50]
    ),
    (
        "the same, untagged",
        [
            .init(boundary: .plain, pictures: SyntheticPackets.videoPackets(50, from: 900_000)),
            .init(
                boundary: .plain,
                pictures: SyntheticPackets.videoPackets(
                    50, from: 126_000, pid: 481, configuration: SyntheticPackets.advertisement)),
        ],
        [.joined, .configuration], [50, 50]
    ),
    (
        "the same parameters on a clock that restarts, untagged",
        [
            .init(boundary: .plain, pictures: SyntheticPackets.videoPackets(50, from: 900_000)),
            .init(boundary: .plain, pictures: SyntheticPackets.videoPackets(50, from: 126_000)),
        ], [.joined, .clock], [50, 50]
    ),
    (
        "a border gap of 0.4 s is a gap",
        [
            .init(boundary: .plain, pictures: SyntheticPackets.videoPackets(25, from: 0)),
            .init(boundary: .plain, pictures: SyntheticPackets.videoPackets(25, from: 90_000 + 36_000)),
        ], [.joined], [50]
    ),
    (
        "a border gap of 0.6 s is another clock",
        [
            .init(boundary: .plain, pictures: SyntheticPackets.videoPackets(25, from: 0)),
            .init(boundary: .plain, pictures: SyntheticPackets.videoPackets(25, from: 90_000 + 54_000)),
        ], [.joined, .clock], [25, 25]
    ),
    (
        "inside a segment 9 s forward is a gap",
        [
            .init(
                boundary: .plain,
                pictures: SyntheticPackets.videoPackets(25, from: 0) + SyntheticPackets.videoPackets(25, from: 900_000))
        ],
        [.joined], [50]
    ),
    (
        "inside a segment 11 s forward is another clock",
        [
            .init(
                boundary: .plain,
                pictures: SyntheticPackets.videoPackets(25, from: 0)
                    + SyntheticPackets.videoPackets(25, from: 1_080_000))
        ],
        [.joined, .clock], [25, 25]
    ),
    (
        "two frames back is another clock",
        [
            .init(
                boundary: .plain,
                pictures: SyntheticPackets.videoPackets(25, from: 900_000)
                    + SyntheticPackets.videoPackets(25, from: 979_200))
        ],
        [.joined, .clock], [25, 25]
    ),
    (
        "one frame back is a sloppy muxer",
        [
            .init(
                boundary: .plain,
                pictures: SyntheticPackets.videoPackets(25, from: 900_000)
                    + SyntheticPackets.videoPackets(25, from: 982_800))
        ],
        [.joined], [50]
    ),
    (
        "the 33-bit wrap is no signal",
        [.init(boundary: .plain, pictures: SyntheticPackets.videoPackets(50, from: wrap - 90_000))],
        [.joined], [50]
    ),
    (
        "after a seam a run begins even where the clock goes on",
        [
            .init(boundary: .plain, pictures: SyntheticPackets.videoPackets(25, from: 0)),
            .init(boundary: .loss, pictures: SyntheticPackets.videoPackets(25, from: 90_000)),
        ], [.joined, .loss], [25, 25]
    ),
    (
        "a run begins at the first IDR after the signal",
        [
            .init(boundary: .plain, pictures: SyntheticPackets.videoPackets(25, from: 0)),
            .init(boundary: .plain, pictures: Array(SyntheticPackets.videoPackets(50, from: 9_000_000).dropFirst(10))),
        ],
        [.joined, .clock], [25, 25]
    ),
    (
        "joined in the middle of a group",
        [
            .init(boundary: .plain, pictures: Array(SyntheticPackets.videoPackets(50, from: 0).dropFirst(10)))
        ], [.joined], [25]
    ),
    (
        "leading pictures of the run's first IDR are not shown",
        [
            .init(
                boundary: .plain,
                pictures: [
                    SyntheticPackets.videoPacket(dts: 0, pts: 7200, sync: .instantaneousRefresh),
                    SyntheticPackets.videoPacket(dts: 3600, pts: 3600),
                    SyntheticPackets.videoPacket(dts: 7200, pts: 10_800),
                ])
        ], [.joined], [2]
    ),
    (
        "a clean random access picture begins a run, those that lead it are not shown, and the next begins none",
        [
            .init(
                boundary: .plain,
                pictures: [
                    SyntheticPackets.videoPacket(dts: 0, pts: 7200, sync: .cleanRandomAccess),
                    SyntheticPackets.videoPacket(dts: 3600, pts: 3600),
                    SyntheticPackets.videoPacket(dts: 7200, pts: 14_400, sync: .cleanRandomAccess),
                    SyntheticPackets.videoPacket(dts: 10_800, pts: 10_800),
                ])
        ], [.joined], [3]
    ),
    (
        "where the clock goes back a clean random access picture is enough to go on with",
        [
            .init(boundary: .plain, pictures: SyntheticPackets.videoPackets(25, from: 9_000_000)),
            .init(
                boundary: .plain,
                pictures: [
                    SyntheticPackets.videoPacket(dts: 0, pts: 3600, sync: .cleanRandomAccess),
                    SyntheticPackets.videoPacket(dts: 3600, pts: 7200),
                ]),
        ], [.joined, .clock], [25, 2]
    ),
    (
        "a clean random access picture with other parameter sets begins a run",
        [
            .init(
                boundary: .plain,
                pictures: SyntheticPackets.videoPackets(25, from: 0) + [
                    SyntheticPackets.videoPacket(
                        dts: 90_000, sync: .cleanRandomAccess, configuration: SyntheticPackets.advertisement)
                ])
        ], [.joined, .configuration], [25, 1]
    ),
    (
        "two clocks that meet in their decode times alone",
        [
            .init(
                boundary: .plain,
                pictures: SyntheticPackets.videoPackets(25, from: 900_000) + [
                    SyntheticPackets.videoPacket(dts: 990_000, pts: 702_000, sync: .instantaneousRefresh),
                    SyntheticPackets.videoPacket(dts: 993_600, pts: 705_600),
                ])
        ], [.joined, .clock], [25, 2]
    ),
    (
        "nor does a picture that nothing can begin with go on on the other clock",
        [
            .init(
                boundary: .plain,
                pictures: SyntheticPackets.videoPackets(25, from: 900_000) + [
                    SyntheticPackets.videoPacket(dts: 990_000, pts: 702_000),
                    SyntheticPackets.videoPacket(dts: 993_600, pts: 705_600),
                    SyntheticPackets.videoPacket(dts: 997_200, pts: 709_200, sync: .instantaneousRefresh),
                    SyntheticPackets.videoPacket(dts: 1_000_800, pts: 712_800),
                ])
        ], [.joined, .clock], [25, 2]
    ),
    (
        "a picture of other parameter sets is none of the old run's, whatever it is",
        [
            .init(
                boundary: .plain,
                pictures: SyntheticPackets.videoPackets(25, from: 0) + [
                    SyntheticPackets.videoPacket(dts: 90_000, configuration: SyntheticPackets.advertisement),
                    SyntheticPackets.videoPacket(
                        dts: 93_600, sync: .instantaneousRefresh, configuration: SyntheticPackets.advertisement),
                ])
        ], [.joined, .configuration], [25, 1]
    ),
    (
        "two programmes inside one segment",
        [
            .init(
                boundary: .plain,
                pictures: SyntheticPackets.videoPackets(25, from: 900_000)
                    + SyntheticPackets.videoPackets(
                        25, from: 0, pid: 481, configuration: SyntheticPackets.advertisement)
                    + SyntheticPackets.videoPackets(25, from: 5_000_000))
        ],
        [.joined, .configuration, .configuration], [25, 25, 25]
    ),
]

@Test(arguments: rows.indices)
func periodsAreFound(_ index: Int) {
    let row = rows[index]
    var finder = PeriodSplitter()
    var signals: [DiscontinuityDetector.Signal] = []
    var counts: [Int] = []
    for fed in row.fed {
        for piece in finder.split(fed.pictures, from: SyntheticPackets.segment(), boundary: fed.boundary) {
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
        counts.reduce(0, +) + finder.framesBeforeSync + finder.leadingPictures == fed, "\(row.when): all accounted")
}

/// A hole is the time of a picture, and no picture can last longer than a segment may.
@Test(arguments: [(Int64(3), 1), (5, 2)])
func aGapLongerThanASegmentIsAnotherClock(seconds: Int64, runs: Int) {
    let packets =
        SyntheticPackets.videoPackets(25, from: 900_000)
        + SyntheticPackets.videoPackets(25, from: 990_000 + seconds * 90_000)
    var finder = PeriodSplitter(longestGap: .seconds(4))
    let pieces = finder.split(packets, from: SyntheticPackets.segment(), boundary: .plain)
    #expect(pieces.compactMap(\.signal) == [DiscontinuityDetector.Signal.joined, .clock].dropLast(2 - runs))
}

/// Where the upstream dates a segment, each piece in it has its date: a change of clock takes no time.
@Test func aDateIsCountedOnOverASwitchInsideASegment() {
    let packets =
        SyntheticPackets.videoPackets(25, from: 900_000)
        + SyntheticPackets.videoPackets(25, from: 5_000_000, pid: 481, configuration: SyntheticPackets.advertisement)
        + SyntheticPackets.videoPackets(25, from: 126_000)
    var finder = PeriodSplitter()
    let pieces = finder.split(packets, from: SyntheticPackets.segment(date: 60_000), boundary: .plain)
    #expect(pieces.map(\.programDateTime) == [60_000, 61_000, 62_000])
    #expect(pieces.map(\.opensSegment) == [true, false, false])
}

@Test func aPeriodBeginsWithTheClockOfItsDroppedFrames() {
    let fed = Array(SyntheticPackets.videoPackets(50, from: 9_000_000).dropFirst(10))
    var finder = PeriodSplitter()
    let pieces = finder.split(fed, from: SyntheticPackets.segment(), boundary: .plain)
    #expect(pieces.first?.videoSpan.start.count == 9_090_000)
    #expect(pieces.first?.videoSpan.clockStart?.count == 9_036_000, "sound on another clock began with that picture")
}

/// Whatever a leading picture's decode time is to its presentation: an encoder may decode all of them late.
@Test(arguments: [0, 7200, 288_000])
func aDroppedLeadingPictureYieldsItsDecodeTime(late: Int64) {
    let fed = [
        SyntheticPackets.videoPacket(dts: late, pts: 10_800, sync: .instantaneousRefresh),
        SyntheticPackets.videoPacket(dts: late + 3600, pts: 3600),
        SyntheticPackets.videoPacket(dts: late + 7200, pts: 7200),
        SyntheticPackets.videoPacket(dts: late + 10_800, pts: 14_400),
    ]
    var finder = PeriodSplitter()
    let pieces = finder.split(fed, from: SyntheticPackets.segment(), boundary: .plain)
    #expect(pieces.first?.units.map(\.dts.count) == [late + 7200, late + 10_800])
    #expect(pieces.first?.units.map(\.isSync) == [true, false])
}

/// An upstream segment may end between a run's first picture and those that lead it.
@Test func aFirstFrameWaitsForItsLeadingPictures() {
    var finder = PeriodSplitter()
    let first = [SyntheticPackets.videoPacket(dts: 0, pts: 10_800, sync: .instantaneousRefresh)]
    let rest = [
        SyntheticPackets.videoPacket(dts: 3600, pts: 3600), SyntheticPackets.videoPacket(dts: 7200, pts: 7200),
        SyntheticPackets.videoPacket(dts: 10_800, pts: 14_400),
    ]
    #expect(finder.split(first, from: SyntheticPackets.segment(7), boundary: .plain).isEmpty)
    let pieces = finder.split(rest, from: SyntheticPackets.segment(8), boundary: .plain)
    #expect(pieces.map { $0.units.map(\.dts.count) } == [[7200], [10_800]])
    #expect(pieces.map(\.mediaSequence) == [7, 8])
    #expect(pieces.map(\.opensSegment) == [true, true])
    #expect(pieces.map(\.frameDuration.count) == [3600, 3600])
    var ended = PeriodSplitter()
    #expect(ended.split(first, from: SyntheticPackets.segment(), boundary: .plain).isEmpty)
    #expect(ended.finish().map(\.units.count) == [1])
}

@Test func theClockOfDroppedFramesIsKeptAcrossSegments() {
    var finder = PeriodSplitter()
    let fed = [
        SyntheticPackets.videoPackets(25, from: 0),
        Array(SyntheticPackets.videoPackets(25, from: 9_000_000).dropFirst(10)),
        Array(SyntheticPackets.videoPackets(25, from: 5_000_000).dropFirst(10)),
        Array(SyntheticPackets.videoPackets(20, from: 5_090_000).dropFirst(1)),
        SyntheticPackets.videoPackets(25, from: 5_162_000),
    ]
    let pieces = fed.flatMap { finder.split($0, from: SyntheticPackets.segment(), boundary: .plain) }
    #expect(pieces.map(\.videoSpan.start.count) == [0, 5_162_000])
    #expect(pieces.last?.videoSpan.clockStart?.count == 5_036_000, "of the clock that the run is on")
}
