import Foundation
import LiveRing
import TestSupport

/// Segments that no list shows any more and that have to be there still (RFC 8216 §6.2.2). All times are milliseconds.
struct RemovedFiles {
    private struct Removed {
        let name: String
        /// Its file may go then.
        let due: Int
    }

    /// The longest list so far that showed it, for each segment listed.
    private var longest: [String: Int] = [:]
    private var removed: [Removed] = []

    /// - Returns: what went too early.
    mutating func note(
        _ list: ReadPlaylist, before: ReadPlaylist?, _ snapshot: RingSnapshot, at time: Int
    ) -> [String] {
        let length = list.milliseconds
        let listed = Set(list.segments.map(\.uri))
        for segment in before?.segments ?? [] where !segment.isGap && !listed.contains(segment.uri) {
            let shown = longest.removeValue(forKey: segment.uri) ?? 0
            removed.append(Removed(name: segment.uri, due: time + segment.milliseconds + shown))
        }
        for name in listed { longest[name] = max(longest[name] ?? 0, length) }
        removed.removeAll { $0.due <= time }
        return removed.filter { !isThere($0.name, snapshot) }.map { gone in
            "\(gone.name) is gone \(gone.due - time) ms too early"
        }
    }

    private func isThere(_ name: String, _ snapshot: RingSnapshot) -> Bool {
        guard let file = snapshot.index.segmentFile(named: name) else { return false }
        return FileManager.default.fileExists(atPath: snapshot.path(of: file))
    }
}
