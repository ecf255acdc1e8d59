import Foundation
import TestSupport
import Testing

@testable import LiveRing

/// Where a ring goes on whose journal was damaged in other ways than a kill does. What stands before the damage is
/// listed; of what stands behind it the numbers are known by the files.
struct DamagedJournalTests {
    /// Held by the suite: it outlives the ring in it.
    let directory: ScratchDirectory

    init() throws { directory = try ScratchDirectory() }

    /// The journal's lines, of which one begins segment `n`'s record and one, its address, ends it.
    struct Lines {
        var all: [String]

        func uri(_ n: Int) -> Int { all.firstIndex { $0.hasPrefix("seg-\(n)-") } ?? 0 }
        func beginning(_ n: Int) -> Int { uri(n - 1) + 1 }
        func line(_ n: Int, _ prefix: String) -> Int { all[...uri(n)].lastIndex { $0.hasPrefix(prefix) } ?? 0 }
    }

    struct Damage: Sendable, CustomTestStringConvertible {
        let when: String
        /// Records before the damage.
        let recorded: UInt64
        /// Segments behind that.
        let lost: Int
        let damage: @Sendable (inout Lines) -> Void

        init(_ when: String, recorded: UInt64, lost: Int, _ damage: @escaping @Sendable (inout Lines) -> Void) {
            (self.when, self.recorded, self.lost, self.damage) = (when, recorded, lost, damage)
        }

        /// An attribute of a record is another number.
        init(_ name: String, is value: String) {
            self.init("\(name) is beyond what can be counted", recorded: 6, lost: 4) { lines in
                let line = lines.line(6, "#LIVERELAY-ENTRY")
                let attributes = lines.all[line].split(separator: ",").map { attribute in
                    attribute.hasPrefix("\(name)=") ? "\(name)=\(value)" : String(attribute)
                }
                lines.all[line] = attributes.joined(separator: ",")
            }
        }

        var testDescription: String { when }
    }

    static let rows = damages + beyond.map { Damage($0, is: $1) }

    private static let damages = [
        Damage("nothing", recorded: 10, lost: 0) { _ in },
        Damage("zeros behind it", recorded: 10, lost: 0) { $0.all.append(zeros(512)) },
        Damage("zeros for the last record, which was listed", recorded: 9, lost: 1) {
            $0.all[$0.beginning(9)...].replaceSubrange($0.beginning(9)..., with: [zeros(300)])
        },
        Damage("zeros in the middle", recorded: 6, lost: 4) { $0.all[$0.line(6, "#EXTINF")] = zeros(16) },
        Damage("noise in the middle", recorded: 6, lost: 4) {
            $0.all.replaceSubrange(
                $0.beginning(6)...$0.uri(7), with: ["\u{7F}\u{1}x\"=", ",,#\u{3}EXT", "seg-\u{2}"])
        },
        Damage("a record's own line is gone", recorded: 6, lost: 4) {
            $0.all.remove(at: $0.line(6, "#LIVERELAY-ENTRY"))
        },
        Damage("its length is gone", recorded: 6, lost: 4) { $0.all.remove(at: $0.line(6, "#EXTINF")) },
        Damage("its address is gone, so the next record takes its number", recorded: 6, lost: 4) {
            $0.all.remove(at: $0.uri(6))
        },
        Damage("all of it is gone", recorded: 6, lost: 4) { $0.all.removeSubrange($0.beginning(6)...$0.uri(6)) },
        Damage("it is there twice", recorded: 7, lost: 3) {
            $0.all.insert(contentsOf: $0.all[$0.beginning(6)...$0.uri(6)], at: $0.uri(6) + 1)
        },
        Damage("two lines are one", recorded: 6, lost: 4) {
            $0.all[$0.uri(6)] += $0.all.remove(at: $0.uri(6) + 1)
        },
        Damage("a number in it is none", recorded: 6, lost: 4) {
            let line = $0.line(6, "#LIVERELAY-ENTRY")
            $0.all[line] = $0.all[line].replacing("FRAGMENT=", with: "FRAGMENT=x")
        },
        Damage("a segment that lasts no time", recorded: 6, lost: 4) { $0.all[$0.line(6, "#EXTINF")] = "#EXTINF:0," },
        Damage("a segment that lasts for ever", recorded: 6, lost: 4) {
            $0.all[$0.line(6, "#EXTINF")] = "#EXTINF:99999999999,"
        },
        Damage("a file of less than no bytes", recorded: 6, lost: 4) {
            let line = $0.line(6, "#LIVERELAY-ENTRY")
            $0.all[line] = $0.all[line].replacing(/BYTES=\d/, with: "BYTES=-1", maxReplacements: 1)
        },
        Damage("the first record", recorded: 0, lost: 0) { $0.all[$0.line(0, "#EXTINF")] = "#EXTINF:never" },
        Damage("the head counts from elsewhere: the names of files tell", recorded: 10, lost: 0) {
            $0.all[$0.line(0, "#EXT-X-MEDIA-SEQUENCE")] = "#EXT-X-MEDIA-SEQUENCE:5"
        },
        Damage("the head counts from far ahead", recorded: 10, lost: 0) {
            $0.all[$0.line(0, "#EXT-X-MEDIA-SEQUENCE")] = "#EXT-X-MEDIA-SEQUENCE:50000000000"
        },
    ]

    /// Numbers that read well, and trap whoever counts on from them.
    private static let beyond = [
        ("VIDEO-TIME", "18446744073709551615"), ("VIDEO-TIME", "9223372036854775807"),
        ("AUDIO-TIME", "9223372036854775808"), ("END", "9223372036854775807"), ("END", "-9223372036854775808"),
        ("OFFSET", "9223372036854775807"),
    ]

    private static func zeros(_ count: Int) -> String { String(repeating: "\0", count: count) }

    @Test(arguments: rows)
    func whatIsBehindTheDamageIsAGap(_ row: Damage) async throws {
        let told = try await Self.fill(directory)
        var lines = Lines(all: text(try directory.read("ring.m3u8")).components(separatedBy: "\n"))
        row.damage(&lines)
        let damaged = Array(lines.all.joined(separator: "\n").utf8)
        try directory.write("ring.m3u8", damaged)
        let ring = try DVRRing.open(directory)
        #expect(ring.snapshot.index.listed == told.index.listed.prefix(Int(row.recorded)))
        #expect(ring.unrecordedSegments == row.lost)
        #expect(ring.resume == (row.recorded > 0 ? .after(Int(row.recorded) - 1) : nil))
        let isKept = directory.names.contains("ring.m3u8.damaged")
        #expect(isKept == (row.when != "nothing"))
        if isKept { #expect(try directory.read("ring.m3u8.damaged") == damaged, "for who wants to look") }

        if row.lost > 0 {
            #expect(try directory.read("ring.m3u8") == damaged, "who is killed now leaves what there was")
            try await ring.listUnrecorded((0..<row.lost).map { .after(Int(row.recorded) + $0) })
            #expect(ring.snapshot.index.listed.suffix(row.lost).allSatisfy { $0.isGap && $0.isDiscontinuous })
        }
        try await ring.publish(.numbered(10))
        let edge = try #require(ring.snapshot.edge)
        #expect(edge.mediaSequence == 10, "no number comes back, and none is passed over")
        #expect(edge.discontinuitySequence > told.index.discontinuitySequence || row.recorded > 3)
        #expect(edge.isDiscontinuous && edge.discontinuitySequence >= 1 + UInt64(row.lost))
        #expect(brokenRules(in: text(ring.snapshot.dvrPlaylist(.whole))).isEmpty)
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

    /// A name that nobody gave must not make a list of a thousand million gaps.
    @Test func aNumberFarAheadIsNotBelieved() async throws {
        do { try await DVRRing.open(directory).publish(.numbered(0)) }
        let journal = try directory.read("ring.m3u8")
        try directory.write("seg-4000000000-01234567.m4s", [1])
        let error = RingError.damagedJournal(path: "\(directory.path)/ring.m3u8", lost: 4_000_000_000)
        #expect(throws: error) { try DVRRing.open(directory) }
        #expect(try directory.read("ring.m3u8") == journal)
        #expect(directory.names.contains("seg-4000000000-01234567.m4s"))
    }

    /// Written, and not yet in the journal: nobody has seen it.
    @Test func theSegmentThatAKillLeftUnlistedIsNone() async throws {
        do { try await DVRRing.open(directory).publish(.numbered(0)) }
        try directory.write("seg-1-01234567.m4s", [1])
        let ring = try DVRRing.open(directory)
        #expect(ring.unrecordedSegments == 0 && ring.snapshot.index.nextMediaSequence == 1)
        #expect(!directory.names.contains("seg-1-01234567.m4s"))
    }
}
