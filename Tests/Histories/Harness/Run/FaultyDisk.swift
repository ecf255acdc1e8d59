import Glibc
import LiveRing
import Synchronization

/// A disk that is full at times, or fails. Times are milliseconds since the channel began.
final class FaultyDisk: Sendable {
    private let events: [Event]
    private let now = Mutex(0)

    private let isKilled: Bool

    init(_ history: History) {
        events = history.all(.fullDisk)
        isKilled = history.events.contains { [.killed, .killedInPublish, .longKill].contains($0.thing) }
    }

    /// Whether the disk does not even take a journal.
    static func takesNoJournal(_ event: Event) -> Bool { event.thing == .fullDisk && event.pick(0...3) > 1 }

    func advance(to time: Int) { now.withLock { $0 = time } }

    var fileSystem: FileSystem {
        guard !events.isEmpty else { return .system }
        return FileSystem(fault: { name, count in self.fault(name, count) })
    }

    private func fault(_ name: String, _ count: Int) -> (written: Int, code: Int32)? {
        let time = now.withLock { $0 }
        guard let event = events.first(where: { $0.at <= time && time < $0.end }) else { return nil }
        // A journal is small, and mostly has its place. A process does not start without one, nor without the playlist of
        // subtitles.
        if name.hasPrefix("ring."), isKilled || !Self.takesNoJournal(event) { return nil }
        if name.hasPrefix("subs-"), isKilled { return nil }
        switch event.pick(0...3) {
        case 0: return (0, ENOSPC)
        case 1: return (count / 3, ENOSPC)
        case 2: return (0, EMFILE)
        default: return (count / 2, EIO)
        }
    }
}
