import Playlist
import TestSupport
import Testing

@testable import LiveRing
@testable import Support

/// Playlists without the segments that a player has (draft-pantos-hls-rfc8216bis §6.2.5.1).
struct DeltaUpdateTests {
    private static func published(
        _ index: RingIndex, _ form: PlaylistForm, _ content: PlaylistContent = .fragmentedMP4
    ) -> PublishedPlaylist { PublishedPlaylist(index: index, hasEnded: false, content: content, form: form) }

    /// Adds the skipped segments of the version before, as a player does.
    private static func merged(_ delta: MediaPlaylist, into old: MediaPlaylist) -> MediaPlaylist {
        var whole = delta
        whole.skippedSegments = 0
        let skipped = old.segments.filter {
            $0.mediaSequence < delta.mediaSequence
                && $0.mediaSequence >= delta.mediaSequence - UInt64(delta.skippedSegments)
        }
        whole.segments = skipped + delta.segments
        whole.mediaSequence = whole.segments[0].mediaSequence
        return whole
    }

    @Test(arguments: 1...12 as ClosedRange<UInt64>) func deltaAndTheVersionBeforeAreTheWhole(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var index = RingIndex(policy: RetentionPolicy(rewind: .seconds(600), freeReserve: 0), targetDuration: 6)
        var old: MediaPlaylist?
        var deltas = 0
        for n in 0..<250 {
            var segment = NewSegment.numbered(
                n, duration: .random(in: 90_000...580_000, using: &random), isDiscontinuous: .random(using: &random),
                isIndependent: n != 40, initialization: Bool.random(using: &random) ? "init-a.mp4" : "init-b.mp4")
            if Int.random(in: 0..<9, using: &random) == 0 {
                segment.adMarkers.dateRanges = [.random(at: n, using: &random)]
            }
            index.publish(segment)
            let whole = try #require(Self.published(index, .whole).rewind(.whole))
            let delta = try #require(Self.published(index, .delta).rewind(.whole))
            #expect(whole.canBlockReload && whole.canSkipUntil == 36 && delta.canSkipUntil == 36)
            if delta.skippedSegments > 0, let old {
                deltas += 1
                let merged = Self.merged(delta, into: old)
                #expect(merged.mediaSequence == whole.mediaSequence)
                #expect(merged.discontinuitySequence == whole.discontinuitySequence)
                #expect(merged.hasIndependentSegments == whole.hasIndependentSegments)
                #expect(merged.segments == whole.segments, "seed \(seed), segment \(n)")
                let rest = delta.segments.reduce(Duration.zero) { $0 + $1.duration }
                #expect(rest >= .seconds(36) && rest < .seconds(43))
                let ids = Set((delta.dateRanges + delta.segments.flatMap(\.dateRanges)).map(\.id))
                #expect(ids == Set((whole.dateRanges + whole.segments.flatMap(\.dateRanges)).map(\.id)))
                let text = PlaylistWriter.write(delta)
                #expect(text.contains("#EXT-X-VERSION:9\n"))
                #expect(text.contains("#EXT-X-SKIP:SKIPPED-SEGMENTS=\(delta.skippedSegments)\n"))
                let parsed = try MediaPlaylistParser.parse(Array(text.utf8))
                #expect(parsed.segments.map(\.mediaSequence) == delta.segments.map(\.mediaSequence))
            }
            old = whole
        }
        #expect(deltas > 200)
    }

    @Test func head() throws {
        let index = RingIndex.filled(9)
        #expect(
            text(Self.published(index, .delta).rewind(.whole)).hasPrefix(
                """
                #EXTM3U
                #EXT-X-VERSION:9
                #EXT-X-INDEPENDENT-SEGMENTS
                #EXT-X-TARGETDURATION:6
                #EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL=36
                #EXT-X-MEDIA-SEQUENCE:0
                #EXT-X-DISCONTINUITY-SEQUENCE:0
                #EXT-X-SKIP:SKIPPED-SEGMENTS=3
                #EXT-X-MAP:URI="init-a.mp4?period=0"

                """))
        let whole = text(Self.published(index, .whole).live)
        #expect(whole.contains("#EXT-X-VERSION:6\n") && whole.contains("#EXT-X-SERVER-CONTROL:"))
        #expect(!text(Self.published(index, .unannounced).live).contains("SERVER-CONTROL"), "as in files")
    }

    /// A player that merges a delta update takes an init section of the same URI for the same.
    @Test func eachPeriodHasAnInitSectionOfItsOwn() throws {
        var index = RingIndex(policy: RetentionPolicy(rewind: nil, freeReserve: 0), targetDuration: 6)
        for (number, name) in ["a", "a", "b", "a", "a"].enumerated() {
            index.publish(.numbered(number, isDiscontinuous: number > 1, initialization: "init-\(name).mp4"))
        }
        let separate = ["a.mp4?period=0", "a.mp4?period=0", "b.mp4?period=1", "a.mp4?period=2", "a.mp4?period=3"]
        for (form, maps) in [
            (.whole, separate), (.delta, separate), (.unannounced, ["a.mp4", "a.mp4", "b.mp4", "a.mp4", "a.mp4"]),
        ] as [(PlaylistForm, [String])] {
            let playlist = try #require(Self.published(index, form).rewind(.whole))
            #expect(playlist.segments.map(\.map?.uri) == maps.map { "init-\($0)" }, "\(form)")
        }
    }

    /// Their newest segment is not the newest of the ring, so that no player could wait for it.
    @Test(
        arguments: [
            .delayed(milliseconds: 12_000), .between(start: noon, end: at(30)), .between(start: nil, end: at(24)),
        ] as [RewindRange]) func rangesWithAnEndOfTheirOwnOfferNothing(_ range: RewindRange) throws
    {
        let index = RingIndex.filled(30)
        let playlist = try #require(Self.published(index, .delta).rewind(range))
        #expect(!playlist.canBlockReload && playlist.canSkipUntil == nil && playlist.skippedSegments == 0)
    }

    /// What a delta update costs hardly depends on how long the rewind is: entries that are skipped are not read.
    @Test(arguments: [(.whole, 200), (.last(milliseconds: 5_900 * 20_000), 2000)] as [(RewindRange, Int)])
    func costOfADelta(_ range: RewindRange, limit: Int) throws {
        func steps(_ count: Int) throws -> Int {
            let index = RingIndex.filled(count, policy: RetentionPolicy(rewind: nil, freeReserve: 0))
            let counter = StepCounter()
            try StepCounter.$current.withValue(counter) {
                _ = try #require(Self.published(index, .delta).rewind(range))
            }
            return counter.steps
        }
        let (few, many) = try (steps(200), steps(20_000))
        #expect(many < few + limit)
    }
}
