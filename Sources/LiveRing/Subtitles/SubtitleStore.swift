import Playlist

/// The subtitle renditions of a ring with their files and journals.
///
/// Subtitles are published in the order of segments: the file is completed, the journal gets a line, and then the
/// subtitles become visible.
struct SubtitleStore {
    /// The file for a segment whose subtitles never arrived, because a process ended before.
    private static let emptyWebVTT = Array("WEBVTT\n".utf8)

    /// The renditions in the order in which the ring was opened with them.
    private(set) var renditions: [SubtitleRendition] = []
    private var journals: [JournalFile] = []
    /// Subtitles that the disk did not take, oldest first: they are written before the next ones.
    private var unwritten: [NewSubtitles] = []
    /// Beyond this, the oldest unwritten subtitles are dropped.
    private static let unwrittenLimit = 256
    /// The error of a journal of an earlier process that could not be read.
    private(set) var recoveryError: RingError?

    /// Continues the renditions of an earlier process.
    /// - Parameters:
    ///   - selection: the renditions to publish.
    ///   - files: the ring's files.
    init(
        _ selection: SubtitleSelection, index: inout RingIndex, in spool: borrowing SpoolDirectory, files: SpoolFiles
    ) {
        for number in files.subtitleJournals {
            if let track = recover(number, in: spool, files: files) { renditions.append(track) }
        }
        renditions = selection.renditions(of: renditions, numberedFrom: nextNumber)
        journals = renditions.map { JournalFile(SpoolName.subtitleJournal($0.number)) }
        _ = evict(index: index)
        for track in renditions {
            for (number, file) in track.files { index.addSubtitles(file.byteCount, to: number) }
        }
    }

    /// Continues `earlier`, another store of this process, with other renditions.
    /// - Parameter selection: the renditions to publish.
    /// - Returns: the names of the files of renditions that are not continued.
    static func continuing(
        _ earlier: SubtitleStore, with selection: SubtitleSelection, index: inout RingIndex
    ) -> (store: SubtitleStore, unneeded: [String]) {
        var (store, rest) = (earlier, Array(zip(earlier.renditions, earlier.journals)))
        store.renditions = selection.renditions(of: earlier.renditions, numberedFrom: earlier.nextNumber)
        store.unwritten = []
        store.journals = store.renditions.map { track in
            let known = rest.firstIndex { $0.0.number == track.number }.map { rest.remove(at: $0).1 }
            return known ?? JournalFile(SpoolName.subtitleJournal(track.number))
        }
        for (track, _) in rest {
            for (number, file) in track.files { index.addSubtitles(-file.byteCount, to: number) }
        }
        return (store, rest.flatMap { track, journal in track.files.map(\.file.name) + [journal.name] })
    }

    private var nextNumber: Int { (renditions.map(\.number).max() ?? -1) + 1 }

    /// - Parameter source: the captions from which its files are made.
    mutating func add(_ rendition: Rendition, source: String) {
        let track = SubtitleRendition(number: nextNumber, publishing: rendition, source: source)
        renditions.append(track)
        journals.append(JournalFile(SpoolName.subtitleJournal(track.number)))
    }

    /// Makes entries whose files are not in `files` gaps, because the spool is another directory. The
    /// journals become stale.
    mutating func updateGaps(from files: SpoolFiles, index: inout RingIndex) {
        for position in renditions.indices {
            renditions[position].updateGaps(from: files)
            journals[position].invalidate()
            for (number, file) in renditions[position].files { index.addSubtitles(file.byteCount, to: number) }
        }
    }

    mutating func writeNewJournals(index: RingIndex, in spool: borrowing SpoolDirectory) throws(RingError) {
        for position in renditions.indices where journals[position].isStale {
            try rewriteJournal(position, index: index, in: spool)
        }
    }

    mutating func rewriteJournals(index: RingIndex, in spool: borrowing SpoolDirectory) throws(RingError) {
        for position in renditions.indices { try rewriteJournal(position, index: index, in: spool) }
    }

    /// Reads the journal of a rendition. A rendition that cannot be read starts empty, so that the video is not delayed.
    private mutating func recover(
        _ number: Int, in spool: borrowing SpoolDirectory, files: SpoolFiles
    ) -> SubtitleRendition? {
        let name = SpoolName.subtitleJournal(number)
        do throws(RingError) {
            guard let bytes = try spool.read(name) else { return nil }
            return try SubtitleJournal.read(bytes, number: number, path: spool.path(of: name), files: files)
        } catch {
            recoveryError = error
            return nil
        }
    }

    /// The names of all files that have to be in the spool.
    var files: Set<String> {
        Set(
            renditions.flatMap { track in
                track.entries.lazy.filter { !$0.isGap }.map(\.file.name) + [SpoolName.subtitleJournal(track.number)]
            })
    }

    /// The names in `files` that neither the subtitles nor `index` needs.
    func unneeded(_ files: SpoolFiles, _ index: RingIndex) -> [String] {
        let needed = index.sharedFiles.union(self.files)
        return files.unneeded(index.entries.forEachSegment) {
            needed.contains($0) || index.segmentFile(named: $0) != nil || index.trackFile(named: $0) != nil
        }
    }

    /// Stores the subtitles of a segment that is listed or can still be fetched; others are ignored.
    ///
    /// Earlier segments without subtitles get empty files, so that the playlist has no missing numbers.
    /// - Throws: if the disk does not take the subtitles; they are written with the next ones.
    mutating func store(
        _ subtitles: NewSubtitles, index: inout RingIndex, in spool: borrowing SpoolDirectory
    ) throws(RingError) {
        unwritten.append(subtitles)
        if unwritten.count > Self.unwrittenLimit { unwritten.removeFirst() }
        while let oldest = unwritten.first {
            try write(oldest, index: &index, in: spool)
            unwritten.removeFirst()
        }
    }

    private mutating func write(
        _ subtitles: NewSubtitles, index: inout RingIndex, in spool: borrowing SpoolDirectory
    ) throws(RingError) {
        guard renditions.indices.contains(subtitles.rendition), subtitles.mediaSequence < index.nextMediaSequence else {
            return
        }
        var next = max(
            renditions[subtitles.rendition].nextMediaSequence ?? subtitles.mediaSequence, index.oldestMediaSequence)
        while next <= subtitles.mediaSequence {
            let bytes = next == subtitles.mediaSequence ? subtitles.bytes : Self.emptyWebVTT
            if let segment = index.entry(numbered: next) {
                try write(bytes, for: segment, rendition: subtitles.rendition, index: index, in: spool)
                index.addSubtitles(bytes.count, to: next)
            }
            next += 1
        }
    }

    private mutating func write(
        _ bytes: [UInt8], for segment: RingEntry, rendition position: Int, index: RingIndex,
        in spool: borrowing SpoolDirectory
    ) throws(RingError) {
        let number = segment.mediaSequence
        let name = SpoolName.subtitles(rendition: renditions[position].number, mediaSequence: number, bytes: bytes)
        try spool.write(name, [bytes[...]])
        do throws(RingError) {
            var track = renditions[position]
            track.append(
                SubtitleRendition.SubtitleEntry(file: SpoolFile(name: name, byteCount: bytes.count)), for: number)
            // The head of a journal without records contains the number of another segment, if that was published
            // earlier.
            if journals[position].isStale || track.entries.count == 1 {
                try rewriteJournal(position, of: track, index: index, in: spool)
            } else {
                try journals[position].append(SubtitleJournal(track: track).record(segment), in: spool)
            }
            renditions[position] = track
        } catch {
            try? spool.remove(name)
            throw error
        }
    }

    /// Removes the entries of segments that can no longer be fetched.
    /// - Returns: the files that are no longer needed.
    mutating func evict(index: RingIndex) -> [SpoolFile] {
        renditions.indices.flatMap {
            renditions[$0].evict(outside: index.oldestMediaSequence..<index.nextMediaSequence)
        }
    }

    /// Rewrites the journals in which most records are no longer needed.
    mutating func compactJournals(index: RingIndex, in spool: borrowing SpoolDirectory) throws(RingError) {
        for position in renditions.indices
        where journals[position].needsCompaction(entryCount: renditions[position].entries.count) {
            try rewriteJournal(position, index: index, in: spool)
        }
    }

    /// - Parameter changed: the new state of the rendition; nil: its present state.
    private mutating func rewriteJournal(
        _ position: Int, of changed: SubtitleRendition? = nil, index: RingIndex, in spool: borrowing SpoolDirectory
    ) throws(RingError) {
        let track = changed ?? renditions[position]
        let text = SubtitleJournal(track: track).text(index)
        try journals[position].rewrite([text], records: track.entries.count, in: spool)
    }
}
