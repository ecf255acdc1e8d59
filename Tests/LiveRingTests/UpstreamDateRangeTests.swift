import Playlist
import Support
import TestSupport
import Testing

@testable import LiveRing

struct UpstreamDateRangeTests {
    private typealias Row = (
        when: String, distance: Int64?, lines: [String], ranges: [Int: [String]],
        counts: (inout Counts<AdMarkerCount>) -> Void
    )

    private static func range(_ id: String, _ start: Int64, _ more: String = "") -> String {
        "#EXT-X-DATERANGE:ID=\"\(id)\",START-DATE=\"\(time(start))\"\(more)"
    }

    private static func published(_ id: String, _ start: Int64, _ more: String = "") -> String {
        String(range(id, start, more).dropFirst("#EXT-X-DATERANGE:".count))
    }

    /// An interstitial is dropped if the operator says so, and counted once however often it is listed.
    @Test(arguments: Interstitials.allCases) func interstitialsAreKeptOrDropped(_ interstitials: Interstitials) throws {
        var channel = AdMarkerChannel()
        channel.timeline.interstitials = interstitials
        let ad = Self.range("ad", 6, ",CLASS=\"com.apple.hls.interstitial\",X-ASSET-URI=\"https://a.example/1\"")
        for lines in [[Self.range("b", 0)], [ad, Self.range("c", 6)], [ad]] {
            try channel.publish(lines.joined(separator: "\n"))
        }
        let published = channel.tags.sorted { $0.key < $1.key }.flatMap(\.value)
        #expect(published.count { $0.contains("ID=\"ad\"") } == (interstitials == .keep ? 1 : 0))
        #expect(published.count { $0.contains("ID=\"c\"") } == 1)
        #expect(channel.timeline.counts[.droppedInterstitials] == (interstitials == .keep ? 0 : 1))
    }

    private static var rows: [Row] {
        [
            (
                "as it was written", 0,
                ["", #"#EXT-X-DATERANGE:X-B="1,2",ID="a",CLASS="c",START-DATE="2026-01-02T13:00:06+01:00""#],
                [1: [#"X-B="1,2",ID="a",CLASS="c",START-DATE="2026-01-02T13:00:06+01:00""#]], { _ in }
            ),
            (
                "with published dates", 5000, ["", range("a", 1, ",END-DATE=\"\(time(31))\"")],
                [1: [published("a", 6, ",END-DATE=\"\(time(36))\"")]], { _ in }
            ),
            (
                "an upstream without dates: the date of its segment", nil,
                ["", range("a", 5000, ",END-DATE=\"\(time(5030))\",DURATION=30")],
                [1: [published("a", 6, ",END-DATE=\"\(time(36))\",DURATION=30")]], { _ in }
            ),
            ("listed again", 0, [range("a", 6), range("a", 6)], [0: [published("a", 6)]], { _ in }),
            (
                "an addition", 0, [range("a", 0), range("a", 0, ",DURATION=5")],
                [0: [published("a", 0)], 1: [published("a", 0, ",DURATION=5")]], { _ in }
            ),
            (
                "an addition without START-DATE", 0,
                [range("a", 0), #"#EXT-X-DATERANGE:ID="a",DURATION=5,SCTE35-IN=0xFC"#],
                [0: [published("a", 0)], 1: [published("a", 0, ",DURATION=5,SCTE35-IN=0xFC")]], { _ in }
            ),
            (
                "a changed attribute", 0, [range("a", 0, ",PLANNED-DURATION=5"), range("a", 0, ",PLANNED-DURATION=6")],
                [0: [published("a", 0, ",PLANNED-DURATION=5")]], { $0[.changedDateRangeAttributes] = 1 }
            ),
            (
                "the ID for another break", 0, [range("a", 0, ",DURATION=5"), range("a", 6, ",DURATION=5")],
                [0: [published("a", 0, ",DURATION=5")], 1: [published("a-1767355206000", 6, ",DURATION=5")]], { _ in }
            ),
            (
                "an addition to the second range", 0,
                [range("a", 0, ",DURATION=5"), range("a", 6), range("a", 6, ",DURATION=5")],
                [
                    0: [published("a", 0, ",DURATION=5")], 1: [published("a-1767355206000", 6)],
                    2: [published("a-1767355206000", 6, ",DURATION=5")],
                ], { _ in }
            ),
            (
                "START-DATE varies slightly", 0,
                [range("a", 6), #"#EXT-X-DATERANGE:ID="a",START-DATE="2026-01-02T12:00:06.040Z",DURATION=5"#],
                [0: [published("a", 6)], 1: [published("a", 6, ",DURATION=5")]], { _ in }
            ),
            (
                "ended before the channel began", 0, [range("a", -60, ",DURATION=50")], [:],
                { $0[.expiredDateRanges] = 1 }
            ),
            (
                "began before the channel", 0, [range("a", -60, ",DURATION=90")],
                [0: [published("a", -60, ",DURATION=90")]], { _ in }
            ),
            ("a point in time before the channel", 0, [range("a", -1)], [:], { $0[.expiredDateRanges] = 1 }),
            ("announced", 0, [range("a", 600)], [0: [published("a", 600)]], { _ in }),
            (
                "a clock offset to before the year 0", -70_000_000_000_000,
                [range("a", 0, ",SCTE35-OUT=0xFC")],
                [0: [#"ID="a",START-DATE="0000-01-01T00:00:00.000Z",SCTE35-OUT=0xFC"#]], { _ in }
            ),
            ("no beginning", 0, [#"#EXT-X-DATERANGE:ID="a",DURATION=5"#], [:], { $0[.malformedDateRanges] = 1 }),
        ]
    }

    @Test func upstreamRangesAreRedated() throws {
        for row in Self.rows {
            var channel = AdMarkerChannel()
            channel.distance = row.distance
            for lines in row.lines { try channel.publish(lines) }
            #expect(channel.tags == row.ranges, "\(row.when)")
            var counts = Counts<AdMarkerCount>()
            row.counts(&counts)
            counts[.dateRanges] = row.ranges.values.reduce(0) { $0 + $1.count }
            #expect(channel.timeline.counts == counts, "\(row.when)")
        }
    }

    @Test func eachSpanOfUpstreamDatesHasItsOffset() {
        var dates = UpstreamDateMap()
        #expect(dates.published(at(0)) == nil)
        dates.record(at(100), as: at(100))
        dates.record(at(106), as: at(106))
        dates.record(at(50), as: at(112))
        dates.record(at(200), as: at(150))
        #expect(
            [at(0), at(60), at(101), at(199), at(201)].map(dates.published) == [
                at(0), at(122), at(163), at(261), at(151),
            ])
    }
}
