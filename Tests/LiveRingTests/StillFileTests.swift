import Foundation
import Playlist
import Testing

@testable import LiveRing
@testable import Support

/// Frames of earlier segments, which the transport streams of later ones need.
struct StillFileTests {
    let directory: ScratchDirectory

    init() throws { directory = try ScratchDirectory() }

    private static let policy = RetentionPolicy(rewind: .seconds(48), liveWindow: .zero, freeReserve: 0)
    private static let still = SidecarFile(.still, hash: "a1", bytes: [1, 2, 3])

    /// Segment `n`; segments 2 to 5 have the still, and 6 has another.
    private static func segment(_ n: Int) -> NewSegment {
        var segment = NewSegment.numbered(n)
        let file = (2...5).contains(n) ? still : n == 6 ? SidecarFile(.still, hash: "b6", bytes: [6]) : nil
        segment.sidecars = [file].compactMap(\.self)
        segment.transportStream = TransportStreamPoint(
            parameters: "", discontinuitySequence: 0, isDiscontinuous: false, still: file?.file)
        return segment
    }

    private func names() -> [String] {
        directory.names.filter { $0.hasPrefix("still-") || $0.hasPrefix("leadin-") }.sorted()
    }

    @Test func fileStaysAsLongAsASegmentNeedsIt() async throws {
        let ring = try DVRRing.open(directory, policy: Self.policy)
        for n in 0..<8 { try await ring.publish(Self.segment(n)) }
        #expect(names() == ["still-a1.mp4", "still-b6.mp4"])
        #expect(try directory.read("still-a1.mp4") == [1, 2, 3])
        var seen: [[String]] = []
        for n in 8..<40 {
            try await ring.publish(Self.segment(n))
            let needed = Set(ring.snapshot.index.entries.compactMap { $0.transportStream?.still?.name })
            #expect(Set(names()) == needed, "after \(n)")
            if seen.last != names() { seen.append(names()) }
        }
        #expect(seen.count == 3 && seen.last == [], "they leave with their segments")
    }

    @Test func restartKeepsTheFilesThatAreNeeded() async throws {
        do {
            let ring = try DVRRing.open(directory, policy: Self.policy)
            for n in 0..<8 { try await ring.publish(Self.segment(n)) }
            try directory.write("still-ffff.mp4", [0])
            try directory.write("still-unrelated.txt", [0])
        }
        let ring = try DVRRing.open(directory, policy: Self.policy)
        #expect(names() == ["still-a1.mp4", "still-b6.mp4", "still-unrelated.txt"])
        let entry = try #require(ring.snapshot.index.entry(numbered: 4))
        #expect(entry.transportStream?.still == Self.still.file)
        #expect(try ring.snapshot.bytes(of: Self.still.file) == Self.still.bytes)
    }

    /// Its transport stream could not stay the same.
    @Test func segmentWhoseFileIsLostIsAGap() async throws {
        do {
            let ring = try DVRRing.open(directory, policy: Self.policy)
            for n in 0..<8 { try await ring.publish(Self.segment(n)) }
        }
        try directory.remove("still-b6.mp4")
        let ring = try DVRRing.open(directory, policy: Self.policy)
        #expect(ring.snapshot.index.listed.filter(\.isGap).map(\.mediaSequence) == [6])
        #expect(!names().contains("still-b6.mp4"))
    }

    /// Earlier versions stored the end of the audio before a segment. No segment needs it any more.
    @Test func spoolOfAnEarlierVersionIsRead() async throws {
        do {
            let ring = try DVRRing.open(directory, policy: Self.policy)
            for n in 0..<8 { try await ring.publish(Self.segment(n)) }
        }
        let lines = String(decoding: try directory.read("ring.m3u8"), as: UTF8.self)
            .replacing("TS-FILES=\"still-a1.mp4:3\"", with: "TS-FILES=\"still-a1.mp4:3 leadin-c.mp4:4\"")
            .split(separator: "\n").map { "\($0)\n" }
        try #require(lines.contains { $0.contains("leadin-c.mp4:4") })
        let records = lines.split(omittingEmptySubsequences: false) { $0.hasPrefix("#LIVERELAY-RECORD:") }.map {
            $0.joined()
        }
        let journal = records[0] + records.dropFirst().map(JournalDamageFilter.prependingChecksum).joined()
        try directory.write("ring.m3u8", Array(journal.utf8))
        try directory.write("leadin-c.mp4", [0, 0, 0, 0])
        let ring = try DVRRing.open(directory, policy: Self.policy)
        #expect(!ring.wasDamaged && ring.snapshot.index.listed.count == 8)
        #expect(ring.snapshot.index.listed.filter(\.isGap).isEmpty)
        #expect(ring.snapshot.index.entry(numbered: 4)?.transportStream?.still == Self.still.file)
        #expect(names() == ["still-a1.mp4", "still-b6.mp4"])
    }

    /// Each segment has its own subtitles beside it.
    @Test func privateDataLeavesWithItsSegment() async throws {
        let ring = try DVRRing.open(directory, policy: Self.policy)
        for n in 0..<30 {
            var segment = Self.segment(n)
            let data = SidecarFile(.privateData, hash: "d\(n)", bytes: [UInt8(n)])
            segment.sidecars.append(data)
            segment.transportStream?.privateData = data.file
            try await ring.publish(segment)
        }
        let stored = Set(directory.names.filter { $0.hasPrefix("data-") })
        #expect(stored == Set(ring.snapshot.index.entries.compactMap { $0.transportStream?.privateData?.name }))
        #expect(stored.contains("data-d29.mp4") && !stored.contains("data-d0.mp4"))
        #expect(ring.snapshot.newest?.storedBytes == UInt64(ring.snapshot.newest?.segment.byteCount ?? 0) + 1)
    }

    @Test func gapNeedsNoFile() async throws {
        let ring = try DVRRing.open(directory, policy: Self.policy)
        for n in 0..<4 { try await ring.publish(Self.segment(n)) }
        try await ring.publishGap(lasting: 540_000, resumePoint: .after(4))
        #expect(ring.snapshot.newest?.transportStream?.still == nil)
    }

    @Test(arguments: [
        "still-a.mp4:3", "leadin-b.mp4:9 still-a.mp4:3", "still-a.mp4:3 leadin-b.mp4:9", "still-a.mp4", "still-a.mp4:x",
        "../etc:3", "init-a.mp4:3", "still-a.mp4:3 still-b.mp4:3", "data-a.mp4:3 data-b.mp4:3",
    ])
    func namesAreReadFromTheJournal(text: String) throws {
        var entry = RingIndex.filled(1).listed[0]
        entry.transportStream = TransportStreamPoint(
            parameters: "p", discontinuitySequence: 0, isDiscontinuous: false,
            still: SpoolFile(name: "still-a.mp4", byteCount: 3))
        var segment = entry.mediaSegment
        segment.unknownTags.append(
            JournalEntryTag(entry).line.replacing("TS-FILES=\"still-a.mp4:3\"", with: "TS-FILES=\"\(text)\""))
        let isRight = text.split(separator: " ").filter { !$0.hasPrefix("leadin-") } == ["still-a.mp4:3"]
        if isRight {
            let read = try JournalEntryTag(of: segment).entry(for: segment)
            #expect(read.transportStream == entry.transportStream)
        } else {
            #expect(throws: RingError.self) { try JournalEntryTag(of: segment).entry(for: segment) }
        }
    }
}
