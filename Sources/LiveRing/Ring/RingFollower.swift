/// Reads the ring in a directory while another process publishes into it.
///
/// The journals are read whole at first, and when they were replaced. Otherwise only what was appended is read.
package struct RingFollower: Sendable {
    private let directory: String
    private let policy: RetentionPolicy
    /// What was read; nil: nothing yet.
    private var ring: FollowedRing?
    private var count = 0

    package init(of directory: String, policy: RetentionPolicy) {
        (self.directory, self.policy) = (directory, policy)
    }

    /// The number of bytes that were read from journals since they were last read whole.
    var appendedByteCount: Int { ring?.byteCount ?? 0 }
    /// How often the journals were read whole.
    private(set) var wholeReads = 0

    /// The state of the ring; nil if the journals have not changed since the last call, or cannot be read now.
    ///
    /// The journal gets each segment when its files are complete. States in the journal's head may come later.
    package mutating func nextSnapshot() -> RingSnapshot? {
        switch ring?.readAppended() {
        case true?: break
        case false?: return nil
        case nil:
            ring = try? FollowedRing(in: directory, policy: policy)
            guard ring != nil else { return nil }
            wholeReads += 1
        }
        count += 1
        return ring?.snapshot(version: UInt64(count))
    }
}

/// A ring as far as its journals were read.
private struct FollowedRing: Sendable {
    /// A rendition, and the journal from which it is read.
    struct Subtitles: Sendable {
        var track: SubtitleRendition
        var tail: JournalTail
        /// The index counts the bytes of the files of segments before this one.
        var counted: UInt64 = 0
    }

    private let directory: String
    private var tail: JournalTail
    private var index: RingIndex
    private let hasEnded: Bool
    private var subtitles: [Subtitles] = []
    /// The journal of the next rendition.
    private let nextJournal: String

    /// Reads the journals as they are now; nil if there is none, or one was replaced meanwhile.
    init?(in directory: String, policy: RetentionPolicy) throws(RingError) {
        let spool = SpoolDirectory(reading: directory)
        guard let (journal, version, end) = try JournalReader.read(in: directory),
            let tail = JournalTail(of: spool.path(of: SpoolName.journal), after: end, version)
        else { return nil }
        (self.directory, self.tail) = (directory, tail)
        // After the journal, so that the files of all its segments are there.
        let files = try spool.files()
        let recovery = try RingRecovery(
            journal, path: spool.path(of: SpoolName.journal), files: files, policy: policy,
            targetDuration: journal.targetDuration, firstMediaSequence: 0)
        (index, hasEnded) = (recovery.index, recovery.hasEnded)
        let numbers = files.subtitleJournals
        nextJournal = spool.path(of: SpoolName.subtitleJournal((numbers.last ?? -1) + 1))
        for number in numbers {
            let path = spool.path(of: SpoolName.subtitleJournal(number))
            // A rendition that cannot be read is left out, as at a restart.
            guard let version = FileVersion(at: path), let bytes = try? FileDescriptor(path).readToEnd(),
                let track = try? SubtitleJournal.read(bytes, number: number, path: path, files: files),
                let tail = JournalTail(of: path, after: SubtitleJournal.completeByteCount(bytes), version)
            else { continue }
            subtitles.append(Subtitles(track: track, tail: tail))
        }
        settle()
    }

    /// The number of bytes that were read after the journals were read whole.
    var byteCount: Int { subtitles.reduce(tail.byteCount) { $0 + $1.tail.byteCount } }

    /// Reads what was appended to the journals.
    /// - Returns: whether something was; nil if the journals have to be read whole.
    mutating func readAppended() -> Bool? {
        guard FileVersion(at: nextJournal) == nil else { return nil }
        var hasChanged = false
        // Subtitles come after their segment.
        switch tail.read() {
        case .unchanged: break
        case .appended where hasEnded, .replaced: return nil
        case .appended(let bytes):
            guard let (entries, size) = RingJournal.appendedEntries(bytes) else { return nil }
            for entry in entries {
                guard entry.mediaSequence == index.nextMediaSequence else { return nil }
                index.replay(entry)
            }
            tail.use(bytes[..<size])
            hasChanged = !entries.isEmpty
        }
        for position in subtitles.indices {
            switch subtitles[position].tail.read() {
            case .unchanged: break
            case .replaced: return nil
            case .appended(let bytes):
                let records = Array(bytes[..<SubtitleJournal.completeByteCount(bytes)])
                guard subtitles[position].append(records) else { return nil }
                hasChanged = hasChanged || !records.isEmpty
            }
        }
        settle()
        return hasChanged
    }

    /// Gives each segment the size of its subtitles, and drops those of segments that can no longer be fetched.
    private mutating func settle() {
        for position in subtitles.indices {
            subtitles[position].track.evict(outside: index.oldestMediaSequence..<UInt64.max)
            let (track, counted) = (subtitles[position].track, subtitles[position].counted)
            guard let first = track.firstMediaSequence, let next = track.nextMediaSequence else { continue }
            for number in stride(from: max(counted, first), to: min(next, index.nextMediaSequence), by: 1) {
                if let entry = track.entry(for: number), !entry.isGap {
                    index.addSubtitles(entry.file.byteCount, to: number)
                }
                subtitles[position].counted = number + 1
            }
        }
    }

    func snapshot(version: UInt64) -> RingSnapshot {
        RingSnapshot(
            version: version, index: index, hasEnded: hasEnded, rewindDrops: 0, housekeepingError: nil,
            subtitles: subtitles.map(\.track).map { track in
                // The journal may be ahead of the ring's.
                var track = track
                track.evict(outside: index.oldestMediaSequence..<index.nextMediaSequence)
                return track
            }, directory: directory)
    }
}

extension FollowedRing.Subtitles {
    /// - Returns: whether the records follow those before.
    fileprivate mutating func append(_ records: [UInt8]) -> Bool {
        do throws(RingError) { try SubtitleJournal.append(records, to: &track, path: tail.path) } catch { return false }
        tail.use(records)
        return true
    }
}

extension DVRRing {
    /// Checks that this program can continue the ring in a directory. A ring without a journal, or with a damaged one, can
    /// be continued.
    package static func checkFormat(in directory: String) throws(RingError) {
        do throws(RingError) { _ = try JournalReader.read(in: directory) } catch {
            if !error.isDamagedJournal { throw error }
        }
    }
}
