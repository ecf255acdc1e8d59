import Playlist

/// The subtitle renditions of a ring: which files they have, and the journals that say so after a restart.
///
/// The order is the segments': a file is whole under its name, then in its journal, then visible.
struct SubtitleStore {
    /// For a segment whose subtitles were never handed in: those that an ended process still owed.
    private static let emptyWebVTT = Array("WEBVTT\n".utf8)

    /// In the order of the renditions that the ring was opened with.
    private(set) var renditions: [SubtitleRendition] = []
    /// Of each track.
    private var journals: [JournalFile] = []
    /// What was wrong with what an earlier process left.
    private(set) var lastError: RingError?

    /// Takes up what an earlier process left of the same renditions.
    /// - Parameters:
    ///   - renditions: nil: all that are there.
    ///   - files: sizes of the ring's files by name.
    init(
        _ renditions: [Rendition]?, beside index: inout RingIndex, in spool: borrowing SpoolDirectory,
        files: [String: Int]
    ) {
        var found: [SubtitleRendition] = []
        for number in files.keys.compactMap({ SpoolName.rendition(ofSubtitleJournal: $0) }).sorted() {
            if let track = recover(number, in: spool, files: files) { found.append(track) }
        }
        var free = (found.map(\.number).max() ?? -1) + 1
        for rendition in renditions ?? found.map(\.rendition) {
            var track = SubtitleRendition(number: free, upstream: rendition)
            if let old = found.firstIndex(where: { $0.isSameRendition(as: track) }) {
                track = found.remove(at: old)
            } else {
                free += 1
            }
            track.evict(outside: index.oldestMediaSequence..<index.nextMediaSequence)
            for (number, file) in track.files { index.addSubtitles(file.byteCount, to: number) }
            self.renditions.append(track)
            journals.append(JournalFile(SpoolName.subtitleJournal(track.number)))
        }
    }

    /// The spool is another directory: what is not among `files`, sizes by name, is gone, the journals too.
    mutating func updateGaps(from files: [String: Int], beside index: inout RingIndex) {
        for position in renditions.indices {
            renditions[position].updateGaps(from: files)
            journals[position].invalidate()
            for (number, file) in renditions[position].files { index.addSubtitles(file.byteCount, to: number) }
        }
    }

    /// Writes every journal anew.
    mutating func rewriteJournals(beside index: RingIndex, in spool: borrowing SpoolDirectory) throws(RingError) {
        for position in renditions.indices { try rewriteJournal(position, beside: index, in: spool) }
    }

    /// What cannot be read is begun anew: it is no reason to keep the picture back.
    private mutating func recover(
        _ number: Int, in spool: borrowing SpoolDirectory, files: [String: Int]
    ) -> SubtitleRendition? {
        let name = SpoolName.subtitleJournal(number)
        do throws(RingError) {
            guard let bytes = try spool.read(name) else { return nil }
            return try SubtitleJournal.read(bytes, number: number, path: spool.path(of: name), files: files)
        } catch {
            lastError = error
            return nil
        }
    }

    /// Every file that has to be in the spool.
    var files: Set<String> {
        Set(
            renditions.flatMap { track in
                track.entries.lazy.filter { !$0.isGap }.map(\.file.name) + [SpoolName.subtitleJournal(track.number)]
            })
    }

    /// Stores the subtitles of a segment, which is listed or still fetchable; others are passed over. Segments before it
    /// that have none get empty ones: the list has no hole.
    mutating func store(
        _ subtitles: NewSubtitles, beside index: inout RingIndex, in spool: borrowing SpoolDirectory
    ) throws(RingError) {
        guard renditions.indices.contains(subtitles.rendition), subtitles.mediaSequence < index.nextMediaSequence else {
            return
        }
        var next = max(
            renditions[subtitles.rendition].nextMediaSequence ?? subtitles.mediaSequence, index.oldestMediaSequence)
        while next <= subtitles.mediaSequence {
            let bytes = next == subtitles.mediaSequence ? subtitles.bytes : Self.emptyWebVTT
            if try write(bytes, for: next, rendition: subtitles.rendition, beside: index, in: spool) {
                index.addSubtitles(bytes.count, to: next)
            }
            next += 1
        }
    }

    /// - Returns: whether the segment is there.
    private mutating func write(
        _ bytes: [UInt8], for number: UInt64, rendition position: Int, beside index: RingIndex,
        in spool: borrowing SpoolDirectory
    ) throws(RingError) -> Bool {
        guard let segment = index.entry(numbered: number) else { return false }
        let name = SpoolName.subtitles(rendition: renditions[position].number, mediaSequence: number, bytes: bytes)
        try spool.write(name, [bytes[...]], leaving: index.policy.freeReserve)
        do throws(RingError) {
            if journals[position].isStale { try rewriteJournal(position, beside: index, in: spool) }
            var track = renditions[position]
            track.append(
                SubtitleRendition.SubtitleEntry(file: SpoolFile(name: name, byteCount: bytes.count)), for: number)
            try journals[position].append(SubtitleJournal(track: track).record(segment), in: spool)
            renditions[position] = track
        } catch {
            try? spool.remove(name)
            throw error
        }
        return true
    }

    /// Forgets what belongs to segments that cannot be fetched any more.
    /// - Returns: the files that are no longer needed.
    mutating func evict(beside index: RingIndex) -> [SpoolFile] {
        renditions.indices.flatMap {
            renditions[$0].evict(outside: index.oldestMediaSequence..<index.nextMediaSequence)
        }
    }

    /// Shortens the journals that are mostly about what is gone.
    mutating func compactJournals(beside index: RingIndex, in spool: borrowing SpoolDirectory) throws(RingError) {
        for position in renditions.indices
        where journals[position].needsCompaction(entryCount: renditions[position].entries.count) {
            try rewriteJournal(position, beside: index, in: spool)
        }
    }

    private mutating func rewriteJournal(
        _ position: Int, beside index: RingIndex, in spool: borrowing SpoolDirectory
    ) throws(RingError) {
        let track = renditions[position]
        let text = SubtitleJournal(track: track).text(index)
        try journals[position].rewrite(text, records: track.entries.count, in: spool)
    }
}
