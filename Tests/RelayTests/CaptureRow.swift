import Foundation
import TestSupport

/// What becomes of a capture, in figures that can be told from its README; the rest is in its golden files.
struct CaptureRow: Sendable, CustomStringConvertible {
    let capture: CaptureFixture
    let runs: Int
    let inits: Int
    /// Pictures that nobody can decode, each counted in the status, and why.
    var lost: (pictures: Int, because: String) = (0, "")
    /// The upstream itself leaves out pictures inside a run, so that one stays longer than it should.
    var hasHoles = false
    /// Those that lack more than a picture, which the status counts.
    var holes: (count: Int, seconds: Double) = (0, 0)
    var isAudioOnly = false
    /// Nothing comes for so long that it is listed as gaps.
    var hasGaps = false
    /// Segments that nobody can have.
    var segmentsLost: UInt64 = 0
    /// Segments that are no media.
    var segmentsSkipped = 0

    init(
        _ name: String, runs: Int, inits: Int, lost: (pictures: Int, because: String) = (0, ""),
        hasHoles: Bool = false, holes: (count: Int, seconds: Double) = (0, 0), isAudioOnly: Bool = false,
        hasGaps: Bool = false, segmentsLost: UInt64 = 0,
        segmentsSkipped: Int = 0
    ) {
        self.hasGaps = hasGaps
        self.segmentsSkipped = segmentsSkipped
        self.segmentsLost = segmentsLost
        capture = CaptureFixture(name)
        self.runs = runs
        self.inits = inits
        self.lost = lost
        self.hasHoles = hasHoles
        self.holes = holes
        self.isAudioOnly = isAudioOnly
    }

    var description: String { capture.name }

    /// Pictures that somebody sees who misses nothing; nil where the capture does not say so.
    var shown: Int? { get throws { try capture.presentedFrames?.count } }

    /// Of pictures seen already; what it is about is held by the tests of subtitles.
    static let elsewhere: Set = ["webvtt"]

    static let all: [CaptureRow] = [
        CaptureRow("clean", runs: 1, inits: 1),
        CaptureRow("ssai_tagged", runs: 5, inits: 4),
        CaptureRow("ssai_untagged", runs: 5, inits: 4),
        CaptureRow("wrap", runs: 1, inits: 1),
        CaptureRow("demuxed_aes128", runs: 1, inits: 1),
        CaptureRow("tagged_late", runs: 3, inits: 2),
        CaptureRow("tags_wrong", runs: 3, inits: 2),
        CaptureRow("pod_of_ten", runs: 12, inits: 2),
        CaptureRow("ad_clocks", runs: 6, inits: 2),
        CaptureRow("seam_times", runs: 4, inits: 2, hasHoles: true, holes: (2, 0.4)),
        CaptureRow("wrap_demuxed", runs: 1, inits: 1),
        CaptureRow("renditions_apart", runs: 3, inits: 2),
        CaptureRow(
            "open_gop", runs: 4, inits: 3,
            lost: (33, "29 before the first IDR of the return, 4 leading pictures of a CRA")),
        CaptureRow("mid_gop", runs: 3, inits: 2, lost: (29, "before the first IDR after a seam"), hasHoles: true),
        CaptureRow("parameter_sets", runs: 6, inits: 3),
        CaptureRow("two_switches", runs: 5, inits: 2),
        CaptureRow("audio_changes", runs: 5, inits: 5),
        CaptureRow("video_codecs", runs: 5, inits: 4),
        CaptureRow("interlaced", runs: 4, inits: 3),
        CaptureRow("interleave", runs: 3, inits: 2),
        CaptureRow("fmp4_maps", runs: 4, inits: 3),
        CaptureRow("event_messages", runs: 3, inits: 2),
        CaptureRow("byteranges", runs: 2, inits: 2),
        CaptureRow("packed_audio", runs: 3, inits: 2),
        CaptureRow("audio_only", runs: 3, inits: 2, isAudioOnly: true),
        CaptureRow("broadcast_audio", runs: 4, inits: 3),
        CaptureRow("healthy", runs: 1, inits: 1),
        CaptureRow("stale_edge", runs: 1, inits: 1),
        CaptureRow("list_shrinks", runs: 1, inits: 1),
        CaptureRow("reset_same_uris", runs: 1, inits: 1),
        CaptureRow("numbers_ahead", runs: 1, inits: 1),
        CaptureRow("reset_new_uris", runs: 2, inits: 1),
        CaptureRow("overlapping_numbers", runs: 2, inits: 1),
        CaptureRow("new_session", runs: 2, inits: 1),
        CaptureRow("query_changes", runs: 1, inits: 1),
        CaptureRow("gap", runs: 2, inits: 1, segmentsLost: 1),
        CaptureRow("half_written", runs: 1, inits: 1),
        CaptureRow("html_200", runs: 1, inits: 1),
        CaptureRow("redirected", runs: 1, inits: 1),
        CaptureRow("expired_token", runs: 1, inits: 1),
        CaptureRow("target_changes", runs: 1, inits: 1),
        CaptureRow("long_list", runs: 1, inits: 1),
        CaptureRow("segment_404", runs: 2, inits: 1, segmentsLost: 1),
        CaptureRow("short_body", runs: 1, inits: 1),
        CaptureRow("retry_after", runs: 1, inits: 1),
        CaptureRow("key_fails_once", runs: 1, inits: 1),
        CaptureRow("expired_cookie", runs: 1, inits: 1),
        CaptureRow("wrong_types", runs: 1, inits: 1),
        CaptureRow("too_large", runs: 2, inits: 1, segmentsLost: 1),
        CaptureRow("garbage", runs: 2, inits: 1, segmentsSkipped: 1),
        CaptureRow("redirect_loop", runs: 1, inits: 1),
        CaptureRow("slow_lookup", runs: 1, inits: 1),
        CaptureRow("hanging_list", runs: 2, inits: 1, hasGaps: true),
        CaptureRow("slow_segments", runs: 1, inits: 1),
        CaptureRow("metered", runs: 1, inits: 1),
        CaptureRow("batches", runs: 1, inits: 1),
        CaptureRow("outage", runs: 2, inits: 1, hasGaps: true, segmentsLost: 4),
        CaptureRow("frozen_list", runs: 2, inits: 1, hasGaps: true),
        CaptureRow("redundant_variant", runs: 1, inits: 1),
        CaptureRow("backup", runs: 3, inits: 1, hasGaps: true),
        CaptureRow("backup_behind", runs: 3, inits: 1, hasGaps: true),
        CaptureRow("media_refused", runs: 2, inits: 1, hasGaps: true, segmentsLost: 8),
        CaptureRow("media_refused_backup", runs: 3, inits: 1, hasGaps: true, segmentsLost: 3),
    ]
}
