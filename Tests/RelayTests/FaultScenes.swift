import Foundation
import TestSupport
import Testing
import Tracker

@testable import liverelay

/// A fault as it is played: a capture, and how the channel is run that meets it.
struct FaultScene: Hashable, Sendable, CustomTestStringConvertible {
    /// Number of the programme in the slate's picture, which has no cells: none that a capture has.
    static let slateProgramme = 0

    let capture: CaptureFixture
    /// Stands in while nothing comes.
    var hasSlate = false

    var testDescription: String { capture.name + (hasSlate ? " with a slate" : "") }

    /// The capture's own.
    var words: String {
        get throws {
            let about = try CaptureDirectory(capture.directory).index.about
            return hasSlate ? "The same, with `--slate`." : about
        }
    }

    fileprivate func play() async throws -> FaultRow {
        guard hasSlate else { return try FaultRow(self, await Replays.shared.of(capture)) }
        let file = FileManager.default.temporaryDirectory.appending(path: "liverelay-slate-\(UUID().uuidString).mp4")
        defer { try? FileManager.default.removeItem(at: file) }
        try makeSlate(file, picture: "color=black:size=320x180:rate=25:duration=3")
        return try FaultRow(self, await republish(CaptureDirectory(capture.directory), slate: SlateSource(file.path)))
    }
}

/// Each fault played and decoded once for all tests.
actor FaultRows {
    static let shared = FaultRows()

    private var known: [FaultScene: FaultRow] = [:]

    func of(_ scene: FaultScene) async throws -> FaultRow {
        if let row = known[scene] { return row }
        let row = try await scene.play()
        known[scene] = row
        return row
    }
}

/// Faults of one kind: a table of the matrix.
struct FaultFamily: Sendable {
    let name: String
    let scenes: [FaultScene]

    private init(_ name: String, _ captures: String..., slates: Set<String> = []) {
        self.name = name
        scenes = captures.flatMap { capture in
            let scene = FaultScene(capture: CaptureFixture(capture))
            return slates.contains(capture) ? [scene, FaultScene(capture: scene.capture, hasSlate: true)] : [scene]
        }
    }

    static let all: [FaultFamily] = [
        FaultFamily(
            "The playlist", "healthy", "stale_edge", "list_shrinks", "reset_same_uris", "reset_new_uris",
            "overlapping_numbers", "new_session", "query_changes", "tagged_late", "tags_wrong", "gap", "half_written",
            "html_200", "wrong_types", "target_changes", "long_list", "batches"),
        FaultFamily("The segments", "segment_404", "short_body", "too_large", "garbage", "slow_segments"),
        FaultFamily("Keys and tokens", "key_fails_once", "expired_token", "expired_cookie"),
        FaultFamily("The network", "redirected", "redirect_loop", "retry_after", "metered", "slow_lookup"),
        FaultFamily(
            "The channel itself", "hanging_list", "frozen_list", "outage", "redundant_variant", "backup",
            "backup_behind", slates: ["outage", "frozen_list"]),
    ]
}
