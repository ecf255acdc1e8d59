import Capture
import Foundation
import Inspect
import TestSupport
import Testing

@testable import Conformance

/// What the rules say of the captures. Those that are not listed are clean.
private let verdicts: [String: Set<String>] = [
    "audio_changes": ["26/audio", "26/codec", "26/pid"],
    "audio_only": ["26/container", "28/differs", "38/segment"],
    // Three segments at a time of half a target duration each.
    "batches": ["13/short"],
    "byteranges": ["38/segment"],
    "cut_at_packet": ["13/short"],
    "event_messages": ["38/segment"],
    "expired_cookie": ["13/short", "14/listed"],
    "expired_token": ["40/status-403"],
    "fmp4_maps": ["38/segment"],
    "gap": ["13/short"],
    "garbage": ["13/short", "40/not-media"],
    "half_written": ["8/uri", "13/short", "14/listed", "40/not-playlist"],
    "hanging_list": ["13/short"],
    "healthy": ["13/short"],
    "html_200": ["13/short", "38/playlist", "40/not-playlist", "40/not-media"],
    "irregular_lists": ["2/malformed", "2/no-tag", "2/duplicate", "3/low", "13/short"],
    "key_fails_once": ["13/short", "21/unreachable"],
    "ladder_pod": ["32/resolution"],
    "list_shrinks": ["12/tail", "13/short"],
    "long_list": ["38/gzip"],
    "media_refused": ["14/listed"],
    "media_refused_backup": ["14/listed"],
    "metered": ["13/short", "14/refused", "40/status-509"],
    "new_session": ["15/changed"],
    "numbers_ahead": ["7/shift"],
    "overlapping_numbers": ["8/reused"],
    "packed_audio": ["32/frame-rate"],
    "parameter_sets": ["26/size", "26/pid", "26/within", "31/overlap"],
    "query_changes": ["13/short"],
    "redirect_loop": ["13/short", "40/redirects"],
    "redirected": ["13/short"],
    "renditions_apart": ["32/frame-rate"],
    "reset_new_uris": ["6/back"],
    "reset_same_uris": ["6/back", "13/short"],
    "retry_after": ["13/short", "14/refused", "40/status-503"],
    "seam_times": ["26/pid", "26/clock"],
    "segment_404": ["13/short", "14/listed"],
    "short_body": ["13/short", "40/short"],
    "slow_lookup": ["13/short"],
    "slow_segments": ["13/short"],
    "ssai_untagged": ["26/pid"],
    "stale_edge": ["13/short", "39/stale-edge"],
    "tagged_late": ["10/moved"],
    "tags_wrong": ["9/count", "9/missing", "26/pid", "27/nothing"],
    "target_changes": ["5/changed", "13/short"],
    "too_large": ["13/short"],
    "two_switches": ["26/within"],
    "video_codecs": ["26/codec"],
    "wrong_types": ["13/short", "38/playlist", "38/segment"],
]

@Suite struct CaptureCheckTests {
    @Test(arguments: try CaptureFixture.all()) func capture(_ capture: CaptureFixture) throws {
        let checker = try CaptureFeed.check(CaptureDirectory(capture.directory))
        let found = checker.report.findings
        #expect(
            Set(found.map(\.identifier)) == verdicts[capture.name] ?? [],
            "\(capture.name): \(found.map { "\($0.identifier): \($0.message)" })")
    }

    /// The text that each capture's replay publishes.
    @Test(arguments: try CaptureFixture.all()) func publishedText(_ capture: CaptureFixture) throws {
        for name in ["playlist.m3u8", "subs-0.m3u8", "master.m3u8"] {
            guard let data = try? Data(contentsOf: capture.expected(name)) else { continue }
            let playlist = PlaylistScanner.scan(Array(data), url: "file:///spool/\(name)")
            #expect(playlist.problems.isEmpty, "\(capture.name) \(name): \(playlist.problems)")
        }
    }
}
