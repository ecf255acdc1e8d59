import Testing

@testable import LiveRing

/// Records of a journal that are far from those before them: the gaps between all records are bounded, not only those
/// between two.
@Suite struct JournalGapTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let when: String
        /// The media sequence numbers of the records.
        let numbers: [UInt64]
        /// The number of records that are read; the others are damage.
        let read: Int

        var testDescription: String { when }
    }

    static let rows = [
        Row(when: "records without gaps", numbers: [0, 1, 2], read: 3),
        Row(when: "a jump of a day of the shortest segments", numbers: [0, 86_401], read: 2),
        Row(when: "a jump of one more", numbers: [0, 86_402], read: 1),
        Row(when: "a jump of 2^60", numbers: [0, 1 << 60], read: 1),
        Row(when: "jumps that are a day together", numbers: [0, 40_001, 86_402], read: 3),
        Row(when: "jumps that are longer together", numbers: [0, 40_001, 86_403], read: 2),
        Row(when: "a hundred jumps of a day each", numbers: (0..<100).map { $0 * 86_401 }, read: 2),
    ]

    @Test(arguments: rows)
    func gapsAreBounded(row: Row) throws {
        var index = RingIndex(policy: plentiful, targetDuration: 6)
        for n in row.numbers.indices { index.publish(.numbered(n)) }
        var journal = RingJournal(index, hasEnded: false)
        for (n, number) in row.numbers.enumerated() {
            journal.entries[n].mediaSequence = number
            journal.entries[n].listedFrom = 0
            journal.entries[n].segment = SpoolFile(
                name: SpoolName.segment(mediaSequence: number, header: []), byteCount: n + 1)
        }
        let read = try #require(try RingJournal.read(Array(journal.text.utf8), path: "ring.m3u8"))
        #expect(read.entries.map(\.mediaSequence) == Array(row.numbers.prefix(row.read)))
        #expect(read.isDamaged == (row.numbers.last != UInt64(row.numbers.count - 1)))
        let files = SpoolFiles(
            Dictionary(uniqueKeysWithValues: read.entries.map { ($0.segment.name, $0.segment.byteCount) }))
        let recovered = RingRecovery.index(of: read, policy: plentiful, targetDuration: 6, files: files).index
        #expect(recovered.nextMediaSequence == row.numbers[row.read - 1] + 1)
        #expect(recovered.listed.count + recovered.retired.count <= Int(RingJournal.maximumUnrecorded) + row.read)
    }
}
