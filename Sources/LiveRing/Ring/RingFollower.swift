/// Reads the ring in a directory while another process publishes into it.
package struct RingFollower: Sendable {
    private let directory: String
    private let policy: RetentionPolicy
    /// The version of the journal that was read last.
    private var version: FileVersion?
    private var count = 0

    package init(of directory: String, policy: RetentionPolicy) {
        (self.directory, self.policy) = (directory, policy)
    }

    /// The state of the ring; nil if the journal has not changed since the last call, or cannot be read now.
    ///
    /// The journal gets each segment when its files are complete. States in the journal's head may come later.
    package mutating func nextSnapshot() -> RingSnapshot? {
        let spool = SpoolDirectory(reading: directory)
        guard spool.version(of: SpoolName.journal) != version, let (snapshot, version) = try? read(spool) else {
            return nil
        }
        self.version = version
        count += 1
        return snapshot
    }

    private func read(_ spool: borrowing SpoolDirectory) throws(RingError) -> (RingSnapshot, FileVersion)? {
        guard let (journal, version) = try JournalReader.read(in: directory) else { return nil }
        // After the journal, so that the files of all its segments are there.
        let files = try spool.files()
        let recovery = try RingRecovery(
            journal, path: spool.path(of: SpoolName.journal), files: files, policy: policy,
            targetDuration: journal.targetDuration, firstMediaSequence: 0)
        var index = recovery.index
        let subtitles = SubtitleStore(.all, index: &index, in: spool, files: files)
        return (
            RingSnapshot(
                version: UInt64(count), index: index, hasEnded: recovery.hasEnded, rewindDrops: 0,
                housekeepingError: nil, subtitles: subtitles.renditions, directory: directory), version
        )
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
