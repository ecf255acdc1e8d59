import Foundation
import LiveRing
import TestSupport

/// Checks that unlisted segments stay available (RFC 8216 §6.2.2). All times are milliseconds.
///
/// Like the ring, the check counts media time. After an outage a burst lets media time run ahead of the wall clock, so a
/// file that is removed too early by the wall clock is only measured.
struct EvictionCheck {
    private struct Removed {
        let name: String
        /// Times at which the file may be removed: media time and wall clock.
        let due: Int
        let dueByClock: Int
    }

    /// Number of segments checked at once, more than one publish evicts.
    private static let checked = 2 * RetentionPolicy.evictionsPerPublish

    /// Longest playlist that contained each listed segment.
    private var longestPlaylist: [String: Int] = [:]
    private var removed: [Removed] = []
    /// Media time of all segments listed so far.
    private var mediaTime = 0
    /// Largest time by which a file was removed too early by the wall clock.
    private(set) var earliest = 0

    /// Records a version of the playlist.
    /// - Returns: findings about files removed too early.
    mutating func record(
        _ playlist: ParsedPlaylist, before: ParsedPlaylist?, _ snapshot: RingSnapshot, at time: Int
    ) -> [String] {
        let old = before?.end ?? playlist.mediaSequence
        mediaTime += playlist.segments.suffix(Int(clamping: playlist.end - min(old, playlist.end))).reduce(0) {
            $0 + $1.milliseconds
        }
        let listed = Set(playlist.segments.map(\.uri))
        for segment in before?.segments ?? [] where !segment.isGap && !listed.contains(segment.uri) {
            let availability = segment.milliseconds + (longestPlaylist.removeValue(forKey: segment.uri) ?? 0)
            removed.append(Removed(name: segment.uri, due: mediaTime + availability, dueByClock: time + availability))
        }
        let length = playlist.milliseconds
        for name in listed { longestPlaylist[name] = max(longestPlaylist[name] ?? 0, length) }
        removed.removeAll { $0.due <= mediaTime && $0.dueByClock <= time }
        // Files are removed in the order of their segments.
        let missing = removed.prefix(Self.checked).filter { !isAvailable($0.name, snapshot) }
        removed.removeAll { removed in missing.contains { $0.name == removed.name } }
        earliest = max(earliest, missing.map { $0.dueByClock - time }.max() ?? 0)
        return missing.filter { $0.due > mediaTime }.map { "\($0.name) was removed \($0.due - mediaTime) ms too early" }
    }

    private func isAvailable(_ name: String, _ snapshot: RingSnapshot) -> Bool {
        guard let file = snapshot.index.segmentFile(named: name) else { return false }
        return FileManager.default.fileExists(atPath: snapshot.path(of: file))
    }
}
