package import Capture
import Channel
import Conformance
package import Export
import Fetch
import Foundation
import LiveRing
import Playlist
package import Splice
import Support
package import TestSupport
import Tracker

/// The results of replays that several tests look at.
package actor ReplayCache {
    package static let shared = ReplayCache()

    private var results: [String: ReplayResult] = [:]
    private var frames: [String: [PresentedFrame]] = [:]

    package func result(of fixture: CaptureFixture) async throws -> ReplayResult {
        if let result = results[fixture.name] { return result }
        let result = try await republish(fixture)
        results[fixture.name] = result
        return result
    }

    /// The frames that ffmpeg presents of the result.
    package func frames(of fixture: CaptureFixture) async throws -> [PresentedFrame] {
        if let frames = frames[fixture.name] { return frames }
        let frames = try await result(of: fixture).decodedFrames
        self.frames[fixture.name] = frames
        return frames
    }
}

/// Replays a committed capture into a temporary directory.
package func republish(_ fixture: CaptureFixture) async throws -> ReplayResult {
    try await republish(CaptureDirectory(fixture.directory))
}

/// Replays a capture into a temporary directory.
/// - Parameters:
///   - slate: fills outages.
///   - beginning: where the timeline begins.
///   - isChecked: whether what is published is judged by every rule, and every frame of it read.
package func republish(
    _ capture: CaptureDirectory, slate: SlateSource? = nil, beginning: TimelinePosition = .beginning,
    isChecked: Bool = true
) async throws -> ReplayResult {
    let spool = FileManager.default.temporaryDirectory.appending(path: "liverelay-test-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: spool) }
    let replay = Replay(
        capture, spool: spool.path, slate: slate, beginning: beginning,
        check: isChecked ? .frames : nil)
    var result = ReplayResult(status: replay.state.status)
    var (version, last): (UInt64?, [UInt8]?)
    result.end = try await replay.run { output, now in
        if case .event(let event) = output { result.reports.append((now, event)) }
        guard let snapshot = replay.state.snapshot, snapshot.version != version else { return }
        version = snapshot.version
        guard let live = snapshot.livePlaylist(), live != last else { return }
        last = live
        if let playlist = try? MediaPlaylistParser.parse(live) { result.live.append((now, playlist)) }
    }
    try result.read(replay.state)
    return result
}
