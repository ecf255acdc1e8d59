import Capture
import Foundation
import TestSupport
import Testing
import Tracker

@testable import liverelay

/// A fault as it is played: a capture, and how the channel is run that meets it.
struct FaultScene: Sendable, CustomTestStringConvertible {
    /// How a channel is run.
    enum Setup: Sendable {
        case alone
        /// A slate stands in while nothing comes.
        case withSlate
        /// The upstream is well; the disk or the process is not.
        case onSpool(DiskFault)
    }

    /// Number of the programme in the slate's picture, which has no cells: none that a capture has.
    static let slateProgramme = 0

    let capture: CaptureFixture
    var manner = Setup.alone

    /// Different for each scene.
    var testDescription: String {
        switch manner {
        case .alone: capture.name
        case .withSlate: "\(capture.name) with a slate"
        case .onSpool(let fault): "\(capture.name): \(fault.words)"
        }
    }

    /// What happens: the capture's own words, where it is the upstream's fault.
    var words: String {
        get throws {
            switch manner {
            case .alone: try CaptureDirectory(capture.directory).index.about
            case .withSlate: "The same, with `--slate`."
            case .onSpool(let fault): fault.words
            }
        }
    }

    /// Pictures that are missing in the end.
    var picturesGone: Int {
        if case .onSpool(let fault) = manner { fault.framesLost } else { 0 }
    }

    fileprivate func play() async throws -> FaultRow {
        let shown = try capture.presentedFrames ?? []
        switch manner {
        case .alone: return try await FaultRow(words, Replays.shared.of(capture), shown: shown)
        case .withSlate: return try await FaultRow(words, playWithSlate(), shown: shown)
        case .onSpool(let fault):
            // What the channel shows when nothing happens to it.
            return try await FaultRow(words, fault.play(capture), shown: Replays.shared.pictures(of: capture))
        }
    }

    private func playWithSlate() async throws -> ReplayResult {
        let file = FileManager.default.temporaryDirectory.appending(path: "liverelay-slate-\(UUID().uuidString).mp4")
        defer { try? FileManager.default.removeItem(at: file) }
        try makeSlate(file, picture: "color=black:size=320x180:rate=25:duration=3")
        return try await republish(CaptureDirectory(capture.directory), slate: SlateSource(file.path))
    }
}

/// Each fault played and decoded once for all tests.
actor FaultRows {
    static let shared = FaultRows()

    private var known: [String: FaultRow] = [:]

    func of(_ scene: FaultScene) async throws -> FaultRow {
        if let row = known[scene.testDescription] { return row }
        let row = try await scene.play()
        known[scene.testDescription] = row
        return row
    }
}

/// Faults of one kind: a table of the matrix.
struct FaultFamily: Sendable {
    let name: String
    /// What the rows begin with.
    let heading: String
    let scenes: [FaultScene]

    /// Faults of the upstream.
    private init(_ name: String, _ captures: String..., slates: Set<String> = []) {
        self.name = name
        heading = "what the upstream did"
        scenes = captures.flatMap { capture in
            let scene = FaultScene(capture: CaptureFixture(capture))
            let withSlate = FaultScene(capture: scene.capture, manner: .withSlate)
            return slates.contains(capture) ? [scene, withSlate] : [scene]
        }
    }

    private init(_ name: String, _ faults: [DiskFault]) {
        self.name = name
        heading = "what happened"
        scenes = faults.map { FaultScene(capture: .ssaiTagged, manner: .onSpool($0)) }
    }

    static let all: [FaultFamily] = [
        FaultFamily(
            "The playlist", "healthy", "stale_edge", "list_shrinks", "reset_same_uris", "numbers_ahead",
            "reset_new_uris", "overlapping_numbers", "new_session", "query_changes", "tagged_late", "tags_wrong", "gap",
            "half_written", "html_200", "wrong_types", "target_changes", "long_list", "batches"),
        FaultFamily("The segments", "segment_404", "short_body", "too_large", "garbage", "slow_segments"),
        FaultFamily("Keys and tokens", "key_fails_once", "expired_token", "expired_cookie"),
        FaultFamily("The network", "redirected", "redirect_loop", "retry_after", "metered", "slow_lookup"),
        FaultFamily(
            "The channel itself", "hanging_list", "frozen_list", "outage", "redundant_variant", "backup",
            "backup_behind", "media_refused", "media_refused_backup",
            slates: ["outage", "frozen_list", "media_refused"]),
        FaultFamily("The disk and the process", DiskFault.all),
    ]
}
