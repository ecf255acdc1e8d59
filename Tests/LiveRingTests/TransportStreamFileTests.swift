@testable import Support
import Foundation
import Playlist
import Testing

@testable import LiveRing

/// Files with media of earlier segments, which the transport streams of later ones need.
struct TransportStreamFileTests {
    let directory: ScratchDirectory

    init() throws { directory = try ScratchDirectory() }

    private static let policy = RetentionPolicy(rewind: .seconds(48), liveWindow: .zero, freeReserve: 0)
    private static let still = TransportStreamFile(.still, hash: "a1", bytes: [1, 2, 3])

    /// Segment `n`; segments 2 to 5 have the still, and 3 to 6 a lead-in each.
    private static func segment(_ n: Int) -> NewSegment {
        var files: [TransportStreamFile] = []
        if (2...5).contains(n) { files.append(still) }
        if (3...6).contains(n) { files.append(TransportStreamFile(.leadIn, hash: "b\(n)", bytes: [UInt8(n)])) }
        var segment = NewSegment.numbered(n)
        segment.transportStream = TransportStreamPoint(
            parameters: "", discontinuitySequence: 0, isDiscontinuous: false, files: files.map(\.file))
        segment.transportStreamFiles = files
        return segment
    }

    private func names() -> [String] {
        directory.names.filter { $0.hasPrefix("still-") || $0.hasPrefix("leadin-") }.sorted()
    }

    @Test func fileStaysAsLongAsASegmentNeedsIt() async throws {
        let ring = try DVRRing.open(directory, policy: Self.policy)
        for n in 0..<8 { try await ring.publish(Self.segment(n)) }
        #expect(names() == (3...6).map { "leadin-b\($0).mp4" } + ["still-a1.mp4"])
        #expect(try directory.read("still-a1.mp4") == [1, 2, 3])
        var seen: [[String]] = []
        for n in 8..<40 {
            try await ring.publish(Self.segment(n))
            let needed = Set(ring.snapshot.index.entries.flatMap { $0.transportStream?.files ?? [] }.map(\.name))
            #expect(Set(names()) == needed, "after \(n)")
            if seen.last != names() { seen.append(names()) }
        }
        #expect(seen.count > 3 && seen.last == [], "they leave with their segments")
    }

    @Test func restartKeepsTheFilesThatAreNeeded() async throws {
        do {
            let ring = try DVRRing.open(directory, policy: Self.policy)
            for n in 0..<8 { try await ring.publish(Self.segment(n)) }
            try directory.write("still-ffff.mp4", [0])
            try directory.write("still-unrelated.txt", [0])
        }
        let ring = try DVRRing.open(directory, policy: Self.policy)
        #expect(names() == (3...6).map { "leadin-b\($0).mp4" } + ["still-a1.mp4", "still-unrelated.txt"])
        let entry = try #require(ring.snapshot.index.entry(numbered: 4))
        #expect(entry.transportStream?.file(.still) == Self.still.file)
        #expect(entry.transportStream?.file(.leadIn)?.name == "leadin-b4.mp4")
        #expect(try ring.snapshot.bytes(of: Self.still.file) == Self.still.bytes)
    }

    /// Its transport stream could not stay the same.
    @Test func segmentWhoseFileIsLostIsAGap() async throws {
        do {
            let ring = try DVRRing.open(directory, policy: Self.policy)
            for n in 0..<8 { try await ring.publish(Self.segment(n)) }
        }
        try directory.remove("leadin-b4.mp4")
        let ring = try DVRRing.open(directory, policy: Self.policy)
        #expect(ring.snapshot.index.listed.filter(\.isGap).map(\.mediaSequence) == [4])
        #expect(!names().contains("leadin-b4.mp4"))
    }

    @Test func gapNeedsNoFile() async throws {
        let ring = try DVRRing.open(directory, policy: Self.policy)
        for n in 0..<4 { try await ring.publish(Self.segment(n)) }
        try await ring.publishGap(lasting: 540_000, resumePoint: .after(4))
        #expect(ring.snapshot.edge?.transportStream?.files == [])
    }

    @Test(arguments: [
        "still-a.mp4:3", "leadin-a.mp4:3 still-b.mp4:0", "still-a.mp4", "still-a.mp4:x", "../etc:3", "init-a.mp4:3",
    ])
    func namesAreReadFromTheJournal(text: String) throws {
        var entry = RingIndex.filled(1).listed[0]
        entry.transportStream = TransportStreamPoint(
            parameters: "p", discontinuitySequence: 0, isDiscontinuous: false,
            files: [SpoolFile(name: "still-a.mp4", byteCount: 3)])
        var segment = entry.mediaSegment
        segment.unknownTags.append(
            JournalEntryTag(entry).line.replacing("TS-FILES=\"still-a.mp4:3\"", with: "TS-FILES=\"\(text)\""))
        let isRight = text.hasPrefix("still-a.mp4:3") || text.hasPrefix("leadin-a.mp4:3 ")
        if isRight {
            let read = try JournalEntryTag(of: segment).entry(for: segment)
            #expect(read.transportStream?.files.map { "\($0.name):\($0.byteCount)" }.joined(separator: " ") == text)
        } else {
            #expect(throws: RingError.self) { try JournalEntryTag(of: segment).entry(for: segment) }
        }
    }
}
