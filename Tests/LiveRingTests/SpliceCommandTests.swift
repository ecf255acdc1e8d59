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
            "canceled", [[splice(.out(autoReturn: false), at: 12)], [splice(.canceled, at: 6)]],
            [
                0: [#"ID="\#(id)",START-DATE="\#(time(12))",SCTE35-OUT=0xFC01"#],
                1: [#"ID="\#(id)",START-DATE="\#(time(12))",SCTE35-OUT=0xFC01,DURATION=0"#],
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

    @Test func cueTagAndSpliceCommandShareOneBreak() throws {
        var channel = AdMarkerChannel()
        try channel.publish("")
        try channel.publish("#EXT-X-CUE-OUT", splices: [splice(.out(autoReturn: false), at: 6, lasting: 12)])
        try channel.publish("#EXT-X-CUE-IN", splices: [splice(.in(endsAnyEvent: true), at: 12, 2)])
        #expect(channel.tags[1] == [#"ID="\#(cueID)",START-DATE="\#(time(6))",PLANNED-DURATION=12,SCTE35-OUT=0xFC01"#])
        #expect(channel.tags[2]?.first?.contains("DURATION=6") == true)
    }
}
