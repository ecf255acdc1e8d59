import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

/// Frames of one segment, after a boundary.
private struct Segment {
    var boundary: SegmentBoundary
    var frames: [VideoPacket]
}

private let wrap: Int64 = 1 << 33

private let rows: [(when: String, segments: [Segment], signals: [DiscontinuityDetector.Signal], frames: [Int])] = [
    (
        "one program, two segments",
        [
            .init(boundary: .plain, frames: SyntheticPackets.videoPackets(50, from: 900_000)),
            .init(boundary: .plain, frames: SyntheticPackets.videoPackets(50, from: 1_080_000)),
        ], [.joined], [100]
    ),
    (
        "a needless tag",
        [
            .init(boundary: .plain, frames: SyntheticPackets.videoPackets(50, from: 900_000)),
            .init(boundary: .tagged, frames: SyntheticPackets.videoPackets(50, from: 1_080_000)),
        ], [.joined], [100]
    ),
    (
        "a tagged ad",
        [
            .init(boundary: .plain, frames: SyntheticPackets.videoPackets(50, from: 900_000)),
            .init(
                boundary: .tagged,
                frames: SyntheticPackets.videoPackets(
                    50, from: 126_000, pid: 481, configuration: SyntheticPackets.advertisement)),
        ],
        [.joined, .tagged], [50, 50]
    ),
    (
        "an untagged ad",
        [
            .init(boundary: .plain, frames: SyntheticPackets.videoPackets(50, from: 900_000)),
            .init(
                boundary: .plain,
                frames: SyntheticPackets.videoPackets(
                    50, from: 126_000, pid: 481, configuration: SyntheticPackets.advertisement)),
        ],
        [.joined, .configuration], [50, 50]
    ),
    (
        "the same parameters on a clock that restarts, untagged",
        [
            .init(boundary: .plain, frames: SyntheticPackets.videoPackets(50, from: 900_000)),
            .init(boundary: .plain, frames: SyntheticPackets.videoPackets(50, from: 126_000)),
        ], [.joined, .clock], [50, 50]
    ),
    (
        "a step of 0.4 s at a boundary is a gap",
        [
            .init(boundary: .plain, frames: SyntheticPackets.videoPackets(25, from: 0)),
            .init(boundary: .plain, frames: SyntheticPackets.videoPackets(25, from: 90_000 + 36_000)),
        ], [.joined], [50]
    ),
    (
        "a step of 0.6 s at a boundary is another clock",
        [
            .init(boundary: .plain, frames: SyntheticPackets.videoPackets(25, from: 0)),
            .init(boundary: .plain, frames: SyntheticPackets.videoPackets(25, from: 90_000 + 54_000)),
        ], [.joined, .clock], [25, 25]
    ),
    (
        "inside a segment 9 s forward is a gap",
        [
            .init(
                boundary: .plain,
                frames: SyntheticPackets.videoPackets(25, from: 0) + SyntheticPackets.videoPackets(25, from: 900_000))
        ],
        [.joined], [50]
    ),
    (
        "inside a segment 11 s forward is another clock",
        [
            .init(
                boundary: .plain,
                frames: SyntheticPackets.videoPackets(25, from: 0)
                    + SyntheticPackets.videoPackets(25, from: 1_080_000))
        ],
        [.joined, .clock], [25, 25]
    ),
    (
        "two frames back is another clock",
        [
            .init(
                boundary: .plain,
                frames: SyntheticPackets.videoPackets(25, from: 900_000)
                    + SyntheticPackets.videoPackets(25, from: 979_200))
        ],
        [.joined, .clock], [25, 25]
    ),
    (
        "one frame back is a sloppy muxer",
        [
            .init(
                boundary: .plain,
                frames: SyntheticPackets.videoPackets(25, from: 900_000)
                    + SyntheticPackets.videoPackets(25, from: 982_800))
        ],
        [.joined], [50]
    ),
    (
        "the 33-bit wrap is no signal",
        [.init(boundary: .plain, frames: SyntheticPackets.videoPackets(50, from: wrap - 90_000))],
        [.joined], [50]
    ),
    (
        "after a loss a period begins even where the clock continues",
        [
            .init(boundary: .plain, frames: SyntheticPackets.videoPackets(25, from: 0)),
            .init(boundary: .loss, frames: SyntheticPackets.videoPackets(25, from: 90_000)),
        ], [.joined, .loss], [25, 25]
    ),
    (
        "a period begins at the first IDR after the signal",
        [
            .init(boundary: .plain, frames: SyntheticPackets.videoPackets(25, from: 0)),
            .init(boundary: .plain, frames: Array(SyntheticPackets.videoPackets(50, from: 9_000_000).dropFirst(10))),
        ],
        [.joined, .clock], [25, 25]
    ),
    (
        "joined in the middle of a GOP",
        [
            .init(boundary: .plain, frames: Array(SyntheticPackets.videoPackets(50, from: 0).dropFirst(10)))
        ], [.joined], [25]
    ),
    (
        "leading pictures of the first IDR of a period are dropped",
        [
            .init(
                boundary: .plain,
                frames: [
                    SyntheticPackets.videoPacket(dts: 0, pts: 7200, sync: .instantaneousRefresh),
                    SyntheticPackets.videoPacket(dts: 3600, pts: 3600),
                    SyntheticPackets.videoPacket(dts: 7200, pts: 10_800),
                ])
        ], [.joined], [2]
    ),
    (
        "a CRA picture begins a period, its leading pictures are dropped, and the next CRA begins none",
        [
            .init(
                boundary: .plain,
                frames: [
                    SyntheticPackets.videoPacket(dts: 0, pts: 7200, sync: .cleanRandomAccess),
                    SyntheticPackets.videoPacket(dts: 3600, pts: 3600),
                    SyntheticPackets.videoPacket(dts: 7200, pts: 14_400, sync: .cleanRandomAccess),
                    SyntheticPackets.videoPacket(dts: 10_800, pts: 10_800),
                ])
        ], [.joined], [3]
    ),
    (
        "a CRA picture begins a period where the clock steps back",
        [
            .init(boundary: .plain, frames: SyntheticPackets.videoPackets(25, from: 9_000_000)),
            .init(
                boundary: .plain,
                frames: [
                    SyntheticPackets.videoPacket(dts: 0, pts: 3600, sync: .cleanRandomAccess),
                    SyntheticPackets.videoPacket(dts: 3600, pts: 7200),
                ]),
        ], [.joined, .clock], [25, 2]
    ),
    (
        "a CRA picture with other parameter sets begins a period",
        [
            .init(
                boundary: .plain,
                frames: SyntheticPackets.videoPackets(25, from: 0) + [
                    SyntheticPackets.videoPacket(
                        dts: 90_000, sync: .cleanRandomAccess, configuration: SyntheticPackets.advertisement)
                ])
        ], [.joined, .configuration], [25, 1]
    ),
    (
        "two clocks that coincide in their decode times alone",
        [
            .init(
                boundary: .plain,
                frames: SyntheticPackets.videoPackets(25, from: 900_000) + [
                    SyntheticPackets.videoPacket(dts: 990_000, pts: 702_000, sync: .instantaneousRefresh),
                    SyntheticPackets.videoPacket(dts: 993_600, pts: 705_600),
                ])
        ], [.joined, .clock], [25, 2]
    ),
    (
        "frames before the first IDR on the other clock are dropped",
        [
            .init(
                boundary: .plain,
                frames: SyntheticPackets.videoPackets(25, from: 900_000) + [
                    SyntheticPackets.videoPacket(dts: 990_000, pts: 702_000),
                    SyntheticPackets.videoPacket(dts: 993_600, pts: 705_600),
                    SyntheticPackets.videoPacket(dts: 997_200, pts: 709_200, sync: .instantaneousRefresh),
                    SyntheticPackets.videoPacket(dts: 1_000_800, pts: 712_800),
                ])
        ], [.joined, .clock], [25, 2]
    ),
    (
        "a frame with other parameter sets does not belong to the old period",
        [
            .init(
                boundary: .plain,
                frames: SyntheticPackets.videoPackets(25, from: 0) + [
                    SyntheticPackets.videoPacket(dts: 90_000, configuration: SyntheticPackets.advertisement),
                    SyntheticPackets.videoPacket(
                        dts: 93_600, sync: .instantaneousRefresh, configuration: SyntheticPackets.advertisement),
                ])
        ], [.joined, .configuration], [25, 1]
    ),
    (
        "two programs inside one segment",
        [
            .init(
                boundary: .plain,
                frames: SyntheticPackets.videoPackets(25, from: 900_000)
                    + SyntheticPackets.videoPackets(
                        25, from: 0, pid: 481, configuration: SyntheticPackets.advertisement)
                    + SyntheticPackets.videoPackets(25, from: 5_000_000))
        ],
        [.joined, .configuration, .configuration], [25, 25, 25]
    ),
]

@Test(arguments: rows.indices)
func videoIsSplitIntoPeriods(_ index: Int) {
    let row = rows[index]
    var splitter = PeriodSplitter()
    var signals: [DiscontinuityDetector.Signal] = []
    var counts: [Int] = []
    for segment in row.segments {
        for part in splitter.split(segment.frames, from: SyntheticPackets.segment(), boundary: segment.boundary) {
            if let signal = part.signal {
                signals.append(signal)
                counts.append(0)
            }
            counts[counts.count - 1] += part.units.count
        }
    }
    #expect(signals == row.signals, "\(row.when)")
    #expect(counts == row.frames, "\(row.when)")
    let received = row.segments.reduce(0) { $0 + $1.frames.count }
    #expect(
        counts.reduce(0, +) + splitter.counts[.framesBeforeSync] + splitter.counts[.leadingPictures] == received,
        "\(row.when): every frame is accounted for")
}

/// A gap extends a frame, and no frame can last longer than a segment may.
@Test(arguments: [(Int64(3), 1), (5, 2)])
func gapLongerThanASegmentIsAnotherClock(seconds: Int64, periods: Int) {
    let packets =
        SyntheticPackets.videoPackets(25, from: 900_000)
        + SyntheticPackets.videoPackets(25, from: 990_000 + seconds * 90_000)
    var splitter = PeriodSplitter(longestGap: .seconds(4))
    let parts = splitter.split(packets, from: SyntheticPackets.segment(), boundary: .plain)
    #expect(parts.compactMap(\.signal) == [DiscontinuityDetector.Signal.joined, .clock].dropLast(2 - periods))
}

/// Each part of a dated segment has a date: a change of clock takes no time.
@Test func dateContinuesAcrossAClockChangeInsideASegment() {
    let packets =
        SyntheticPackets.videoPackets(25, from: 900_000)
        + SyntheticPackets.videoPackets(25, from: 5_000_000, pid: 481, configuration: SyntheticPackets.advertisement)
        + SyntheticPackets.videoPackets(25, from: 126_000)
    var splitter = PeriodSplitter()
    let parts = splitter.split(packets, from: SyntheticPackets.segment(date: 60_000), boundary: .plain)
    #expect(parts.map(\.programDateTime) == [60_000, 61_000, 62_000])
    #expect(parts.map(\.opensSegment) == [true, false, false])
}

@Test func periodKnowsTheClockOfItsDroppedFrames() {
    let packets = Array(SyntheticPackets.videoPackets(50, from: 9_000_000).dropFirst(10))
    var splitter = PeriodSplitter()
    let parts = splitter.split(packets, from: SyntheticPackets.segment(), boundary: .plain)
    #expect(parts.first?.videoSpan.start.count == 9_090_000)
    #expect(parts.first?.videoSpan.clockStart?.count == 9_036_000, "audio on another clock begins with that frame")
}

/// Holds for any distance of decode and presentation times: an encoder may decode all leading pictures late.
@Test(arguments: [0, 7200, 288_000])
func firstFrameTakesTheDecodeTimeOfADroppedLeadingPicture(late: Int64) {
    let packets = [
        SyntheticPackets.videoPacket(dts: late, pts: 10_800, sync: .instantaneousRefresh),
        SyntheticPackets.videoPacket(dts: late + 3600, pts: 3600),
        SyntheticPackets.videoPacket(dts: late + 7200, pts: 7200),
        SyntheticPackets.videoPacket(dts: late + 10_800, pts: 14_400),
    ]
    var splitter = PeriodSplitter()
    let parts = splitter.split(packets, from: SyntheticPackets.segment(), boundary: .plain)
    #expect(parts.first?.units.map(\.dts.count) == [late + 7200, late + 10_800])
    #expect(parts.first?.units.map(\.randomAccess) == [.instantaneousRefresh, nil])
}

/// An upstream segment may end between the first frame of a period and its leading pictures.
@Test func firstFrameWaitsForItsLeadingPictures() {
    var splitter = PeriodSplitter()
    let first = [SyntheticPackets.videoPacket(dts: 0, pts: 10_800, sync: .instantaneousRefresh)]
    let rest = [
        SyntheticPackets.videoPacket(dts: 3600, pts: 3600), SyntheticPackets.videoPacket(dts: 7200, pts: 7200),
        SyntheticPackets.videoPacket(dts: 10_800, pts: 14_400),
    ]
    #expect(splitter.split(first, from: SyntheticPackets.segment(7), boundary: .plain).isEmpty)
    let parts = splitter.split(rest, from: SyntheticPackets.segment(8), boundary: .plain)
    #expect(parts.map { $0.units.map(\.dts.count) } == [[7200], [10_800]])
    #expect(parts.map(\.mediaSequence) == [7, 8])
    #expect(parts.map(\.opensSegment) == [true, true])
    #expect(parts.map(\.frameDuration.count) == [3600, 3600])
    var ended = PeriodSplitter()
    #expect(ended.split(first, from: SyntheticPackets.segment(), boundary: .plain).isEmpty)
    #expect(ended.finish().map(\.units.count) == [1])
}

@Test func clockOfDroppedFramesIsKeptAcrossSegments() {
    var splitter = PeriodSplitter()
    let packets = [
        SyntheticPackets.videoPackets(25, from: 0),
        Array(SyntheticPackets.videoPackets(25, from: 9_000_000).dropFirst(10)),
        Array(SyntheticPackets.videoPackets(25, from: 5_000_000).dropFirst(10)),
        Array(SyntheticPackets.videoPackets(20, from: 5_090_000).dropFirst(1)),
        SyntheticPackets.videoPackets(25, from: 5_162_000),
    ]
    let parts = packets.flatMap { splitter.split($0, from: SyntheticPackets.segment(), boundary: .plain) }
    #expect(parts.map(\.videoSpan.start.count) == [0, 5_162_000])
    #expect(parts.last?.videoSpan.clockStart?.count == 5_036_000, "on the clock of the period")
}
