import Glibc
import Playlist
import TestSupport
import Testing

@testable import LiveRing
@testable import Support

/// A long journal is replaced in parts, one with each publish.
struct JournalReplacementTests {
    let directory: ScratchDirectory
    let disk = FailingDisk()
    private static let count = 5000
    /// An entry is read four times: for its record, for its block in the file, twice, and for the bases of it.
    private static let mostSteps = 5 * JournalReplacement.entriesPerPart

    init() throws { directory = try ScratchDirectory() }

    /// A ring without segment files.
    private struct Ring: ~Copyable {
        let spool: SpoolDirectory
        var index: RingIndex
        var journal = JournalFile(SpoolName.journal)
        var checkpoint = CheckpointFile(upTo: nil)

        init(_ spool: consuming SpoolDirectory, rewind: Duration?) throws {
            index = .filled(JournalReplacementTests.count, policy: RetentionPolicy(rewind: rewind, freeReserve: 0))
            self.spool = spool
            try journal.rewrite(RingJournal(index, hasEnded: false), in: self.spool, checkpoint: &checkpoint)
            checkpoint.append(index.entries, in: self.spool)
        }

        /// Publishes a segment as `DVRRing` does.
        /// - Returns: the steps of what is done beside it.
        mutating func publish() throws -> Int {
            let counter = StepCounter()
            index.publish(.numbered(Int(index.nextMediaSequence)))
            try journal.append(RingJournal.record(#require(index.newest)), in: spool)
            try StepCounter.$current.withValue(counter) {
                try journal.continueReplacing(with: index, in: spool, checkpoint: &checkpoint)
            }
            checkpoint.append(index.entries, in: spool)
            return counter.steps
        }
    }

    private func ring(rewind: Duration? = nil) throws -> Ring {
        let disk = disk
        return try Ring(SpoolDirectory(directory.path, on: FileSystem(fault: { disk.answer($0, $1) })), rewind: rewind)
    }

    private var head: String {
        get throws { text(Array(try directory.read("ring.m3u8").prefix(2000))) }
    }

    /// A restart after a kill at this moment finds every entry.
    private func expectReadable(_ index: RingIndex, _ when: String) throws {
        let read = try #require(try JournalReader.read(in: directory.path)?.journal)
        #expect(!read.isDamaged && read.isFromCheckpoint, "\(when)")
        #expect(read.entries.suffix(index.entries.count).elementsEqual(index.entries), "\(when)")
    }

    @Test func eachPublishWritesOnePart() throws {
        var ring = try ring()
        ring.index.stopSliding()
        ring.journal.outdate()
        let old = try directory.read(SpoolName.checkpoint)
        var publishes = 0
        while try !head.contains(RingJournal.liveWindowStartTag) {
            let steps = try ring.publish()
            publishes += 1
            #expect(steps <= Self.mostSteps, "publish \(publishes)")
            try expectReadable(ring.index, "killed after part \(publishes)")
            guard publishes < 10 else { break }
        }
        #expect(publishes == (Self.count + publishes + 1023) / 1024)
        let text = text(try directory.read("ring.m3u8"))
        #expect(text == RingJournal(ring.index, hasEnded: false).text)
        let new = try directory.read(SpoolName.checkpoint)
        try directory.write(SpoolName.checkpoint, old)
        try expectReadable(ring.index, "killed before the new checkpoint has its name")
        try directory.write(SpoolName.checkpoint, new)
        for _ in 0..<200 { _ = try ring.publish() }
        try expectReadable(ring.index, "later")
        #expect(directory.names.allSatisfy { !$0.hasSuffix(SpoolName.partSuffix) })
    }

    /// The head changes again while the file is written: another replacement follows.
    @Test func headThatChangesMeanwhile() throws {
        var ring = try ring()
        ring.index.stopSliding()
        ring.journal.outdate()
        for _ in 0..<2 { _ = try ring.publish() }
        ring.index.resumeSliding()
        ring.journal.outdate()
        for _ in 0..<4 { _ = try ring.publish() }
        #expect(try head.contains(RingJournal.liveWindowStartTag))
        for _ in 0..<5 { _ = try ring.publish() }
        #expect(try !head.contains(RingJournal.liveWindowStartTag))
        try expectReadable(ring.index, "twice")
    }

    /// Segments are evicted while the file is written, which has their records all the same.
    @Test func evictionMeanwhile() throws {
        var ring = try ring(rewind: .seconds(6 * 2000))
        ring.journal.outdate()
        for _ in 0..<6 {
            let steps = try ring.publish()
            #expect(steps <= Self.mostSteps)
        }
        try expectReadable(ring.index, "evicted")
    }

    @Test(arguments: [1, 3]) func partThatFailsIsBegunAgain(part: Int) throws {
        var ring = try ring()
        ring.index.stopSliding()
        ring.journal.outdate()
        for _ in 0..<part - 1 { _ = try ring.publish() }
        disk.fail(.init(file: "ring.m3u8", written: 500, code: ENOSPC))
        #expect(throws: RingError.self) {
            try ring.journal.continueReplacing(with: ring.index, in: ring.spool, checkpoint: &ring.checkpoint)
        }
        disk.fail(nil)
        #expect(directory.names.allSatisfy { !$0.hasSuffix(SpoolName.partSuffix) })
        try expectReadable(ring.index, "failed")
        for _ in 0..<5 { _ = try ring.publish() }
        #expect(try head.contains(RingJournal.liveWindowStartTag))
        try expectReadable(ring.index, "again")
    }
}
