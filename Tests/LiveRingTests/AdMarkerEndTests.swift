import Playlist
import Support
import TestSupport
import Testing

@testable import LiveRing

struct AdMarkerEndTests {
    private func range(_ id: String, _ start: Int64, _ more: [String: String] = [:]) throws -> DateRange {
        let text = "ID=\"\(id)\",START-DATE=\"\(time(start))\"" + more.map { ",\($0)=\($1)" }.joined()
        return DateRange(id: id, attributes: try AttributeList(parsing: text, line: 1, tag: ""))
    }

    @Test func finishReturnsUnplacedRanges() throws {
        var channel = AdMarkerChannel()
        try channel.publish("#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"\(time(0))\"")
        channel.timeline.append(UpstreamAdMarkers(mediaSequence: 9, cueTags: [try #require(CueTag(cueOut))]))
        channel.timeline.append(UpstreamAdMarkers(mediaSequence: 10, dateRanges: [try range("b", 4)]))
        let ranges = channel.timeline.finish([try range("a", 0, ["DURATION": "6"]), try range("b", 4)], at: at(6))
        #expect(
            ranges.map(\.attributes.text) == [
                #"ID="b",START-DATE="\#(time(4))""#, #"ID="a",START-DATE="\#(time(0))",DURATION=6"#,
            ])
        #expect(channel.timeline.counts[.unplaced] == 1 && channel.timeline.counts[.dateRanges] == 3)
        #expect(channel.timeline.finish([], at: at(6)).isEmpty)
    }
}
