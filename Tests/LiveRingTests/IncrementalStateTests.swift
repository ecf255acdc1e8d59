import Playlist
import TestSupport
import Testing

@testable import LiveRing
@testable import Support

/// What the index keeps from publish to publish is what follows from its entries.
struct IncrementalStateTests {
    private static let formats = [
        VariantAttributesTests.program, VariantAttributesTests.ad, VariantAttributesTests.dark,
        VariantAttributesTests.radio,
    ]

    private func segment(_ n: Int, _ random: inout SeededGenerator) -> NewSegment {
        var segment = NewSegment.numbered(
            n, duration: .random(in: 1...585_000, using: &random),
            isIndependent: .random(in: 0..<20, using: &random) > 0,
            initialization: "init-\(["a", "b", "c"].randomElement(using: &random)!).mp4",
            format: Self.formats[n / .random(in: 1...9, using: &random) % Self.formats.count],
            payloadBytes: .random(in: 2...4000, using: &random), at: at(6 * Int64(n)))
        if Int.random(in: 0..<4, using: &random) == 0 {
            segment.adMarkers.dateRanges = [.random(at: n, using: &random)]
        }
        if n > 30 {
            segment.transportStream = TransportStreamPoint(
                parameters: "p\(n / 40)", discontinuitySequence: 0, isDiscontinuous: false)
        }
        return segment
    }

    @Test(arguments: UInt64(1)...8)
    func sumsFollowFromTheEntries(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var index = RingIndex(policy: RetentionPolicy(rewind: .seconds(200), freeReserve: 0), targetDuration: 6)
        for n in 0..<400 {
            switch Int.random(in: 0..<60, using: &random) {
            case 0: index.stopSliding()
            case 1: index.resumeSliding()
            case 2: _ = index.dropOldest(freeing: [200, .max].randomElement(using: &random) ?? 0, keeping: .zero)
            case 3..<10:
                if let newest = index.newest {
                    _ = index.publish(index.gap(after: newest, lasting: 540_000, resumePoint: .after(n)))
                }
            default: index.publish(segment(n, &random))
            }
            try check(index, "seed \(seed), step \(n)")
        }
    }

    private func check(_ index: RingIndex, _ when: String) throws {
        let media = index.listed.filter { !$0.isGap }
        let expected = ListedAttributes(media, targetDuration: 6)
        let found = index.variantAttributes
        try #require(found?.codecs ?? [] == expected.codecs, "\(when)")
        try #require(
            found?.averageBitRate ?? 0 == expected.average && found?.peakBitRate ?? 0 == expected.peak, "\(when)")
        try #require(found?.isIndependent ?? true == media.allSatisfy(\.isIndependent), "\(when)")
        let offered = media.filter { $0.transportStream != nil }
        try #require(index.variantSums.transportStream.ticks == offered.reduce(0) { $0 + $1.duration }, "\(when)")
        try #require(index.dependentEntries == index.entries.count { !$0.isIndependent }, "\(when)")
        let gaps = Dictionary(index.entries.filter(\.isGap).map { ($0.initialization.name, 1) }, uniquingKeysWith: +)
        try #require(index.gapsByInitialization == gaps, "\(when)")
        let marked = index.listed.indices.filter { !index.listed[$0].adMarkers.dateRanges.isEmpty }
        try #require(Array(index.indicesWithDateRanges) == marked, "\(when)")
        try checkLivePlaylist(of: index, when)
    }

    /// The live playlist begins where the shortest suffix that fills the window begins, or at the media before the gaps
    /// there. Its head has the date ranges that a look at every entry before it finds.
    private func checkLivePlaylist(of index: RingIndex, _ when: String) throws {
        let window = PlaylistWindow(wanted: index.policy.liveWindow, targetDuration: 6)
        let shortest = window.start(in: index.listed)
        let limit = index.liveWindowStart.map { from in index.listed.firstIndex { $0.mediaSequence >= from } }
        let start = index.liveWindow.start
        let latest = min(shortest, (limit ?? nil) ?? shortest)
        try #require(start <= latest && index.listed[start..<latest].dropFirst().allSatisfy(\.isGap), "\(when)")
        try #require(start == latest || limit == nil && !index.listed[start].isGap, "\(when)")
        guard start < index.listed.endIndex else { return }
        var open = index.openDateRanges
        open.merge(dateRangesOf: index.listed[..<start])
        open.removeAll(endingBefore: index.listed[start].programDateTime)
        let live = PublishedPlaylist(index: index, hasEnded: false).live
        try #require(live?.dateRanges == open.ranges, "\(when)")
    }
}

/// The attributes of a variant from all of its segments.
private struct ListedAttributes {
    var (codecs, average, peak) = ([String](), 0, 0)

    init(_ media: [RingEntry], targetDuration: Int) {
        for codec in media.compactMap(\.format.videoCodec) + media.compactMap(\.format.audioCodec)
        where !codecs.contains(codec) { codecs.append(codec) }
        guard !media.isEmpty else { return }
        average = PeakBitRate.bitRate(
            bytes: media.reduce(0) { $0 + $1.segment.byteCount }, ticks: media.reduce(0) { $0 + $1.duration })
        peak = average
        let target = Int64(targetDuration) * PlaylistTicks.ticksPerSecond
        for first in media.indices {
            var (bytes, ticks) = (0, Int64(0))
            for entry in media[first...] {
                bytes += entry.segment.byteCount
                ticks += entry.duration
                if ticks * 2 > target * 3 { break }
                if ticks * 2 >= target { peak = max(peak, PeakBitRate.bitRate(bytes: bytes, ticks: ticks)) }
            }
        }
    }
}
