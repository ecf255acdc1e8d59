import Foundation
import Glibc
import Playlist
import TestSupport
import Testing

@testable import LiveRing
@testable import Support

// Restarts, lost files and a full disk.
extension SubtitleStoreTests {
    @Test func restartCountsSubtitleBytes() async throws {
        for _ in 0..<2 {
            let ring = try open(directory)
            let start = Int(ring.snapshot.index.nextMediaSequence)
            for n in start..<start + 8 {
                try await ring.publish(.numbered(n))
                try await ring.publish(Self.file(n))
            }
            let sizes = try directory.names.filter {
                !$0.hasPrefix("init-") && $0.contains("-") && !$0.hasSuffix(".m3u8")
            }
            .map { try directory.read($0).count }
            let index = ring.snapshot.index
            #expect(index.listedBytes + index.retiredBytes == UInt64(sizes.reduce(0, +)))
        }
    }

    /// A kill at any byte of a subtitle journal, with a complete journal of the ring.
    @Test func journalTruncatedAtAnyByteIsRead() async throws {
        do {
            let ring = try open(directory)
            for n in 0..<8 {
                try await ring.publish(.numbered(n, isDiscontinuous: n == 3))
                try await ring.publish(Self.file(n))
            }
        }
        let journal = try directory.read("subs-0.m3u8")
        let sizes = Dictionary(uniqueKeysWithValues: try directory.names.map { ($0, try directory.read($0).count) })
        for cut in 0...journal.count {
            let lines = String(decoding: journal[..<cut], as: UTF8.self).split(
                separator: "\n", omittingEmptySubsequences: false)
            let whole = lines.dropLast().count { $0.hasPrefix("sub-") }
            let track = try SubtitleJournal.read(Array(journal[..<cut]), number: 0, path: "", files: SpoolFiles(sizes))
            try #require(track?.entries.count ?? 0 == whole, "byte \(cut)")
            if whole > 0 { try #require(track?.nextMediaSequence == UInt64(whole), "byte \(cut)") }
            if let track, whole > 0 { try #require(track.rendition.name == "English", "byte \(cut)") }
        }
    }

    @Test func restartContinues() async throws {
        do {
            let ring = try open(directory, policy: plentiful)
            for n in 0..<8 { try await ring.publish(.numbered(n)) }
            // The process ends owing the last two.
            for n in 0..<6 { try await ring.publish(Self.file(n)) }
        }
        let ring = try open(directory, policy: plentiful)
        #expect(ring.snapshot.subtitles.map(\.nextMediaSequence) == [6])
        try await ring.publish(.numbered(8))
        try await ring.publish(Self.file(8))
        let playlist = try MediaPlaylistParser.parse(try #require(ring.snapshot.dvrPlaylist(.whole, of: .subtitles(0))))
        #expect(playlist.segments.map(\.mediaSequence) == Array(0...8), "no number is missing")
        let empty = try #require(ring.snapshot.subtitleFile(named: playlist.segments[7].uri))
        #expect(try directory.read(empty.name) == Array("WEBVTT\n".utf8))
        #expect(Self.brokenRules(ring).isEmpty)
    }

    /// The ring opens with the old renditions, then with those of the upstream, and the directory stays locked.
    @Test func ringReopensWhenUpstreamIsKnown() async throws {
        do {
            let ring = try open(directory, [Self.rendition("A"), Self.rendition("B", "fr")], policy: plentiful)
            try await ring.publish(.numbered(0))
            try await ring.publish(Self.file(0, of: 1))
        }
        let past = try #require(DVRRing.previousRing(in: directory.path))
        #expect(past.targetDuration == 6 && !past.hasEnded && past.lastPublished.mediaSequence == 0)
        let first = try DVRRing(directory: directory.path, policy: plentiful, targetDuration: 6, subtitles: .all)
        #expect(first.snapshot.subtitles.map(\.number) == [0, 1])
        try await first.publishGap(lasting: 540_000, resumePoint: .after(1))
        let ring = try await first.reopened(
            policy: plentiful, targetDuration: 8, subtitles: .upstream([Self.rendition("B", "fr")], keepsMade: false))
        #expect(ring.targetDuration == 8 && ring.snapshot.index.listed.map(\.isGap) == [false, true])
        #expect(ring.snapshot.subtitles.map(\.number) == [1] && !directory.names.contains("subs-0.m3u8"))
        await #expect(throws: RingError.ended) { try await first.publish(.numbered(2)) }
        try await ring.publish(.numbered(2))
        #expect(throws: RingError.spoolInUse(directory: directory.path)) { try open(directory) }
    }

    @Test func renditionIsIdentifiedByNameAndLanguage() async throws {
        do {
            let ring = try open(directory, [Self.rendition("A"), Self.rendition("B", "fr")])
            try await ring.publish(.numbered(0))
            try await ring.publish(Self.file(0, of: 0))
            try await ring.publish(Self.file(0, of: 1))
        }
        // A is gone, and B comes second now.
        let ring = try open(directory, [Self.rendition("C", "es"), Self.rendition("B", "fr")])
        #expect(ring.snapshot.subtitles.map(\.number) == [2, 1])
        #expect(!directory.names.contains { $0.hasPrefix("sub-0") || $0.hasPrefix("subs-0") })
        #expect(ring.snapshot.subtitles.map(\.nextMediaSequence) == [nil, 1])
        try await ring.publish(.numbered(1))
        try await ring.publish(Self.file(1, of: 1))
        let names = directory.names.filter { $0.hasPrefix("sub-1-") }
        #expect(names.count == 2)
    }

    /// Renditions that the process makes itself are found later than the ring is opened.
    @Test func madeRenditionsAreAddedAndKeptByTheirSource() async throws {
        do {
            let ring = try open(directory, [Self.rendition("A")])
            await ring.addSubtitles(Self.rendition("Deutsch", "de"), source: "teletext-888.de")
            try await ring.publish(.numbered(0))
            try await ring.publish(Self.file(0, of: 1))
            #expect(ring.snapshot.subtitles.map(\.source) == [nil, "teletext-888.de"])
            #expect(ring.snapshot.subtitles[1].rendition.attributes["SOURCE"] == nil)
        }
        do {
            let ring = try open(directory, [Self.rendition("B"), Self.rendition("Deutsch", "de")], keepsMade: true)
            #expect(ring.snapshot.subtitles.map(\.number) == [2, 3, 1], "those of the upstream come first")
            #expect(ring.snapshot.subtitles.map(\.source) == [nil, nil, "teletext-888.de"])
            #expect(ring.snapshot.subtitles.map(\.nextMediaSequence) == [nil, nil, 1])
            let next = try await ring.reopened(
                policy: plentiful, targetDuration: 6, subtitles: .upstream([Self.rendition("B")], keepsMade: true))
            #expect(next.snapshot.subtitles.map(\.number) == [2, 1])
        }
        let ring = try open(directory, [Self.rendition("B")])
        #expect(ring.snapshot.subtitles.map(\.number) == [2], "the option is no longer given")
        #expect(!directory.names.contains("subs-1.m3u8"))
    }

    @Test func lostFileIsGapAndDamagedJournalStartsEmpty() async throws {
        do {
            let ring = try open(directory)
            for n in 0..<7 {
                try await ring.publish(.numbered(n))
                try await ring.publish(Self.file(n))
            }
        }
        let lost = try #require(directory.names.first { $0.hasPrefix("sub-0-4-") })
        try directory.remove(lost)
        do {
            let ring = try open(directory)
            let playlist = try MediaPlaylistParser.parse(
                try #require(ring.snapshot.dvrPlaylist(.whole, of: .subtitles(0))))
            #expect(playlist.segments.map(\.isGap) == [false, false, false, false, true, false, false])
            #expect(playlist.segments[4].uri == lost && ring.snapshot.subtitleFile(named: lost) == nil)
        }
        try directory.write("subs-0.m3u8", Array("<html>\n".utf8))
        let ring = try open(directory)
        #expect(ring.snapshot.index.listed.count == 7, "the segments are not affected")
        #expect(ring.snapshot.housekeepingError != nil && ring.snapshot.subtitles.map(\.nextMediaSequence) == [nil])
    }

    @Test func subtitlesOfUnknownSegmentsAreIgnored() async throws {
        let ring = try open(directory)
        try await ring.publish(.numbered(0))
        try await ring.publish(Self.file(5))
        try await ring.publish(Self.file(0, of: 9))
        #expect(ring.snapshot.subtitles.map(\.nextMediaSequence) == [nil])
        try await ring.publish(Self.file(0))
        try await ring.publish(Self.file(0))
        #expect(ring.snapshot.subtitles.map(\.nextMediaSequence) == [1], "a second copy is ignored")
    }

    @Test func fullDiskDropsSubtitlesBeforeRewind() async throws {
        let disk = FailingDisk()
        let spool = try SpoolDirectory(directory.path, on: FileSystem(fault: { disk.answer($0, $1) }))
        let ring = try DVRRing(
            spool: spool, policy: plentiful, targetDuration: 6,
            subtitles: .upstream([Self.rendition("English")], keepsMade: false))
        for n in 0..<9 { try await ring.publish(.numbered(n)) }
        disk.fail(.init(file: "sub-", written: 0, code: ENOSPC))
        await #expect(throws: RingError.self) { try await ring.publish(Self.file(0)) }
        #expect(ring.snapshot.rewindDrops == 0 && ring.snapshot.subtitles.map(\.nextMediaSequence) == [nil])
        disk.fail(nil)
        try await ring.publish(Self.file(1))
        #expect(ring.snapshot.subtitles.map(\.nextMediaSequence) == [2])
        #expect(ring.snapshot.subtitles[0].files.count == 2)
        for (number, file) in ring.snapshot.subtitles[0].files {
            let bytes = try directory.read(file.name)
            #expect(bytes == Self.file(Int(number)).bytes, "what the disk did not take comes later")
        }
    }
}
