import Playlist
import TestSupport
import Testing

@testable import LiveRing
@testable import Support

/// 20 segments of 6 s with the ranges of `tags` at their segments.
private func index(_ tags: [Int: [DateRange]], policy: RetentionPolicy = plentiful) -> RingIndex {
    var index = RingIndex(policy: policy, targetDuration: 6)
    for n in 0..<20 {
        var segment = NewSegment.numbered(n)
        segment.adMarkers.dateRanges = tags[n] ?? []
        index.publish(segment)
    }
    return index
}

private func headIDs(_ playlist: MediaPlaylist?) -> [String] { playlist?.dateRanges.map(\.id) ?? ["no playlist"] }

/// live.m3u8 lists segments 14 ... 19, from 84 s on.
struct OpenDateRangesTests {
    static let rows: [(when: String, range: DateRange, isListed: Bool)] = [
        ("it ends before the playlist", .numbered(1, from: at(6), lasting: .seconds(60)), false),
        ("it ends where the playlist begins", .numbered(1, from: at(6), lasting: .seconds(78)), false),
        ("it reaches into the playlist", .numbered(1, from: at(6), lasting: .seconds(79)), true),
        ("announced, it begins in the playlist", .numbered(1, from: at(90)), true),
        ("announced, it begins after the playlist", .numbered(1, from: at(900)), true),
        ("a point in time before the playlist", .numbered(1, from: at(6)), false),
        ("its end is unknown", .numbered(1, from: at(6), planned: .seconds(30)), true),
        ("its end is unknown for an hour", .numbered(1, from: at(6 - 3600 + 78), planned: .seconds(30)), false),
        ("planned to last for hours", .numbered(1, from: at(-7200), planned: .seconds(10_000)), true),
    ]

    @Test(arguments: rows.indices)
    func rangeStaysWhilePlaylistOverlapsIt(_ row: Int) {
        let (when, range, isListed) = Self.rows[row]
        let playlists = PublishedPlaylist(index: index([1: [range]]), hasEnded: false)
        #expect(headIDs(playlists.live) == (isListed ? ["range-1"] : []), "\(when)")
        #expect(headIDs(playlists.rewind(.whole)) == [], "\(when): it is in its segment")
        #expect(playlists.rewind(.whole)?.segments[1].dateRanges == [range], "\(when)")
    }

    @Test func additionsToOpenRangeAreInHead() {
        let planned = DateRange.numbered(1, from: at(6), planned: .seconds(90))
        var over = planned
        over.duration = .seconds(84)
        let playlists = PublishedPlaylist(index: index([1: [planned], 12: [over]]), hasEnded: false)
        #expect(playlists.live?.dateRanges == [over])
        let whole = playlists.rewind(.whole)
        #expect(whole?.segments[1].dateRanges == [planned] && whole?.segments[12].dateRanges == [over])
        let later = playlists.rewind(.between(start: at(30), end: nil))
        #expect(later?.dateRanges == [planned] && later?.segments[7].dateRanges == [over])
        let earlier = playlists.rewind(.between(start: at(0), end: at(30)))
        #expect(headIDs(earlier) == [] && earlier?.segments[1].dateRanges == [planned])
    }

    @Test func openRangeOutlivesItsSegment() {
        let long = DateRange.numbered(1, from: at(6), lasting: .seconds(100))
        let short = DateRange.numbered(2, from: at(12), lasting: .seconds(10))
        let ring = index([1: [long], 2: [short]], policy: RetentionPolicy(rewind: .seconds(36), freeReserve: 0))
        #expect(ring.listed.first?.mediaSequence ?? 0 > 2)
        #expect(headIDs(PublishedPlaylist(index: ring, hasEnded: false).rewind(.whole)) == ["range-1"])
        #expect(ring.openDateRanges.ranges == [long])
    }

    @Test func nextRangeOfClassEndsRange() {
        func title(_ n: Int, _ start: Int64, of name: String) -> DateRange {
            var range = DateRange.numbered(n, from: at(start))
            range.attributes.set("CLASS", to: name, isQuoted: true)
            range.attributes.set("END-ON-NEXT", to: "YES")
            return range
        }
        let ring = index([1: [title(1, 6, of: "a"), title(2, 6, of: "b")], 5: [title(5, 30, of: "a")]])
        #expect(headIDs(PublishedPlaylist(index: ring, hasEnded: false).live) == ["range-2", "range-5"])
    }

    @Test func openRangesAreLimited() {
        var open = OpenDateRanges()
        for n in 0..<100 { open.merge(.numbered(n, from: at(Int64(n)), planned: .seconds(60))) }
        #expect(open.ranges.count == AdMarkerLimits.openDateRanges && open.ranges.last?.id == "range-99")
    }

    /// The head of the journal has the ranges of removed entries.
    @Test func restartKeepsOpenRanges() async throws {
        let directory = try ScratchDirectory()
        let policy = RetentionPolicy(rewind: .seconds(36), freeReserve: 0)
        let long = DateRange.numbered(1, from: at(6), lasting: .seconds(10_000))
        do {
            let ring = try DVRRing.open(directory, policy: policy)
            for n in 0..<200 {
                var segment = NewSegment.numbered(n)
                if n == 1 { segment.adMarkers = SegmentAdMarkers(dateRanges: [long]) }
                if n == 199 { segment.adMarkers.cueTags = ["#EXT-X-CUE-IN"].compactMap { CueTag($0) } }
                try await ring.publish(segment)
            }
        }
        let ring = try DVRRing.open(directory, policy: policy)
        #expect(ring.snapshot.index.openDateRanges.ranges == [long])
        #expect(ring.snapshot.newest?.adMarkers.cueTags.map(\.line) == ["#EXT-X-CUE-IN"])
        let live = text(ring.snapshot.livePlaylist())
        #expect(live.contains("#EXT-X-DATERANGE:\(long.attributes.text)\n"))
        #expect(brokenRules(in: live).isEmpty)
        #expect(try !String(decoding: directory.read("ring.m3u8"), as: UTF8.self).contains("seg-1-"))
    }
}
