import Capture
import Foundation
import LiveRing
import Logging
import Playlist
import Splice
import TestSupport
import Tracker

@testable import liverelay

/// What was published of a capture: by a replay, or by one process after the other.
struct ReplayResult: Sendable {
    /// A segment's file, and its init section.
    typealias File = (name: String, initialization: [UInt8], bytes: [UInt8])

    var end: SessionEnd?
    /// Every version of live.m3u8, in order, and the session's time at which it was there.
    var live: [(at: Duration, playlist: MediaPlaylist)] = []
    var versions: [MediaPlaylist] { live.map(\.playlist) }
    /// dvr.m3u8 at the end.
    var whole = ""
    var status: RelayStatus
    /// Of processes before the last one.
    var earlierStatuses: [RelayStatus] = []
    /// Of each segment in `whole`.
    var segments: [File] = []
    /// Of each segment that was ever listed, in order: what a disk has lost since is among them.
    var aired: [File] = []
    /// What the session reported, with its time.
    var reports: [(at: Duration, event: UpstreamEvent)] = []

    /// Takes what a channel's site has in the end.
    mutating func read(_ site: ChannelResponder) throws {
        status = site.status
        guard let snapshot = site.snapshot, let whole = snapshot.dvrPlaylist(.whole) else { return }
        self.whole = String(decoding: whole, as: UTF8.self)
        segments = try snapshot.index.listed.filter { !$0.isGap }.map { entry in
            (
                entry.segment.name,
                Array(try Data(contentsOf: URL(filePath: snapshot.path(of: entry.initialization)))),
                Array(try Data(contentsOf: URL(filePath: snapshot.path(of: entry.segment))))
            )
        }
        let known = Set(aired.map(\.name))
        aired += segments.filter { !known.contains($0.name) }
    }

    /// A line for each report: the golden file.
    var events: String { reports.map { "\($0.at.seconds) \($0.event.text)\n" }.joined() }

    /// One text of every fragment: the golden file.
    var dump: String {
        segments.map { "\($0.name)\n\(FragmentDump.text(initSection: $0.initialization, segment: $0.bytes))" }.joined()
    }
}

/// Each capture replayed once for all tests that only look at what comes out.
actor Replays {
    static let shared = Replays()

    private var known: [String: ReplayResult] = [:]
    private var decoded: [String: [PresentedFrame]] = [:]

    func of(_ fixture: CaptureFixture) async throws -> ReplayResult {
        if let published = known[fixture.name] { return published }
        let published = try await republish(fixture)
        known[fixture.name] = published
        return published
    }

    /// What ffmpeg shows of it.
    func pictures(of fixture: CaptureFixture) async throws -> [PresentedFrame] {
        if let pictures = decoded[fixture.name] { return pictures }
        let pictures = try await of(fixture).decodedPictures
        decoded[fixture.name] = pictures
        return pictures
    }
}

/// Replays a committed capture into a directory of its own, which is gone afterwards.
func republish(_ fixture: CaptureFixture) async throws -> ReplayResult {
    try await republish(CaptureDirectory(fixture.directory))
}

/// - Parameter slate: stands in while nothing comes.
func republish(_ capture: CaptureDirectory, slate: SlateSource? = nil) async throws -> ReplayResult {
    let spool = FileManager.default.temporaryDirectory.appending(path: "liverelay-test-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: spool) }
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let replay = Replay(capture, spool: spool.path, slate: slate, logger: logger)
    var result = ReplayResult(status: replay.state.status)
    var last: [UInt8]?
    result.end = try await replay.run { output, now in
        if case .event(let event) = output { result.reports.append((now, event)) }
        guard let live = replay.state.snapshot?.livePlaylist, live != last else { return }
        last = live
        if let playlist = try? MediaPlaylistParser.parse(live) { result.live.append((now, playlist)) }
    }
    try result.read(replay.state)
    return result
}
