import Synchronization

/// A journal that was read before its ring is opened, so that the ring does not read it again.
final class JournalReading: Sendable {
    private struct Content: Sendable {
        let journal: RingJournal
        let version: FileVersion
    }

    /// nil once the journal was taken.
    private let content: Mutex<Content?>

    init(_ journal: RingJournal, version: FileVersion) {
        content = Mutex(Content(journal: journal, version: version))
    }

    /// Removes and returns the journal if the file still has the content that was read.
    func dequeue(ifStill version: FileVersion?) -> RingJournal? {
        content.withLock { content in
            defer { content = nil }
            return content.flatMap { $0.version == version ? $0.journal : nil }
        }
    }
}
