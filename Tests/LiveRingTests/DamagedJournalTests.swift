import Foundation
import TestSupport
import Testing

@testable import LiveRing

/// Recovery from a journal that was damaged in other ways than by a kill.
///
/// Every intact record is listed. Lost records between two of them are gaps. The file names give the numbers of lost
/// records after them.
struct DamagedJournalTests {
    /// The suite holds the directory, so that it outlives the ring.
    let directory: ScratchDirectory

    init() throws { directory = try ScratchDirectory() }

    /// The lines of the journal. The record of segment `n` begins with its checksum and ends with its URI.
    struct Lines {
        var all: [String]

        func uri(_ n: Int) -> Int { all.firstIndex { $0.hasPrefix("seg-\(n)-") } ?? 0 }
        func beginning(_ n: Int) -> Int { uri(n - 1) + 1 }
        func line(_ n: Int, _ prefix: String) -> Int { all[...uri(n)].lastIndex { $0.hasPrefix(prefix) } ?? 0 }

        /// Updates the checksum of every record.
        mutating func seal() {
            for first in all.indices where all[first].hasPrefix("#LIVERELAY-RECORD:") {
                guard let end = all[first...].firstIndex(where: { !$0.hasPrefix("#") }) else { continue }
                let lines = all[(first + 1)...end].map { $0 + "\n" }.joined()
                all[first] = String(JournalDamageFilter.prependingChecksum(to: lines).prefix { $0 != "\n" })
            }
        }
    }

    struct Damage: Sendable, CustomTestStringConvertible {
        let when: String
        /// The segments, of ten, whose records are lost.
        let lost: Range<Int>
        let damage: @Sendable (inout Lines) -> Void

        init(_ when: String, lost: Range<Int>, _ damage: @escaping @Sendable (inout Lines) -> Void) {
            (self.when, self.lost, self.damage) = (when, lost, damage)
        }

        /// Replaces or removes a line of the seventh record.
        init(_ when: String, _ prefix: String, _ change: @escaping @Sendable (String) -> String?) {
            self.init(when, lost: 6..<7) { lines in
                let line = lines.line(6, prefix)
                lines.all.replaceSubrange(line...line, with: change(lines.all[line]).map { [$0] } ?? [])
            }
        }

        /// Replaces the number of an attribute in a record.
        init(_ name: String, is value: String) {
            self.init("\(name) is beyond what can be counted", "#LIVERELAY-ENTRY") { line in
                line.split(separator: ",").map { attribute in
                    attribute.hasPrefix("\(name)=") ? "\(name)=\(value)" : String(attribute)
                }.joined(separator: ",")
            }
        }

        var testDescription: String { when }
    }

    static let rows = damages + lines + beyond.map { Damage($0, is: $1) }

    private static let damages = [
        Damage("nothing", lost: 0..<0) { _ in },
        Damage("zeros after the end", lost: 0..<0) { $0.all.append(zeros(512)) },
        Damage("zeros for the last record, which was listed", lost: 9..<10) {
            $0.all[$0.beginning(9)...].replaceSubrange($0.beginning(9)..., with: [zeros(300)])
        },
        Damage("zeros for the last four", lost: 6..<10) {
            $0.all[$0.beginning(6)...].replaceSubrange($0.beginning(6)..., with: [zeros(1300)])
        },
        Damage("zeros from the middle of one record to that of the next but one", lost: 6..<9) {
            $0.all.replaceSubrange($0.line(6, "#EXTINF")...$0.line(8, "#EXTINF"), with: [zeros(600)])
        },
        Damage("noise in the middle", lost: 6..<8) {
            $0.all.replaceSubrange(
                $0.beginning(6)...$0.uri(7), with: ["\u{7F}\u{1}x\"=", ",,#\u{3}EXT", "seg-\u{2}"])
        },
        Damage("a discontinuity is lost with its record, and another segment", lost: 2..<4) {
            $0.all.removeSubrange($0.beginning(2)...$0.uri(3))
        },
        Damage("its URI line is missing, so the next record begins in it", lost: 6..<7) {
            $0.all.remove(at: $0.uri(6))
        },
        Damage("an EXTINF is longer than a segment can be", "#EXTINF") { _ in "#EXTINF:36001," },
        Damage("an EXTINF is 0", "#EXTINF") { _ in "#EXTINF:0.00000," },
        Damage("its first line is gone", lost: 6..<7) { $0.all.remove(at: $0.beginning(6)) },
        Damage("its end and the beginning of the next are gone: they look like one", lost: 6..<8) {
            $0.all.removeSubrange($0.line(6, "#LIVERELAY-ENTRY")...$0.line(7, "#EXT-X-PROGRAM-DATE-TIME"))
        },
        Damage("all of it is gone", lost: 6..<7) { $0.all.removeSubrange($0.beginning(6)...$0.uri(6)) },
        Damage("it is there twice", lost: 0..<0) {
            $0.all.insert(contentsOf: $0.all[$0.beginning(6)...$0.uri(6)], at: $0.uri(6) + 1)
        },
        Damage("it stands before the one before it", lost: 5..<6) {
            let record = $0.all[$0.beginning(6)...$0.uri(6)]
            $0.all.removeSubrange($0.beginning(6)...$0.uri(6))
            $0.all.insert(contentsOf: record, at: $0.beginning(5))
        },
        Damage("two lines are one", lost: 6..<8) { $0.all[$0.uri(6)] += $0.all.remove(at: $0.uri(6) + 1) },
        Damage("the first record", lost: 0..<1) { $0.all[$0.line(0, "#EXTINF")] = "#EXTINF:never" },
        Damage("every record", lost: 0..<10) { $0.all.removeSubrange($0.line(0, "#LIVERELAY-RECORD")...$0.uri(9)) },
        Damage("the head has another number: the file names count", lost: 0..<0) {
            $0.all[$0.line(0, "#EXT-X-MEDIA-SEQUENCE")] = "#EXT-X-MEDIA-SEQUENCE:5"
        },
        Damage("the head counts from far ahead", lost: 0..<0) {
            $0.all[$0.line(0, "#EXT-X-MEDIA-SEQUENCE")] = "#EXT-X-MEDIA-SEQUENCE:50000000000"
        },
    ]

    private static let lines = [
        Damage("zeros in a line", "#EXTINF") { _ in zeros(16) },
        Damage("a record's own line is gone", "#LIVERELAY-ENTRY") { _ in nil },
        Damage("its length is gone", "#EXTINF") { _ in nil },
        Damage("its date is another", "#EXT-X-PROGRAM-DATE-TIME") { $0.replacing("2026", with: "2036") },
        Damage("a number in it is none", "#LIVERELAY-ENTRY") { $0.replacing("FRAGMENT=", with: "FRAGMENT=x") },
        Damage("a segment that lasts no time", "#EXTINF") { _ in "#EXTINF:0," },
        Damage("a segment that lasts for ever", "#EXTINF") { _ in "#EXTINF:99999999999," },
        Damage("a file of less than no bytes", "#LIVERELAY-ENTRY") {
            $0.replacing(/BYTES=\d/, with: "BYTES=-1", maxReplacements: 1)
        },
    ]

    /// Valid numbers that overflow when they are incremented.
    private static let beyond = [
        ("VIDEO-TIME", "18446744073709551615"), ("VIDEO-TIME", "9223372036854775807"),
        ("AUDIO-TIME", "9223372036854775808"), ("END", "9223372036854775807"), ("END", "-9223372036854775808"),
        ("OFFSET", "9223372036854775807"), ("DISCONTINUITY-SEQUENCE", "9223372036854775807"),
        ("DISCONTINUITY-SEQUENCE", "0"), ("LISTED-FROM", "-1"), ("LISTED-FROM", "9223372036854775807"),
        ("VIDEO-TIME", "4503599627370497"), ("END", "4503599627370497"), ("AUDIO-TIME", "1152921504606846977"),
        ("FRAGMENT", "4294967296"), ("INIT-BYTES", "1099511627777"),
    ]

    private static func zeros(_ count: Int) -> String { String(repeating: "\0", count: count) }

    /// With the original checksums, and with checksums updated to the damage.
    @Test(arguments: rows, [false, true])
    func lostFilesAreGaps(_ row: Damage, isSealed: Bool) async throws {
        let published = try await Self.fill(directory)
        var lines = Lines(all: text(try directory.read("ring.m3u8")).components(separatedBy: "\n"))
        row.damage(&lines)
        if isSealed { lines.seal() }
        let damaged = Array(lines.all.joined(separator: "\n").utf8)
        try directory.write("ring.m3u8", damaged)
        let ring: DVRRing
        do throws(RingError) { ring = try DVRRing.open(directory) } catch {
            // A wrong record with a right checksum was edited by hand, and is refused.
            try #require(isSealed, "\(error)")
            return
        }
        if isSealed {
            try await ring.publishUnrecordedGaps((0..<ring.unrecordedSegments).map { .after(10 + $0) })
            return try await goesOn(ring)
        }
        let isAtEnd = row.lost.upperBound == 10
        let known = published.index.listed.filter { !row.lost.contains(Int($0.mediaSequence)) }
        #expect(ring.snapshot.index.listed.filter { !$0.isGap } == known)
        #expect(ring.resumePoint == (isAtEnd ? known.last?.resumePoint : .after(9)))
        let hasNothing = row.lost == 0..<10
        #expect(ring.unrecordedSegments == (isAtEnd && !hasNothing ? row.lost.count : 0))
        #expect(ring.lostRecords == (isAtEnd || row.lost.lowerBound == 0 ? 0 : row.lost.count))
        let isKept = directory.names.contains("ring.m3u8.damaged")
        #expect(isKept == (row.when != "nothing"))
        if isKept { #expect(try directory.read("ring.m3u8.damaged") == damaged, "a copy for inspection") }
        if !isAtEnd {
            let now = ring.snapshot.index
            #expect(now.discontinuitySequence == published.index.discontinuitySequence)
            let last = try #require(now.listed.last)
            #expect(last.programDateTime == published.index.listed.last?.programDateTime)
            if row.lost.lowerBound > 0 { #expect(now.listedTicks == published.index.listedTicks) }
        }
        if ring.unrecordedSegments > 0 {
            #expect(try directory.read("ring.m3u8") == damaged, "a kill now leaves the journal unchanged")
            try await ring.publishUnrecordedGaps(row.lost.map { .after($0) })
            #expect(ring.snapshot.index.listed.suffix(row.lost.count).allSatisfy { $0.isGap && $0.isDiscontinuous })
        }
        try await goesOn(ring)
        #expect(ring.snapshot.newest?.mediaSequence == 10, "no number is repeated or skipped")
    }

    private func goesOn(_ ring: DVRRing) async throws {
        try await ring.publish(.numbered(10))
        let edge = try #require(ring.snapshot.newest)
        #expect(edge.isDiscontinuous && edge.mediaSequence >= 10)
        // A damaged date with a checksum of its own is believed.
        #expect(brokenRules(in: text(ring.snapshot.dvrPlaylist(.whole))).allSatisfy { $0.hasPrefix("16/") })
        #expect(
            directory.names.subtracting(["ring.m3u8", "ring.lock", "ring.m3u8.damaged"]) == ring.snapshot.index.files)
    }

    private static func fill(_ directory: ScratchDirectory) async throws -> RingSnapshot {
        let ring = try DVRRing.open(directory)
        for n in 0..<10 {
            try await ring.publish(
                .numbered(n, isDiscontinuous: n == 3, initialization: n < 3 ? "init-a.mp4" : "init-b.mp4"))
        }
        return ring.snapshot
    }

    /// An implausible file name must not cause a playlist of a thousand million gaps.
    @Test func numberFarAheadIsIgnored() async throws {
        do { try await DVRRing.open(directory).publish(.numbered(0)) }
        try directory.write("seg-4000000000-01234567.m4s", [1])
        let ring = try DVRRing.open(directory)
        #expect(ring.snapshot.index.listed.map(\.mediaSequence) == [0] && ring.snapshot.index.nextMediaSequence == 1)
        #expect(!directory.names.contains("seg-4000000000-01234567.m4s"))
    }

    /// With a damaged journal it is unknown what viewers saw, so numbers continue after the file.
    @Test func numberFarAheadOfADamagedJournalIsContinued() async throws {
        do { try await DVRRing.open(directory).publish(.numbered(0)) }
        let journal = try directory.read("ring.m3u8")
        try directory.write("ring.m3u8", journal + Array("damage\n".utf8))
        try directory.write("seg-4000000000-01234567.m4s", [1])
        let ring = try DVRRing.open(directory)
        #expect(ring.wasDamaged && ring.snapshot.index.nextMediaSequence == 4_000_000_001)
    }

    /// A segment without a journal line was never visible.
    @Test func unlistedSegmentAfterKillIsRemoved() async throws {
        do { try await DVRRing.open(directory).publish(.numbered(0)) }
        try directory.write("seg-1-01234567.m4s", [1])
        let ring = try DVRRing.open(directory)
        #expect(ring.unrecordedSegments == 0 && ring.snapshot.index.nextMediaSequence == 1)
        #expect(!directory.names.contains("seg-1-01234567.m4s"))
    }
}
