import Playlist
import TestSupport
import Testing

@testable import LiveRing
@testable import Support

/// Old entries are kept in less memory, and read as they were appended.
struct RingEntriesTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let when: String
        /// Changes entry `n`.
        let change: @Sendable (inout RingEntry, Int, inout SeededGenerator) -> Void
        var testDescription: String { when }
    }

    private static let rows: [Row] = [
        Row(when: "entries that differ in numbers only") { _, _, _ in },
        Row(when: "another init section and format every few segments") { entry, n, _ in
            entry.initialization = SpoolFile(name: "init-\(n / 7 % 2).mp4", byteCount: 500 + n / 7 % 2)
            entry.format.videoRange = n / 7 % 2 == 0 ? nil : "HLG"
            entry.isDiscontinuous = n.isMultiple(of: 7)
            entry.discontinuitySequence = UInt64(n / 7 + 1)
        },
        Row(when: "numbers that go back or do not fit") { entry, n, random in
            entry.programDateTime = at(.random(in: -1 << 40...1 << 30, using: &random))
            entry.segment = SpoolFile(name: entry.segment.name, byteCount: .random(in: 0...1 << 40, using: &random))
            entry.resumePoint.videoDecodeTime = .random(in: 0...1 << 52, using: &random)
            entry.resumePoint.presentationEnd = .random(in: 0...1 << 52, using: &random)
            entry.subtitleBytes = .random(in: 0...1 << 34, using: &random)
        },
        Row(when: "gaps, which have neither media nor an upstream position") { entry, n, _ in
            guard n % 5 > 2 else { return }
            entry.isGap = true
            entry.segment = SpoolFile(name: SpoolName.segment(mediaSequence: UInt64(n), header: []), byteCount: 0)
            entry.resumePoint.upstream = nil
        },
        Row(when: "names that no segment of this version has") { entry, n, _ in
            entry.segment = SpoolFile(
                name: n.isMultiple(of: 3) ? "seg-\(n)-ABCDEF01.m4s" : "seg-0\(n)-abcdef01.m4s", byteCount: n)
        },
        Row(when: "ad markers and date ranges") { entry, n, random in
            if n.isMultiple(of: 3) { entry.adMarkers.cueTags = [CueTag("#EXT-X-CUE-OUT-CONT:\(n)/30")!] }
            if n.isMultiple(of: 4) { entry.adMarkers.dateRanges = [.random(at: n, using: &random)] }
        },
        Row(when: "transport streams with stills, private data and clock packets") { entry, n, random in
            guard n % 9 != 8 else {
                entry.transportStream = nil
                return
            }
            entry.transportStream = TransportStreamPoint(
                parameters: "p\(n / 50)", discontinuitySequence: UInt64(n / 20), isDiscontinuous: n.isMultiple(of: 20),
                still: n / 30 % 2 == 0 ? nil : SpoolFile(name: "still-a.mp4", byteCount: 9),
                privateData: n.isMultiple(of: 2) ? nil : SpoolFile(name: "data-\(n).mp4", byteCount: n),
                extent: n.isMultiple(of: 11)
                    ? nil
                    : TransportStreamExtent(
                        byteCount: 188 * n, leadByteCount: n % 3 * 188, pause: Int64(n % 4), shift: -Int64(n % 2)))
        },
        Row(when: "early audio, some of it as large as nobody sends it") { entry, n, _ in
            entry.transportStream = TransportStreamPoint(
                parameters: "p", discontinuitySequence: 1, isDiscontinuous: false,
                extent: TransportStreamExtent(
                    byteCount: 188 * n + 188, earlyAudioByteCount: n.isMultiple(of: 50) ? 1 << 30 : n % 4 * 3008,
                    removedByteCount: n % 3 * 188))
        },
        Row(when: "audio tracks, another one from the middle on, and a segment without their files") { entry, n, _ in
            let languages = n < 500 ? ["en"] : ["en", "de"]
            entry.resumePoint.audioTracks = languages.map {
                AudioTrackPoint(identity: $0, configuration: "c\(n / 200)", decodeTime: UInt64(n))
            }
            entry.audioFiles = languages.map { language in
                n.isMultiple(of: 13)
                    ? nil
                    : TrackFile(
                        initialization: SpoolFile(name: "init-\(n / 200).mp4", byteCount: 700),
                        segment: SpoolFile(name: "audio-\(language)-\(n).m4s", byteCount: n),
                        isGap: n.isMultiple(of: 17))
            }
        },
        Row(when: "sources that take turns, one of them after its numbers began again") { entry, n, _ in
            entry.resumePoint.upstream = UpstreamPosition(
                sourceIndex: n / 10 % 2, mediaSequence: UInt64(n % 40), programDateTime: at(Int64(n)),
                publishedFrames: "1/\(n)")
        },
    ]

    private static func entries(_ count: Int, _ row: Row, seed: UInt64) -> [RingEntry] {
        var random = SeededGenerator(seed: seed)
        return RingIndex.filled(count, policy: RetentionPolicy(rewind: nil)).listed.enumerated().map { n, entry in
            var entry = entry
            entry.resumePoint.upstream = UpstreamPosition(
                sourceIndex: 0, mediaSequence: UInt64(1000 + n), programDateTime: at(Int64(n)), publishedFrames: "\(n)")
            row.change(&entry, n, &random)
            return entry
        }
    }

    /// An entry without what is kept of the newest position alone.
    private static func reduced(_ entry: RingEntry) -> RingEntry {
        var entry = entry
        entry.resumePoint.upstream?.programDateTime = nil
        entry.resumePoint.upstream?.publishedFrames = nil
        for index in entry.resumePoint.audioTracks.indices { entry.resumePoint.audioTracks[index].decodeTime = 0 }
        return entry
    }

    @Test(arguments: rows)
    func entriesAreReadAsTheyWereAppended(row: Row) throws {
        let all = Self.entries(1000, row, seed: 1)
        var (entries, start) = (RingEntries(), 0)
        for (n, entry) in all.enumerated() {
            entries.append(entry)
            if n % 3 == 1, n < 900 {
                entries.removeFirst()
                start += 1
            }
            guard n.isMultiple(of: 97) || n == 999 else { continue }
            try #require(entries.startIndex == start && entries.endIndex == n + 1)
            try #require(entries.map(Self.reduced) == all[start...n].map(Self.reduced), "\(row.when), \(n)")
            try #require(entries[(start + n) / 2] == entries[((start + n) / 2)...].first)
        }
        #expect(entries.suffix(RingEntries.recentCount).elementsEqual(all.suffix(RingEntries.recentCount)))
        let last = entries[..<entries.blockEnd].last { $0.resumePoint.upstream != nil }
        #expect(last?.resumePoint.upstream?.publishedFrames != nil, "the newest position of a block is whole")
    }

    @Test(arguments: rows)
    func entryThatChangesLeavesTheOthers(row: Row) throws {
        let all = Self.entries(700, row, seed: 2)
        var entries = RingEntries()
        for entry in all { entries.append(entry) }
        let held = entries
        var expected = Array(entries)
        for n in stride(from: 0, to: 700, by: 23) {
            expected[n].subtitleBytes += 400
            expected[n].isGap.toggle()
            if n.isMultiple(of: 2) { expected[n].adMarkers.cueTags.append(CueTag("#EXT-X-CUE-IN")!) }
            entries[n] = expected[n]
        }
        #expect(entries.map(Self.reduced) == expected.map(Self.reduced), "\(row.when)")
        #expect(held.map(Self.reduced) == all.map(Self.reduced), "copies keep what they had")
    }

    /// A restart takes blocks as they are, and has what it has if it reads each entry.
    @Test(arguments: rows, [nil, 300])
    func blocksAreReplayedAsTheirEntries(row: Row, listedCount: Int?) {
        let entries = Self.entries(1000, row, seed: 3).enumerated().map { n, entry in
            var entry = entry
            entry.subtitleBytes = 0
            // No file of a ring has the names of these.
            for track in entry.audioFiles.indices { entry.audioFiles[track]?.isGap = true }
            if let listedCount { entry.listedFrom = UInt64(max(0, n - listedCount)) }
            return entry
        }
        let policy = RetentionPolicy(rewind: nil, freeReserve: 0)
        var (expected, journal) = (
            RingIndex(policy: policy, targetDuration: 6),
            RingJournal(RingIndex(policy: policy, targetDuration: 6), hasEnded: false)
        )
        for entry in entries {
            journal.entries.append(entry)
            expected.replay(entry)
        }
        let index = RingRecovery.index(
            of: journal, policy: policy, targetDuration: 6, files: SpoolFiles(Self.sizes(of: entries))
        ).index
        let isSame = index == expected
        #expect(isSame && journal.entries.blockEnd > 500, "\(row.when)")
    }

    /// The end of a ring is found by the time in it, as if each entry were read, and after entries changed.
    @Test(arguments: 1...6 as ClosedRange<UInt64>) func suffixHasEnoughTime(seed: UInt64) {
        var (random, entries, durations) = (SeededGenerator(seed: seed), RingEntries(), [Int64]())
        for var entry in Self.entries(1000, Self.rows[0], seed: seed) {
            entry.duration = .random(in: 1...540_000, using: &random)
            durations.append(entry.duration)
            entries.append(entry)
        }
        for n in stride(from: 5, to: 1000, by: 31) {
            durations[n] = .random(in: 1...540_000, using: &random)
            entries[n].duration = durations[n]
        }
        for _ in 0..<100 {
            let part = Int.random(in: 0...400, using: &random)..<Int.random(in: 401...1000, using: &random)
            let ticks = Int64.random(in: 0...280_000_000, using: &random)
            var (start, passed) = (part.upperBound, Int64(0))
            while start > part.lowerBound, passed < ticks || part.upperBound - start < 3 {
                start -= 1
                passed += durations[start]
            }
            #expect(entries[part].startOfSuffix(lasting: ticks, count: 3) == start, "seed \(seed), \(ticks) of \(part)")
        }
    }

    /// The sizes of all files of entries.
    private static func sizes(of entries: [RingEntry]) -> [String: Int] {
        let files = entries.flatMap { entry in
            [entry.segment, entry.initialization] + (entry.transportStream?.sidecars ?? [])
                + entry.audioFiles.compactMap(\.self).flatMap { [$0.segment, $0.initialization] }
        }
        return Dictionary(files.map { ($0.name, $0.byteCount) }) { first, _ in first }
    }

    /// A restart makes a few entries of each block, because the numbers of the others are enough.
    @Test func restartMakesFewEntries() {
        let entries = Self.entries(4000, Self.rows[0], seed: 4)
        let policy = RetentionPolicy(rewind: nil, freeReserve: 0)
        var journal = RingJournal(RingIndex(policy: policy, targetDuration: 6), hasEnded: false)
        for entry in entries { journal.entries.append(entry) }
        let (files, made) = (SpoolFiles(Self.sizes(of: entries)), StepCounter())
        StepCounter.$current.withValue(made) {
            _ = RingRecovery.index(of: journal, policy: policy, targetDuration: 6, files: files)
        }
        let each = StepCounter()
        StepCounter.$current.withValue(each) {
            var index = RingIndex(policy: policy, targetDuration: 6)
            for entry in journal.entries { index.replay(entry) }
        }
        #expect(made.steps * 2 < each.steps, "\(made.steps) of \(each.steps) steps")
    }

    /// A file has each block with its own bases, as earlier versions read it, also if the entries share the base of
    /// another block in memory.
    @Test(arguments: rows) func blockInAFileStandsForItself(row: Row) throws {
        var entries = RingEntries()
        for var entry in Self.entries(1000, row, seed: 5) {
            entry.subtitleBytes = 0
            entries.append(entry)
        }
        var (previous, blocks) = (EntryBlock?.none, 0)
        for block in entries.blocks(from: 0) {
            let bytes = block.bytes(writing: RingJournal.record)
            let all = (0..<EntryBlock.size).map { block[$0] }
            // Records do not take the numbers and names of all rows.
            guard RingJournal.entries(ofRecords: Array(all.map(RingJournal.record).joined().utf8)[...]) == all else {
                continue
            }
            let alone = try #require(EntryBlock(bytes: bytes[...], reading: RingJournal.entries), "\(row.when)")
            let shared = EntryBlock(bytes: bytes[...], after: previous, reading: RingJournal.entries)
            for position in all.indices {
                let expected = Self.reduced(all[position])
                #expect(Self.reduced(alone[position]) == expected, "\(row.when)")
                #expect(shared.map { Self.reduced($0[position]) } == expected, "\(row.when)")
            }
            blocks += 1
            previous = shared
        }
        #expect(blocks > 0 || row.when != Self.rows[0].when)
    }
}
