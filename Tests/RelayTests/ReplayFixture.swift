import Foundation
import LiveRing
import Logging
import Playlist
import Splice
import TestSupport
import Tracker

@testable import liverelay

/// What one replay of a capture published.
struct Republished: Sendable {
    var end: SessionEnd?
    /// Every version of live.m3u8, in order, and the session's time at which it was there.
    var live: [(at: Duration, playlist: MediaPlaylist)] = []
    var versions: [MediaPlaylist] { live.map(\.playlist) }
    /// dvr.m3u8 at the end.
    var whole = ""
    var status: RelayStatus
    /// Init section and fragment of each segment in it.
    var segments: [(name: String, initialization: [UInt8], bytes: [UInt8])] = []
    /// What the session reported, with its time.
    var reports: [(at: Duration, event: UpstreamEvent)] = []

    /// Takes what a channel's site has in the end.
    mutating func read(_ site: ChannelSite) throws {
        status = site.status
        guard let snapshot = site.snapshot, let whole = snapshot.dvrPlaylist(.whole) else { return }
        self.whole = String(decoding: whole, as: UTF8.self)
        for entry in snapshot.index.listed where !entry.isGap {
            segments.append(
                (
                    entry.segment.name,
                    Array(try Data(contentsOf: URL(filePath: snapshot.path(of: entry.initialization)))),
                    Array(try Data(contentsOf: URL(filePath: snapshot.path(of: entry.segment))))
                ))
        }
    }

    /// A line for each report: the golden file.
    var events: String { reports.map { "\($0.at.seconds) \($0.event.goldenText)\n" }.joined() }

    /// One text of every fragment: the golden file.
    var dump: String {
        segments.map { "\($0.name)\n\(FragmentDump.text(initSection: $0.initialization, segment: $0.bytes))" }.joined()
    }
}

/// Each capture replayed once for all tests that only look at what comes out.
actor Replays {
    static let shared = Replays()

    private var known: [String: Republished] = [:]

    func of(_ fixture: CaptureFixture) async throws -> Republished {
        if let published = known[fixture.name] { return published }
        let published = try await republish(fixture)
        known[fixture.name] = published
        return published
    }
}

/// Replays a committed capture into a directory of its own, which is gone afterwards.
func republish(_ fixture: CaptureFixture) async throws -> Republished {
    try await republish(CaptureDirectory(fixture.directory))
}

/// - Parameter slate: stands in while nothing comes.
func republish(_ capture: CaptureDirectory, slate: SlateSource? = nil) async throws -> Republished {
    let spool = FileManager.default.temporaryDirectory.appending(path: "liverelay-test-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: spool) }
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let replay = Replay(capture, spool: spool.path, slate: slate, logger: logger)
    var result = Republished(status: replay.site.status)
    var last: [UInt8]?
    result.end = try await replay.run { output, now in
        if case .event(let event) = output { result.reports.append((now, event)) }
        guard let live = replay.site.snapshot?.livePlaylist, live != last else { return }
        last = live
        if let playlist = try? MediaPlaylistParser.parse(live) { result.live.append((now, playlist)) }
    }
    try result.read(replay.site)
    return result
}

extension UpstreamEvent {
    /// Short and stable: attributes of variants are in the capture itself.
    var goldenText: String {
        switch self {
        case .chose(let variant, let audio, _): "chose \(variant.uri) audio \(audio?.uri ?? "none")"
        default: "\(self)"
        }
    }
}
