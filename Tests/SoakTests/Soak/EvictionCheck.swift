import Foundation
import LiveRing
import TestSupport

/// Segments that no list shows any more and that have to be there still (RFC 8216 §6.2.2). All times are milliseconds.
///
/// The ring's time is that of its media, and so it is here: what comes at once behind an outage lets it run ahead of the
/// clock on the wall. By how much a file went too early by that one is a figure, and no fault.
struct EvictionCheck {
    private struct Removed {
        let name: String
        /// Its file may go then: by the media's time, and by the clock.
        let due: Int
        let dueByClock: Int
    }

    /// As many as go with one publish, and some more.
    private static let looked = 2 * RetentionPolicy.evictionsPerPublish

    /// The longest list so far that showed it, for each segment listed.
    private var longest: [String: Int] = [:]
    private var removed: [Removed] = []
    /// Of everything listed so far.
    private var mediaTime = 0
    /// By how much a file went before its time by the clock, at most.
    private(set) var earliest = 0

    /// - Returns: what went too early.
    mutating func note(
        _ list: ParsedPlaylist, before: ParsedPlaylist?, _ snapshot: RingSnapshot, at time: Int
    ) -> [String] {
        let old = before?.end ?? list.mediaSequence
        mediaTime += list.segments.suffix(Int(clamping: list.end - min(old, list.end))).reduce(0) {
            $0 + $1.milliseconds
        }
        let listed = Set(list.segments.map(\.uri))
        for segment in before?.segments ?? [] where !segment.isGap && !listed.contains(segment.uri) {
            let stays = segment.milliseconds + (longest.removeValue(forKey: segment.uri) ?? 0)
            removed.append(Removed(name: segment.uri, due: mediaTime + stays, dueByClock: time + stays))
        }
        let length = list.milliseconds
        for name in listed { longest[name] = max(longest[name] ?? 0, length) }
        removed.removeAll { $0.due <= mediaTime && $0.dueByClock <= time }
        // They go in the order in which they came.
        let gone = removed.prefix(Self.looked).filter { !isThere($0.name, snapshot) }
        removed.removeAll { removed in gone.contains { $0.name == removed.name } }
        earliest = max(earliest, gone.map { $0.dueByClock - time }.max() ?? 0)
        return gone.filter { $0.due > mediaTime }.map { "\($0.name) is gone \($0.due - mediaTime) ms too early" }
    }

    private func isThere(_ name: String, _ snapshot: RingSnapshot) -> Bool {
        guard let file = snapshot.index.segmentFile(named: name) else { return false }
        return FileManager.default.fileExists(atPath: snapshot.path(of: file))
    }
}
