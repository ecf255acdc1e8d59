import Foundation
import Glibc
import Synchronization

@testable import LiveRing

/// A disk on which one directory is, with its size and free space as values. Its metadata takes no room.
final class SimulatedDisk: Sendable {
    /// When it counts removed files as free.
    enum Freeing: Sendable { case atOnce, withCommit, later }

    private struct State {
        /// Bytes of other programs.
        var others: UInt64 = 0
        /// The most that the directory had since the disk counted last.
        var counted: UInt64 = 0
        var commits = 0
    }

    let byteCount: UInt64
    private let directory: String
    private let freeing: Freeing
    private let state = Mutex(State())

    init(_ directory: ScratchDirectory, byteCount: UInt64, freeing: Freeing = .atOnce) {
        (self.directory, self.byteCount, self.freeing) = (directory.path, byteCount, freeing)
    }

    /// Lets other programs leave that many bytes free.
    func leave(_ free: UInt64) {
        let used = used
        state.withLock { $0.others = byteCount - used - free }
    }

    var commits: Int { state.withLock { $0.commits } }

    var fileSystem: FileSystem {
        FileSystem(
            space: { _ in FileSystemSpace(freeBytes: self.free, byteCount: self.byteCount) },
            commit: { _ in
                let used = self.used
                self.state.withLock {
                    $0.commits += 1
                    if self.freeing == .withCommit { $0.counted = used }
                }
            },
            fault: { name, count in
                // A journal is small, and has its place.
                guard !name.hasPrefix("ring."), self.free < UInt64(count) else { return nil }
                return (0, ENOSPC)
            })
    }

    private var free: UInt64 {
        let used = used
        return state.withLock { state in
            state.counted = freeing == .atOnce ? used : max(used, state.counted)
            return byteCount - min(byteCount, state.others + state.counted)
        }
    }

    private var used: UInt64 {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.filter { $0.hasPrefix("seg-") }.reduce(0) { sum, name in
            var status = stat()
            return sum + (unsafe stat("\(directory)/\(name)", &status) == 0 ? UInt64(status.st_size) : 0)
        }
    }
}
