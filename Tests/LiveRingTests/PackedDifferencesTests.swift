import Playlist
import TestSupport
import Testing

@testable import LiveRing
@testable import Support

/// A week of segments of 1 s takes a few megabytes, and each entry is read as it was.
struct PackedDifferencesTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let when: String
        /// The bits that the numbers which change take in each entry; nil: as many as the numbers have.
        let bits: Int?
        /// Changes entry `n`.
        let change: @Sendable (inout RingEntry, Int, inout SeededGenerator) -> Void
        var testDescription: String { when }
    }

    private static let rows: [Row] = [
        Row(when: "numbers that are constant or rise evenly", bits: 0) { _, _, _ in },
        Row(when: "sizes from 400 to 600 kB", bits: 18) { entry, _, random in
            entry.setSize(.random(in: 400_000...600_000, using: &random))
        },
        Row(when: "audio that ends up to two frames before the video", bits: 11) { entry, _, random in
            entry.resumePoint.audioDecodeTime += UInt64.random(in: 0...2047, using: &random)
        },
        Row(when: "sizes that fall from 4 GB to nothing", bits: 1) { entry, n, _ in
            entry.setSize(Int(UInt32.max) - n % 128 * (Int(UInt32.max) / 127))
        },
        Row(when: "sizes of nothing and of 4 GB in turn", bits: nil) { entry, n, _ in
            entry.setSize(n.isMultiple(of: 2) ? 0 : Int(UInt32.max))
        },
        Row(when: "dates that run away by up to 16 s", bits: 15) { entry, n, random in
            entry.programDateTime = at(6 * Int64(n)).advanced(byMilliseconds: .random(in: 0...16_000, using: &random))
        },
    ]

    /// Entries of a channel whose numbers rise as those of a real one, from the first of a block.
    private static func entries(_ count: Int, _ row: Row, _ random: inout SeededGenerator) -> [RingEntry] {
        RingIndex.filled(count, policy: RetentionPolicy(rewind: nil)).listed.enumerated().map { n, entry in
            var entry = entry
            entry.resumePoint.audioDecodeTime = UInt64(n) * 288_000
            let name = SpoolName.segment(mediaSequence: UInt64(n), fingerprint: .random(in: 0 ... .max, using: &random))
            entry.segment = SpoolFile(name: name, byteCount: entry.segment.byteCount)
            row.change(&entry, n, &random)
            return entry
        }
    }

    @Test(arguments: rows)
    func entriesAreReadAsTheyWereAndTakeAFewBits(row: Row) throws {
        var random = SeededGenerator(seed: 1)
        let entries = Self.entries(3 * EntryBlock.size, row, &random)
        var (blocks, start) = ([EntryBlock](), 0)
        while start < entries.count {
            blocks.append(EntryBlock(entries[start..<start + EntryBlock.size], after: blocks.last))
            start += EntryBlock.size
        }
        let read = blocks.flatMap { block in (0..<EntryBlock.size).map { block[$0] } }
        try #require(read == entries, "\(row.when)")
        #expect(blocks.map(\.ticks).reduce(0, +) == entries.reduce(0) { $0 + $1.duration }, "\(row.when)")
        // The fingerprints of names have 32 bits; the others have a line for each block. A base has no numbers, so that
        // the first block is no measure.
        let most = (row.bits ?? 32) + 32
        let bits = try #require(blocks.last).differences.numbers.count * 32 / EntryBlock.size
        #expect(bits <= most + 9, "\(row.when): \(bits)")
    }

    /// Each number of 32 bits is read as it was, whatever the others are.
    @Test(arguments: 0..<50 as Range<UInt64>) func randomDifferencesAreReadAsTheyWere(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let widths = (0..<15).map { _ in UInt64.random(in: 0...32, using: &random) }
        let rises = (0..<15).map { _ in UInt32.random(in: 0 ... .max, using: &random) }
        let differences = (0..<EntryBlock.size).map { position in
            let words = zip(widths, rises).map { width, rise in
                UInt32(truncatingIfNeeded: UInt64.random(in: 0 ... .max, using: &random) & ((1 << width) - 1))
                    &+ rise &* UInt32(position)
            }
            return unsafe words.withUnsafeBytes { unsafe $0.loadUnaligned(as: EntryDifference.self) }
        }
        let packed = PackedDifferences(differences)
        for position in 0..<EntryBlock.size {
            let (one, other) = (Self.words(of: differences[position]), Self.words(of: packed[position]))
            #expect(one == other, "seed \(seed), \(position)")
        }
    }

    /// The numbers of a difference but the last, which is unused.
    private static func words(of difference: EntryDifference) -> [UInt32] {
        var difference = difference
        return unsafe withUnsafeBytes(of: &difference) { bytes in
            unsafe Array(bytes.bindMemory(to: UInt32.self).dropLast())
        }
    }

    /// A week of a channel with one init section has one base for half a day, and a few bytes for each entry.
    @Test func weekTakesAFewMegabytes() throws {
        let row = Row(when: "a channel", bits: nil) { entry, n, random in
            entry.duration = 90_000
            entry.programDateTime = at(Int64(n))
            entry.resumePoint = .after(n)
            entry.resumePoint.videoDecodeTime = UInt64(n) * 90_000
            entry.resumePoint.audioDecodeTime = UInt64(n) * 48_000 / 1024 * 1024
            entry.resumePoint.presentationEnd = Int64(n) * 90_000
            let byteCount = Int.random(in: 400_000...900_000, using: &random)
            entry.setSize(byteCount)
            entry.transportStream = TransportStreamPoint(
                parameters: "p", discontinuitySequence: 0, isDiscontinuous: false,
                extent: TransportStreamExtent(
                    byteCount: (byteCount + byteCount / 25) / 188 * 188,
                    earlyAudioByteCount: 188 * .random(in: 1...16, using: &random), removedByteCount: 188))
            entry.resumePoint.upstream = UpstreamPosition(
                sourceIndex: 0, mediaSequence: UInt64(n), programDateTime: at(Int64(n)), publishedFrames: "1/\(n)")
        }
        var (random, all) = (SeededGenerator(seed: 1), RingEntries())
        let count = 60 * EntryBlock.size
        for entry in Self.entries(count, row, &random) { all.append(entry) }
        let blocks = Array(all.blocks(from: 0))
        let bytes = blocks.dropFirst().reduce(0) { $0 + $1.differences.numbers.count * 4 }
        let each = Double(bytes) / Double((blocks.count - 1) * EntryBlock.size)
        #expect(each * 604_800 < 10_000_000, "\(each) bytes for each entry")
        #expect(blocks.allSatisfy { $0.bases.count == 1 && $0.bases[0].mediaSequence == 0 }, "one base for all")
        #expect(blocks.dropLast().allSatisfy { !$0.hasPosition }, "only the last block has an upstream position")
        #expect(blocks.last?.hasPosition == true)
    }
}

extension RingEntry {
    fileprivate mutating func setSize(_ byteCount: Int) {
        segment = SpoolFile(name: segment.name, byteCount: byteCount)
    }
}
