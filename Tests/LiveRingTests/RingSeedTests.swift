import Testing

@testable import LiveRing

/// A ring in another directory that continues after segments of the first one.
@Suite struct RingSeedTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let when: String
        /// The segments whose entries and files another place has.
        var window: ClosedRange<Int>?
        var withoutFiles: Set<Int> = []
        /// The numbers in the live playlist before the first segment of the new ring, and those that are gaps.
        let listed: [UInt64]
        let gaps: Set<UInt64>

        var testDescription: String { when }
    }

    static let rows = [
        Row(when: "nothing is kept elsewhere", listed: [], gaps: []),
        Row(when: "all segments are", window: 4...10, listed: [4, 5, 6, 7, 8, 9, 10], gaps: []),
        Row(when: "all but the newest are", window: 4...9, listed: [4, 5, 6, 7, 8, 9, 10], gaps: [10]),
        Row(
            when: "several of the newest are missing", window: 4...7, listed: [4, 5, 6, 7, 8, 9, 10],
            gaps: [8, 9, 10]),
        Row(
            when: "the files of one are", window: 4...9, withoutFiles: [6], listed: [4, 5, 6, 7, 8, 9, 10],
            gaps: [6, 10]),
    ]

    @Test(arguments: rows)
    func continues(row: Row) async throws {
        let (first, second) = (try ScratchDirectory(), try ScratchDirectory())
        let ring = try DVRRing.open(first)
        for n in 0..<10 { try await ring.publish(Self.segment(n)) }
        let newest = Self.segment(10)
        let seed = await ring.seed(of: newest)
        try await ring.publish(newest)
        #expect(seed.number == 10)
        #expect(seed.end == at(66))

        let window = row.window.map { numbers in
            numbers.compactMap { ring.snapshot.index.entry(numbered: UInt64($0)) }
        }
        for entry in window ?? [] where !row.withoutFiles.contains(Int(entry.mediaSequence)) {
            for file in entry.ownFiles + entry.sharedFiles {
                try RingSeed.write(file: file.name, try first.read(file.name)[...], to: second.path)
            }
        }
        #expect(try RingSeed.write(seed.text, next: 11, after: window ?? [], to: second.path))
        let next = try DVRRing.open(second)
        #expect(!next.wasDamaged)
        #expect(next.resumePoint?.presentationEnd == ResumePoint.after(10).presentationEnd)
        let listed = next.snapshot.index.listed
        #expect(listed.map(\.mediaSequence) == row.listed)
        #expect(Set(listed.filter(\.isGap).map(\.mediaSequence)) == row.gaps)

        try await next.publish(Self.segment(11))
        let published = try #require(next.snapshot.newest)
        #expect(published.mediaSequence == 11)
        #expect(published.discontinuitySequence >= 1)
    }

    @Test("A seed that does not fit the window is continued without it") func otherWindow() async throws {
        let (first, second) = (try ScratchDirectory(), try ScratchDirectory())
        let ring = try DVRRing.open(first)
        for n in 0..<3 { try await ring.publish(Self.segment(n)) }
        let seed = await ring.seed(of: Self.segment(3))
        var later = try #require(ring.snapshot.newest)
        later.discontinuitySequence = 9
        #expect(try RingSeed.write(seed.text, next: 4, after: [later], to: second.path))
        #expect(try DVRRing.open(second).snapshot.index.nextMediaSequence == 4)
        #expect(try !RingSeed.write("6\nnothing", next: 4, to: second.path))
    }

    private static func segment(_ n: Int) -> NewSegment {
        var segment = NewSegment.numbered(n)
        segment.resumePoint.upstream = UpstreamPosition(
            sourceIndex: 0, mediaSequence: UInt64(n), programDateTime: nil, publishedFrames: nil)
        return segment
    }
}
