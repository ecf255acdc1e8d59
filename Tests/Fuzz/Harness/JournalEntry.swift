import Playlist

@testable import LiveRing

/// Entries for the journals of a spool, damaged by a crash or a disk.
enum JournalEntry {
    static let all = [journal, subtitles]

    private static let journal = FuzzEntry(
        "journal", "the journal of a spool, and its recovery", largest: 8192,
        dictionary: [
            "#LIVERELAY-SPOOL:2", "#LIVERELAY-RECORD:", "#LIVERELAY-ENTRY:", "DISCONTINUITY-SEQUENCE=", "BYTES=",
            "LISTED-FROM=", "INIT-BYTES=", "END=", "VIDEO-TIME=",
            "AUDIO-TIME=", "FRAGMENT=", "OFFSET=", "SOURCE=", "SOURCE-SEGMENT=", "SOURCE-DATE=", "SOURCE-PICTURES=\"",
            "TS=\"", "TS-FILES=\"", "TS-DISCONTINUITY-SEQUENCE=", "INDEPENDENT=NO", "INTERRUPTED=YES",
            "#LIVERELAY-LIVE-FROM:",
            "18446744073709551615", "9223372036854775807", "4503599627370495", "1152921504606846975", "653583619392",
            "#EXT-X-GAP\n", "#EXT-X-DISCONTINUITY\n", "#EXTINF:",
        ],
        // It is recovered up to four times, and each index is published.
        bounds: FuzzBounds(steps: FuzzBound(base: 1_000_000, perByte: 1000)),
        seeds: { _ in JournalSeeds.journals().map { Array($0.utf8) } },
        run: { bytes in
            // Changed records are lost unless their checksums are corrected.
            let sealed = sealed(bytes)
            for bytes in sealed == bytes ? [bytes] : [bytes, sealed] {
                try recover(bytes, files: [:])
                try recover(bytes, files: files(of: bytes))
            }
        })

    private static let subtitles = FuzzEntry(
        "subtitle-journal", "the journal of a subtitle rendition", largest: 4096,
        dictionary: [
            "#LIVERELAY-RENDITION:", "#LIVERELAY-SUBTITLES:BYTES=", "sub-0-", "-0a0b0c0d.vtt", "9223372036854775807",
            "18446744073709551615", "#EXT-X-MEDIA-SEQUENCE:", "#EXTINF:", "#EXT-X-GAP\n", "NAME=\"", "LANGUAGE=\"",
        ],
        seeds: { _ in JournalSeeds.subtitles().map { Array($0.utf8) } },
        run: { bytes in
            let read: SubtitleRendition?
            do throws(RingError) {
                read = try SubtitleJournal.read(
                    bytes, number: 0, path: "subs.m3u8", files: ["sub-0-1-0a0b0c0d.vtt": 300])
            } catch { return }
            guard var track = read else { return }
            try demand(track.nextMediaSequence ?? 0 >= track.firstMediaSequence ?? 0, "numbers that overflow")
            // Like `SubtitleStore`: only what the ring lists stays, and its bytes are counted.
            var index = JournalSeeds.index(of: 9, position: 0)
            track.evict(outside: index.oldestMediaSequence..<index.nextMediaSequence)
            for (number, file) in track.files { index.addSubtitles(file.byteCount, to: number) }
            try checkConsistency(index)
            let text = SubtitleJournal(track: track).text(index)
            let again: SubtitleRendition?
            do throws(RingError) {
                again = try SubtitleJournal.read(
                    Array(text.utf8), number: 0, path: "subs.m3u8", files: ["sub-0-1-0a0b0c0d.vtt": 300])
            } catch {
                throw FuzzFinding(description: "the written journal cannot be parsed: \(error)\n\(text)")
            }
            try demand(again?.entries.count == track.entries.count, "the written journal parses differently:\n\(text)")
        })

    /// Corrects the checksum of each record, which no mutation finds.
    private static func sealed(_ bytes: [UInt8]) -> [UInt8] {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for begin in lines.indices where lines[begin].starts(with: "#LIVERELAY-RECORD:".utf8) {
            let rest = lines[(begin + 1)...]
            guard let end = rest.firstIndex(where: { $0.first.map { $0 != UInt8(ascii: "#") } ?? false }) else { break }
            let record = rest[...end].flatMap { $0 + "\n".utf8 }
            lines[begin] = Array("#LIVERELAY-RECORD:\(SpoolName.hexFingerprint(record))".utf8)[...]
        }
        return Array(lines.joined(separator: "\n".utf8))
    }

    /// Returns all files that the journal names.
    private static func files(of bytes: [UInt8]) -> SpoolFiles {
        let journal: RingJournal?
        do throws(RingError) { journal = try RingJournal.read(bytes, path: "ring.m3u8") } catch { return [:] }
        let files = (journal?.entries ?? RingEntries()).flatMap { [$0.segment, $0.initialization] }
        return SpoolFiles(Dictionary(files.map { ($0.name, $0.byteCount) }) { first, _ in first })
    }

    private static func recover(_ bytes: [UInt8], files: SpoolFiles) throws {
        let policy = RetentionPolicy(rewind: .seconds(60), byteLimit: 1 << 20)
        let found: RingRecovery
        do throws(RingError) {
            found = try RingRecovery(
                RingJournal.read(bytes, path: "ring.m3u8"), path: "ring.m3u8", files: files, policy: policy,
                targetDuration: 6,
                firstMediaSequence: 0)
        } catch { return }
        var index = found.index
        try checkConsistency(index)
        try checkPlaylists(index, hasEnded: found.hasEnded)
        // Like `DVRRing` at its start: the rewritten journal must parse to the same.
        try checkRoundTrip(RingJournal(index, hasEnded: found.hasEnded))
        try checkResumePoint(found.resumePoint)
        let before = index.nextMediaSequence
        for number in 0..<3 {
            _ = index.publish(JournalSeeds.next(of: index, duration: 540_000, after: found.resumePoint, number: number))
            try checkConsistency(index)
        }
        try demand(index.nextMediaSequence == before + 3, "media sequence numbers do not continue")
        try checkPlaylists(index, hasEnded: false)
        _ = index.dropOldest(freeing: .max, keeping: .zero)
        try checkConsistency(index)
    }

    /// Checks that the clocks can continue without overflow in any timescale.
    private static func checkResumePoint(_ resumePoint: ResumePoint?) throws {
        guard let resumePoint else { return }
        let clocks = [resumePoint.videoDecodeTime, resumePoint.audioDecodeTime].map {
            Int64(exactly: $0)?.addingReportingOverflow(1 << 60)
        }
        try demand(clocks.allSatisfy { $0?.overflow == false }, "a clock that overflows")
        try demand(
            !resumePoint.presentationEnd.multipliedReportingOverflow(by: 1000).overflow
                && resumePoint.presentationEnd >= 0,
            "a presentation time without a date")
    }

    private static func checkConsistency(_ index: RingIndex) throws {
        for (old, new) in zip(index.listed, index.listed.dropFirst()) {
            try demand(new.mediaSequence == old.mediaSequence + 1, "\(new.mediaSequence) follows \(old.mediaSequence)")
            let step: UInt64 = new.isDiscontinuous ? 1 : 0
            try demand(
                new.discontinuitySequence == old.discontinuitySequence + step, "wrong discontinuity sequence numbers")
        }
        if let last = index.listed.last {
            try demand(index.nextMediaSequence == last.mediaSequence + 1, "a wrong next media sequence number")
        }
        try demand(
            index.listedTicks == index.listed.reduce(0) { $0 + $1.duration }, "\(index.listedTicks) ticks are listed")
        try demand(
            index.listedBytes == index.listed.reduce(0) { $0 + $1.storedBytes }, "\(index.listedBytes) bytes are listed"
        )
        try demand(
            index.retiredBytes == index.retired.reduce(0) { $0 + $1.storedBytes },
            "\(index.retiredBytes) bytes are retired")
        let (kept, listed) = (Set(index.initializations.keys), Set(index.entries.map(\.initialization.name)))
        let used = Set(index.entries.filter { !$0.isGap }.map(\.initialization.name))
        try demand(used.isSubset(of: kept), "a required init section is missing")
        // Players may load the EXT-X-MAP of a gap segment.
        try demand(kept.isSubset(of: listed), "init sections without entries")
    }

    private static func checkPlaylists(_ index: RingIndex, hasEnded: Bool) throws {
        let snapshot = RingSnapshot(
            version: 0, index: index, hasEnded: hasEnded, rewindDrops: 0, housekeepingError: nil, directory: "spool")
        _ = snapshot.masterPlaylist()
        let date = index.listed.first?.programDateTime
        let ranges: [RewindRange] = [
            .whole, .last(milliseconds: 20_000), .delayed(milliseconds: 20_000), .between(start: date, end: nil),
            .between(start: nil, end: date),
        ]
        for bytes in [snapshot.livePlaylist()] + ranges.map({ snapshot.dvrPlaylist($0) }) {
            guard let bytes else { continue }
            let playlist: MediaPlaylist
            do throws(PlaylistError) { playlist = try MediaPlaylistParser.parse(bytes) } catch {
                throw FuzzFinding(
                    description: "a playlist cannot be parsed: \(error)\n\(String(decoding: bytes, as: UTF8.self))")
            }
            try demand(!playlist.segments.isEmpty, "an empty playlist")
        }
    }

    private static func checkRoundTrip(_ journal: RingJournal) throws {
        let text = journal.text
        let again: RingJournal?
        do throws(RingError) { again = try RingJournal.read(Array(text.utf8), path: "ring.m3u8") } catch {
            throw FuzzFinding(description: "the written journal cannot be parsed: \(error)\n\(text)")
        }
        try demand(again?.entries == journal.entries, "the written journal parses differently:\n\(text)")
    }
}
