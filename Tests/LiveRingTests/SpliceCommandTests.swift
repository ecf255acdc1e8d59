import Playlist
import Support
import TestSupport
import Testing

@testable import LiveRing

struct SpliceCommandTests {
    private static let id = "scte35-7-1767355212000"

    /// The splice commands in segments 0, 1, 2 …
    static let rows: [(when: String, splices: [[PublishedSpliceCommand]], ranges: [Int: [String]], unpaired: Int)] = [
        (
            "a break, announced and sent twice",
            [
                [splice(.out(autoReturn: false), at: 12, lasting: 30)],
                [splice(.out(autoReturn: false), at: 12, lasting: 30)],
            ],
            [0: [#"ID="\#(id)",START-DATE="\#(time(12))",PLANNED-DURATION=30,SCTE35-OUT=0xFC01"#]], 0
        ),
        (
            "a break and its end",
            [
                [splice(.out(autoReturn: false), at: 12)], [], [splice(.in(endsAnyEvent: true), at: 18, 2)],
                [splice(.in(endsAnyEvent: true), at: 18, 2)],
            ],
            [
                0: [#"ID="\#(id)",START-DATE="\#(time(12))",SCTE35-OUT=0xFC01"#],
                2: [#"ID="\#(id)",START-DATE="\#(time(12))",SCTE35-OUT=0xFC01,DURATION=6,SCTE35-IN=0xFC02"#],
            ], 0
        ),
        (
            "the return has an event of its own",
            [[splice(.out(autoReturn: false), at: 12)], [], [splice(.in(endsAnyEvent: true), event: 8, at: 18, 2)]],
            [
                0: [#"ID="\#(id)",START-DATE="\#(time(12))",SCTE35-OUT=0xFC01"#],
                2: [#"ID="\#(id)",START-DATE="\#(time(12))",SCTE35-OUT=0xFC01,DURATION=6,SCTE35-IN=0xFC02"#],
            ], 0
        ),
        (
            "an automatic return",
            [[splice(.out(autoReturn: true), at: 12, lasting: 6)], [], [], []],
            [
                0: [#"ID="\#(id)",START-DATE="\#(time(12))",PLANNED-DURATION=6,SCTE35-OUT=0xFC01"#],
                3: [#"ID="\#(id)",START-DATE="\#(time(12))",PLANNED-DURATION=6,SCTE35-OUT=0xFC01,DURATION=6"#],
            ], 0
        ),
        (
            "canceled, which is said twice",
            [
                [splice(.out(autoReturn: false), at: 12)], [splice(.canceled, at: 6, 3)], [splice(.canceled, at: 9, 3)],
            ],
            [
                0: [#"ID="\#(id)",START-DATE="\#(time(12))",SCTE35-OUT=0xFC01"#],
                1: [#"ID="\#(id)",START-DATE="\#(time(12))",SCTE35-OUT=0xFC01,DURATION=0,SCTE35-CMD=0xFC03"#],
            ], 0
        ),
        (
            "canceled after it began",
            [[splice(.out(autoReturn: false), at: 2)], [splice(.canceled, at: 8, 3)]],
            [
                0: [#"ID="scte35-7-1767355202000",START-DATE="\#(time(2))",SCTE35-OUT=0xFC01"#],
                1: [
                    #"ID="scte35-7-1767355202000",START-DATE="\#(time(2))",SCTE35-OUT=0xFC01,DURATION=6,SCTE35-CMD=0xFC03"#
                ],
            ], 0
        ),
        (
            "an event that nobody knows is canceled twice, announced and canceled",
            [
                [splice(.canceled, at: 0, 3)], [splice(.canceled, at: 6, 3)],
                [splice(.out(autoReturn: false), at: 24), splice(.canceled, at: 14, 4)],
            ],
            [
                0: [#"ID="scte35-cancel-7-1767355200000",START-DATE="\#(time(0))",SCTE35-CMD=0xFC03"#],
                2: [
                    #"ID="scte35-7-1767355224000",START-DATE="\#(time(24))",SCTE35-OUT=0xFC01,DURATION=0,SCTE35-CMD=0xFC04"#
                ],
            ], 0
        ),
        (
            "a program that is canceled", [[splice(.command, at: 12)], [splice(.canceled, at: 6, 3)]],
            [
                0: [#"ID="\#(id)",START-DATE="\#(time(12))",SCTE35-CMD=0xFC01"#],
                1: [#"ID="scte35-cancel-7-1767355206000",START-DATE="\#(time(6))",SCTE35-CMD=0xFC03"#],
            ], 0
        ),
        (
            "commands without an event in one second, one of them twice",
            [
                [
                    splice(.command, event: nil, at: 12), splice(.command, event: nil, at: 12, 2),
                    splice(.command, event: nil, at: 12),
                ]
            ],
            [
                0: [
                    #"ID="scte35-command-1767355212000",START-DATE="\#(time(12))",SCTE35-CMD=0xFC01"#,
                    #"ID="scte35-command-1767355212000-2",START-DATE="\#(time(12))",SCTE35-CMD=0xFC02"#,
                ]
            ], 0
        ),
        (
            "a program begins", [[], [splice(.command, at: 12, lasting: 60)]],
            [1: [#"ID="\#(id)",START-DATE="\#(time(12))",PLANNED-DURATION=60,SCTE35-CMD=0xFC01"#]], 0
        ),
        (
            "an end without a beginning", [[splice(.in(endsAnyEvent: false), at: 12)]],
            [0: [#"ID="\#(id)",START-DATE="\#(time(12))",SCTE35-CMD=0xFC01"#]], 1
        ),
        (
            "the same event again, for another break",
            [
                [splice(.out(autoReturn: true), at: 12, lasting: 2)], [], [],
                [splice(.out(autoReturn: false), at: 30)],
            ],
            [
                0: [#"ID="\#(id)",START-DATE="\#(time(12))",PLANNED-DURATION=2,SCTE35-OUT=0xFC01"#],
                3: [
                    #"ID="scte35-7-1767355230000",START-DATE="\#(time(30))",SCTE35-OUT=0xFC01"#,
                    #"ID="\#(id)",START-DATE="\#(time(12))",PLANNED-DURATION=2,SCTE35-OUT=0xFC01,DURATION=2"#,
                ],
            ], 0
        ),
    ]

    @Test(arguments: rows.indices)
    func spliceCommandsBecomeDateRanges(_ index: Int) throws {
        let row = Self.rows[index]
        var channel = AdMarkerChannel()
        for splices in row.splices { try channel.publish("", splices: splices) }
        #expect(channel.tags == row.ranges, "\(row.when)")
        #expect(channel.timeline.counts[.unpairedBreakEnds] == row.unpaired, "\(row.when)")
    }

    /// Segments 0, 1, 2 …: what the upstream lists and sends, and the commands that transport streams have.
    static let announcements:
        [(when: String, segments: [(tags: String, splices: [PublishedSpliceCommand])], splices: [Int: [String]])] = [
            (
                "a break that is announced twice, changed and ended",
                [
                    ("", [splice(.out(autoReturn: false), at: 12)]), ("", [splice(.out(autoReturn: false), at: 12)]),
                    ("#EXT-X-CUE-OUT:30", []), ("", [splice(.in(endsAnyEvent: true), at: 18, 2)]),
                ], [0: ["0:OUT"], 3: ["0:IN"]]
            ),
            (
                "a break that is canceled",
                [("", [splice(.out(autoReturn: false), at: 12)]), ("", [splice(.canceled, at: 6, 3)])],
                [0: ["0:OUT"], 1: ["0:CMD"]]
            ),
            (
                "a cue tag's break", [("", []), ("#EXT-X-CUE-OUT:30", []), ("#EXT-X-CUE-IN", [])],
                [1: ["0:BEGIN"], 2: ["0:END"]]
            ),
            (
                "a cue tag's break that continues, of which the section comes late",
                [
                    ("#EXT-X-CUE-OUT-CONT:8/30", []), ("#EXT-X-CUE-OUT-CONT:14/30", []),
                    ("#EXT-X-CUE-IN", [splice(.in(endsAnyEvent: true), at: 12, 2)]),
                ], [0: ["0:BEGIN"], 2: ["0:END", "1:CMD"]]
            ),
            (
                "a date range of the upstream that grows",
                [
                    (#"#EXT-X-DATERANGE:ID="a",START-DATE="\#(time(20))",SCTE35-OUT=0xFC01"#, []),
                    (#"#EXT-X-DATERANGE:ID="a",START-DATE="\#(time(20))",SCTE35-OUT=0xFC01,X-A=1"#, []),
                    (#"#EXT-X-DATERANGE:ID="a",START-DATE="\#(time(20))",DURATION=9,SCTE35-IN=0xFC02"#, []),
                ], [0: ["0:OUT"], 2: ["0:IN"]]
            ),
        ]

    @Test(arguments: announcements.indices) func transportStreamsHaveCommandsOnce(_ index: Int) throws {
        let row = Self.announcements[index]
        var channel = AdMarkerChannel()
        for (tags, splices) in row.segments { try channel.publish(tags, splices: splices) }
        #expect(channel.splices == row.splices, "\(row.when)")
    }

    @Test func cueTagAndSpliceCommandShareOneBreak() throws {
        var channel = AdMarkerChannel()
        try channel.publish("")
        try channel.publish("#EXT-X-CUE-OUT", splices: [splice(.out(autoReturn: false), at: 6, lasting: 12)])
        try channel.publish("#EXT-X-CUE-IN", splices: [splice(.in(endsAnyEvent: true), at: 12, 2)])
        #expect(channel.tags[1] == [#"ID="\#(cueID)",START-DATE="\#(time(6))",PLANNED-DURATION=12,SCTE35-OUT=0xFC01"#])
        #expect(channel.tags[2]?.first?.contains("DURATION=6") == true)
    }
}
