import Synchronization

/// The state of an earlier process's ring that is read before the ring is opened.
package final class PreviousRing: Sendable {
    /// The newest entry with upstream media, even if its file is lost. Gaps and slate after it are not counted, because
    /// the upstream cannot continue after them.
    package let lastPublished: RingEntry
    /// The published TARGETDURATION in seconds.
    package let targetDuration: Int
    /// Whether EXT-X-ENDLIST was published.
    package let hasEnded: Bool
    private let version: FileVersion
    /// nil once the journal was dequeued.
    private let journal: Mutex<RingJournal?>

    /// - Returns: nil if the journal lists no media.
    init?(_ journal: RingJournal, version: FileVersion) {
        let entries = journal.entries
        guard let last = entries.last(where: { $0.resumePoint.upstream != nil }) ?? entries.last(where: { !$0.isGap })
        else { return nil }
        lastPublished = last
        targetDuration = journal.targetDuration
        hasEnded = journal.hasEnded
        self.version = version
        self.journal = Mutex(journal)
    }

    /// Removes and returns the journal, so that the ring that is opened next need not read it again.
    /// - Parameter current: the present version of the file. If the journal was read from another version, it is
    ///   dropped.
    func dequeueJournal(ifStill current: FileVersion?) -> RingJournal? {
        journal.withLock { journal in
            defer { journal = nil }
            return version == current ? journal : nil
        }
    }
}
