import Playlist
import Testing

@testable import LiveRing
@testable import Support

/// Splice commands that the upstream lists beside its media, as a DASH manifest does.
@Suite struct ListedSpliceTests {
    /// Publishes segments of 6 s, each with the splice commands that the upstream lists with it. The upstream's dates are
    /// 1 s ahead.
    private func tags(_ splices: [Int: [PublishedSpliceCommand]], count: Int = 6) -> [Int: [DateRange]] {
        var timeline = AdMarkerTimeline(resuming: RingIndex(policy: plentiful, targetDuration: 6))
        var tags: [Int: [DateRange]] = [:]
        for number in 0..<count {
            let date = at(6 * Int64(number))
            timeline.append(UpstreamAdMarkers(mediaSequence: UInt64(number), splices: splices[number] ?? []))
            let placement = AdMarkerPlacement(
                mediaSequence: UInt64(number), date: date, upstreamDate: date.advanced(byMilliseconds: 1000))
            let markers = timeline.dequeueMarkers(for: AdMarkerTarget(date: date, placements: [placement]))
            if !markers.dateRanges.isEmpty { tags[number] = markers.dateRanges }
        }
        return tags
    }

    @Test func breakIsPairedByItsEvent() throws {
        let tags = tags([
            1: [splice(.out(autoReturn: false), event: 5, at: 8)],
            2: [splice(.out(autoReturn: false), event: 5, at: 8)],
            3: [splice(.in(endsAnyEvent: false), event: 5, at: 21, 2), splice(.command, event: 9, at: 22)],
        ])
        #expect(Array(tags.keys).sorted() == [1, 3])
        let (begin, end) = (try #require(tags[1]?.first), try #require(tags[3]?.first))
        #expect(begin.id == end.id && begin.id.hasPrefix("scte35-5-"))
        #expect(begin.startDate == at(7) && begin[splice: .out] == [0xFC, 1] && begin.end == nil)
        #expect(end.end == at(20) && end[splice: .in] == [0xFC, 2])
        #expect(tags[3]?.last?[splice: .command] == [0xFC, 1] && tags[3]?.last?.startDate == at(21))
    }

    @Test func breakThatIsOverBeforeTheChannelBeginsIsLeftOut() {
        let before = [
            splice(.out(autoReturn: false), event: 1, at: -30, lasting: 20),
            splice(.in(endsAnyEvent: true), event: 1, at: -10), splice(.command, event: 2, at: -3),
            splice(.out(autoReturn: false), event: 3, at: -3, lasting: 20),
        ]
        #expect(tags([1: before])[1]?.map(\.startDate) == [at(-4)])
    }

    @Test func endsBelongToTheEndOfTheChannel() {
        var timeline = AdMarkerTimeline(resuming: RingIndex(policy: plentiful, targetDuration: 6))
        _ = timeline.dequeueMarkers(for: AdMarkerTarget(date: at(0)))
        timeline.append(UpstreamAdMarkers(mediaSequence: 1, splices: [splice(.out(autoReturn: false), at: 3)]))
        let ranges = timeline.finish([], [splice(.in(endsAnyEvent: true), event: 8, at: 6)], at: at(6))
        #expect(ranges.count == 1 && ranges.first?.duration == .zero)
    }
}
