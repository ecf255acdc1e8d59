import Playlist
import TestSupport
import Testing

@testable import LiveRing
@testable import Support

struct RingJournalTests {
    @Test func requestedPlaylistsAreRendered() throws {
        var index = RingIndex(policy: plentiful, targetDuration: 6, nextMediaSequence: 100)
        index.publish(.numbered(0, format: VariantAttributesTests.program))
        var second = NewSegment.numbered(1, duration: 449_450, isDiscontinuous: true, initialization: "init-b.mp4")
        second.adMarkers.cueTags = ["#EXT-X-CUE-OUT:30"].compactMap { CueTag($0) }
        second.adMarkers.dateRanges = [.numbered(1, from: at(6), planned: .seconds(30))]
        index.publish(second)
        #expect(
            RingJournal(index, hasEnded: true).text == """
                #EXTM3U
                #EXT-X-VERSION:6
                #EXT-X-INDEPENDENT-SEGMENTS
                #EXT-X-TARGETDURATION:6
                #EXT-X-PLAYLIST-TYPE:EVENT
                #EXT-X-MEDIA-SEQUENCE:100
                #EXT-X-DISCONTINUITY-SEQUENCE:0
                #LIVERELAY-SPOOL:2
                #LIVERELAY-RECORD:1767faad
                #EXT-X-MAP:URI="init-a.mp4"
                #EXT-X-PROGRAM-DATE-TIME:2026-01-02T12:00:00.000Z
                #LIVERELAY-ENTRY:BYTES=52,INIT-BYTES=10,LISTED-FROM=100,DISCONTINUITY-SEQUENCE=0,VIDEO-TIME=540000,\
                AUDIO-TIME=84672000,FRAGMENT=2,END=540000,OFFSET=18000,WIDTH=1920,HEIGHT=1080,VIDEO="avc1.640028",AUDIO="mp4a.40.2",\
                FRAME-RATE="25.000"
                #EXTINF:6.00000,
                seg-100-ea7368e6.m4s
                #LIVERELAY-RECORD:a7e09ca2
                #EXT-X-DISCONTINUITY
                #EXT-X-MAP:URI="init-b.mp4"
                #EXT-X-PROGRAM-DATE-TIME:2026-01-02T12:00:06.000Z
                #EXT-X-DATERANGE:ID="range-1",START-DATE="2026-01-02T12:00:06.000Z",PLANNED-DURATION=30
                #EXT-X-CUE-OUT:30
                #LIVERELAY-ENTRY:BYTES=52,INIT-BYTES=10,LISTED-FROM=100,DISCONTINUITY-SEQUENCE=1,VIDEO-TIME=1080000,\
                AUDIO-TIME=169344000,FRAGMENT=3,END=1080000,OFFSET=18000,VIDEO="avc1.640028"
                #EXTINF:4.99389,
                seg-101-f27136e7.m4s
                #EXT-X-ENDLIST

                """)
    }

    /// A journal that is written as a whole or record by record reads back unchanged.
    @Test(arguments: UInt64(1)...20)
    func journalRoundTrips(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var index = RingIndex(policy: RetentionPolicy(rewind: .seconds(90)), targetDuration: 6)
        var appended = RingJournal(index, hasEnded: false).text
        for n in 0..<40 {
            var segment = NewSegment.numbered(
                n, duration: Int64.random(in: 1...584_999, using: &random),
                isDiscontinuous: Bool.random(using: &random),
                initialization: "init-\(Int.random(in: 0..<3, using: &random)).mp4",
                format: [VariantAttributesTests.program, VariantAttributesTests.ad, VariantAttributesTests.radio]
                    .randomElement(using: &random)!)
            if Bool.random(using: &random) {
                segment.adMarkers.cueTags = ["#EXT-X-CUE-IN", "#EXT-OATCLS-SCTE35:/DA="].compactMap { CueTag($0) }
            }
            if Bool.random(using: &random) {
                segment.adMarkers.dateRanges = [.random(at: n, using: &random)]
                segment.adMarkers.splices = AnnouncedSplice.Command.allCases.shuffled(using: &random).prefix(2)
                    .map { AnnouncedSplice($0, ofRange: 0) }
            }
            segment.resumePoint.presentationEnd = Int64.random(in: 0..<1 << 52, using: &random)
            segment.resumePoint.audioDecodeTime = UInt64.random(in: 0..<1 << 60, using: &random)
            if Bool.random(using: &random) { segment.resumePoint.upstream = .random(using: &random) }
            index.publish(segment, afterInterruption: Int.random(in: 0..<4, using: &random) == 0)
            appended += RingJournal.record(try #require(index.listed.last))
        }
        let grown = try #require(try RingJournal.read(Array(appended.utf8), path: ""))
        #expect(grown.entries.count == 40)
        #expect(grown.entries.suffix(index.entries.count) == index.entries[...])
        let whole = try #require(try RingJournal.read(Array(RingJournal(index, hasEnded: false).text.utf8), path: ""))
        #expect(whole.entries == index.entries)
        #expect(whole.openDateRanges == index.openDateRanges.ranges)
        #expect(!whole.hasEnded)
    }

    /// EXTINF has five decimals, a tick is 11.1 µs.
    @Test func everyTickSurvivesFiveDecimals() throws {
        var random = SeededGenerator(seed: 5)
        for ticks in (0..<2000).map({ Int64($0) })
            + (0..<2000).map({ _ in Int64.random(in: 0...9_000_000, using: &random) })
        {
            let written = DecimalSeconds.text(PlaylistTicks.duration(ticks: ticks), decimals: 5)
            let read = try #require(DecimalSeconds.duration(written))
            #expect(PlaylistTicks.ticks(read) == ticks)
        }
    }
}
