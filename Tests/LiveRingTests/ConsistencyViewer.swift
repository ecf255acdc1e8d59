import Playlist
import TestSupport
import Testing

@testable import LiveRing
@testable import Support

/// A viewer that remembers every playlist and file, across processes, and checks that later ones are consistent.
struct ConsistencyViewer {
    private var playlists: [String: String] = [:]
    private var files: [String: [UInt8]] = [:]
    private var clock: UInt64 = 0

    /// Checks every playlist and every file that a playlist lists.
    mutating func look(_ snapshot: RingSnapshot, in directory: ScratchDirectory, _ when: String) throws {
        let subtitles = snapshot.subtitles.map(\.number)
        let now = [("live", snapshot.livePlaylist()), ("dvr", snapshot.dvrPlaylist(.whole))]
        try compare(now + subtitles.map { ("subs-\($0)", snapshot.dvrPlaylist(.whole, of: .subtitles($0))) }, when)
        for entry in snapshot.index.listed where !entry.isGap {
            for file in [entry.segment, entry.initialization] { try fetch(file, in: directory, when) }
        }
        for track in snapshot.subtitles {
            for (_, file) in track.files { try fetch(file, in: directory, when) }
        }
        let decodeTime = snapshot.newest?.resumePoint.videoDecodeTime ?? 0
        try #require(decodeTime >= clock, "\(when): the clock went back")
        clock = decodeTime
    }

    private mutating func compare(_ now: [(name: String, playlist: [UInt8]?)], _ when: String) throws {
        for (name, bytes) in now {
            guard let bytes else { continue }
            var broken = playlists[name].map { brokenRules(from: $0, to: text(bytes)) } ?? brokenRules(in: text(bytes))
            // Subtitles have no init sections, and may be late by more than the shortest playlist.
            if name.hasPrefix("subs") {
                let others = ["promise version", "promise map", "promise window", "13/"]
                broken.removeAll { rule in others.contains { rule.hasPrefix($0) } }
            }
            try #require(broken.isEmpty, "\(when), \(name): \(broken)")
            playlists[name] = text(bytes)
        }
    }

    private mutating func fetch(_ file: SpoolFile, in directory: ScratchDirectory, _ when: String) throws {
        let bytes = try directory.read(file.name)
        try #require(
            bytes.count == file.byteCount && files[file.name, default: bytes] == bytes, "\(when): \(file.name)")
        files[file.name] = bytes
    }
}
