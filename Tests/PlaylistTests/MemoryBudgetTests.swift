import Testing

@testable import Support

private let mebibyte = 1 << 20

struct MemoryBudgetTests {
    @Test(arguments: [96, 100, 256, 300, 512, 1024, 65_536]) func sharesAddUpToTheLimit(_ limit: Int) {
        let budget = MemoryBudget(limit: limit * mebibyte)
        let sum = MemoryBudget.Share.allCases.reduce(MemoryBudget.fixedBytes) { $0 + budget.bytes(of: $1) }
        #expect(sum <= budget.limit && sum > budget.limit - 4096)
        #expect(budget.segmentBytes == budget.bytes(of: .segment))
        // That of the companion has a sixth of it, and eight renditions of subtitles a twenty-fourth each.
        #expect(
            budget.playlistBytes + budget.playlistBytes / 6 + budget.playlistBytes / 3 <= budget.bytes(of: .playlists))
    }

    /// 4K at 25 Mbit/s in segments of 10 s, with 5 % for audio and transport packets.
    @Test func standardLimitPermitsTheSegmentsOfRealChannels() {
        #expect(MemoryBudget().limit == 256 * mebibyte)
        #expect(MemoryBudget().segmentBytes == 32 * mebibyte)
        #expect(MemoryBudget().segmentBytes > 25_000_000 / 8 * 10 * 105 / 100)
        #expect(MemoryBudget().playlistBytes == 16 * mebibyte)
    }

    private static let rows: [(when: String, limit: Int?, segment: Int?, playlist: Int?, expected: [Int])] = [
        ("nothing is asked for", nil, nil, nil, [256, 32, 16]),
        ("smaller segments", nil, 8, nil, [256, 8, 16]),
        ("larger segments raise the limit", nil, 64, nil, [464, 64, 32]),
        ("larger playlists raise the limit", nil, nil, 32, [464, 64, 32]),
        ("more memory", 464, nil, nil, [464, 64, 32]),
        ("less memory", 152, nil, nil, [152, 16, 8]),
        ("more than the limit has room for", 152, 64, 64, [152, 16, 8]),
        ("less than the smallest limit", 1, nil, nil, [96, 7, 3]),
    ]

    @Test(arguments: rows.indices) func limitAndSizesFit(_ index: Int) {
        let row = Self.rows[index]
        let budget = MemoryBudget(
            limit: row.limit.map { $0 * mebibyte }, segment: row.segment.map { $0 * mebibyte },
            playlist: row.playlist.map { $0 * mebibyte })
        #expect(
            [budget.limit, budget.segmentBytes, budget.playlistBytes].map { $0 / mebibyte } == row.expected,
            "\(row.when)")
    }

    @Test func whatAChannelAsksForReplacesWhatAllAskFor() {
        let all = MemoryBudget(segment: 64 * mebibyte)
        let smaller = all.replacing(limit: nil, segment: 8 * mebibyte, playlist: nil)
        #expect(smaller == MemoryBudget(segment: 8 * mebibyte))
        let limited = all.replacing(limit: 152 * mebibyte, segment: nil, playlist: nil)
        #expect(limited.segmentBytes == 16 * mebibyte)
    }
}
