import Capture
import Channel
import ChannelTestSupport
import Export
import Foundation
import TestSupport
import Testing

/// A fault and the channel that meets it.
struct FaultScene: Sendable, CustomTestStringConvertible {
    /// How the channel is run.
    enum Setup: Sendable {
        case alone
        /// A slate fills outages.
        case withSlate
        /// The upstream is healthy; the disk or the process is not.
        case onSpool(DiskFault)
    }

    /// The program number read from the slate's frames, which have no cells. No capture uses it.
    static let slateProgram = 0

    let capture: CaptureFixture
    var setup = Setup.alone
    /// Frames that come after their time was listed as gaps.
    var framesLate = 0

    /// Unique among the scenes.
    var testDescription: String {
        switch setup {
        case .alone: capture.name
        case .withSlate: "\(capture.name) with a slate"
        case .onSpool(let fault): "\(capture.name): \(fault.description)"
        }
    }

    /// The fault, as docs/failover.md lists it; described by the capture if it is the upstream's.
    var fault: String {
        get throws {
            switch setup {
            case .alone: try CaptureDirectory(capture.directory).index.about
            case .withSlate: "The same, with `--slate`."
            case .onSpool(let fault): fault.description
            }
        }
    }

    /// Frames that are expected to be missing at the end.
    var framesLost: Int {
        if case .onSpool(let fault) = setup { fault.framesLost } else { framesLate }
    }

    fileprivate func play() async throws -> FaultRow {
        let presented = try capture.presentedFrames ?? []
        switch setup {
        case .alone: return try await FaultRow(fault, ReplayCache.shared.result(of: capture), presented: presented)
        case .withSlate: return try await FaultRow(fault, playWithSlate(), presented: presented)
        case .onSpool(let diskFault):
            // The expected frames are those that a healthy disk keeps.
            return try await FaultRow(fault, diskFault.play(capture), presented: ReplayCache.shared.frames(of: capture))
        }
    }

    private func playWithSlate() async throws -> ReplayResult {
        let file = FileManager.default.temporaryDirectory.appending(path: "liverelay-slate-\(UUID().uuidString).mp4")
        defer { try? FileManager.default.removeItem(at: file) }
        try SlateFixture.write(to: file, pattern: "color=black:size=320x180:rate=25:duration=3")
        return try await republish(CaptureDirectory(capture.directory), slate: SlateSource(file.path))
    }
}

/// The rows of faults, each played and decoded once for all tests.
actor FaultRowCache {
    static let shared = FaultRowCache()

    private var rows: [String: FaultRow] = [:]

    func row(of scene: FaultScene) async throws -> FaultRow {
        if let row = rows[scene.testDescription] { return row }
        let row = try await scene.play()
        rows[scene.testDescription] = row
        return row
    }
}

/// Faults of one kind: one table of docs/failover.md.
struct FaultFamily: Sendable {
    let name: String
    /// Heading of the first column.
    let heading: String
    let scenes: [FaultScene]

    /// - Parameters:
    ///   - captures: names of captures with faults of the upstream.
    ///   - slates: names of the captures that are played a second time, with a slate.
    ///   - late: names of captures, and their frames that come after their time was listed as gaps.
    private init(
        _ name: String, _ captures: String..., slates: Set<String> = [], late: [String: Int] = [:]
    ) {
        self.name = name
        heading = "what the upstream did"
        scenes = captures.flatMap { capture in
            let scene = FaultScene(capture: CaptureFixture(capture), framesLate: late[capture] ?? 0)
            let withSlate = FaultScene(capture: scene.capture, setup: .withSlate, framesLate: scene.framesLate)
            return slates.contains(capture) ? [scene, withSlate] : [scene]
        }
    }

    private init(_ name: String, _ faults: [DiskFault]) {
        self.name = name
        heading = "what happened"
        scenes = faults.map { FaultScene(capture: .ssaiTagged, setup: .onSpool($0)) }
    }

    static let all: [FaultFamily] = [
        FaultFamily(
            "The upstream's answers", "healthy", "stale_edge", "list_shrinks", "reset_same_uris", "numbers_ahead",
            "reset_new_uris", "overlapping_numbers", "new_session", "query_changes", "tagged_late", "tags_wrong", "gap",
            "half_written", "html_200", "wrong_types", "target_changes", "long_list", "batches", "irregular_lists",
            "segment_404", "short_body", "cut_at_packet", "wrapped_lengths", "too_large", "garbage", "slow_segments",
            "key_fails_once", "expired_token", "expired_cookie", "redirected", "redirect_loop", "retry_after",
            "metered", "slow_lookup"),
        FaultFamily(
            "The channel itself", "hanging_list", "frozen_list", "outage", "redundant_variant", "backup",
            "backup_behind", "media_refused", "media_refused_backup",
            slates: ["outage", "frozen_list", "media_refused"], late: ["outage": 30]),
        FaultFamily("The disk and the process", DiskFault.all),
    ]
}
