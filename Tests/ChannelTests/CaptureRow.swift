import ChannelTestSupport
import Foundation
import TestSupport

/// The expected figures of a capture's replay, which its README explains. The rest is in its golden files.
struct CaptureRow: Sendable, CustomStringConvertible {
    /// Frames that are not published, and the reason. Each is counted in the status.
    typealias LostFrames = (count: Int, because: String)
    /// Timestamp gaps that the status counts: those that are longer than a frame.
    typealias TimestampGaps = (count: Int, seconds: Double)

    let capture: CaptureFixture
    let periods: Int
    let initSections: Int
    var lostFrames: LostFrames = (0, "")
    /// Key frames that are published once more, because they stand for longer than a segment.
    var repeatedFrames = 0
    /// Whether the upstream itself skips frames inside a period, so that a frame is presented for too long.
    var skipsFrames = false
    var timestampGaps: TimestampGaps = (0, 0)
    var isAudioOnly = false
    /// Whether there is an outage that is filled with gaps.
    var hasOutageGaps = false
    /// Whether it is of a stream, whose last segment is open when the recording ends.
    var isEndless = false
    /// Segments that nobody can fetch, or that come too late.
    var segmentsLost: UInt64 = 0
    /// Frames of segments whose time was listed as gaps when they came.
    var lateFrames = 0
    /// Segments that hold no media.
    var segmentsSkipped = 0

    init(
        _ name: String, periods: Int, inits: Int, lostFrames: LostFrames = (0, ""), repeatedFrames: Int = 0,
        skipsFrames: Bool = false,
        timestampGaps: TimestampGaps = (0, 0), isAudioOnly: Bool = false, hasOutageGaps: Bool = false,
        isEndless: Bool = false, segmentsLost: UInt64 = 0, lateFrames: Int = 0, segmentsSkipped: Int = 0
    ) {
        capture = CaptureFixture(name)
        self.periods = periods
        initSections = inits
        self.lostFrames = lostFrames
        self.repeatedFrames = repeatedFrames
        self.skipsFrames = skipsFrames
        self.timestampGaps = timestampGaps
        self.isAudioOnly = isAudioOnly
        self.hasOutageGaps = hasOutageGaps
        self.isEndless = isEndless
        self.segmentsLost = segmentsLost
        self.lateFrames = lateFrames
        self.segmentsSkipped = segmentsSkipped
    }

    var description: String { capture.name }

    /// The number of frames that the capture presents; nil if the capture does not list them.
    var presentedFrameCount: Int? { get throws { try capture.presentedFrames?.count } }

    /// Captures that other suites test.
    static let testedElsewhere: Set = ["webvtt", "cue_tags"]

    static let all: [CaptureRow] = [
        CaptureRow("clean", periods: 1, inits: 1),
        CaptureRow("ssai_tagged", periods: 5, inits: 4),
        CaptureRow("ssai_untagged", periods: 5, inits: 4),
        CaptureRow("wrap", periods: 1, inits: 1),
        CaptureRow("demuxed_aes128", periods: 1, inits: 1),
        CaptureRow("tagged_late", periods: 3, inits: 2),
        CaptureRow("tags_wrong", periods: 3, inits: 2),
        CaptureRow("pod_of_ten", periods: 12, inits: 2),
        CaptureRow("ladder_pod", periods: 4, inits: 2),
        CaptureRow("ad_clocks", periods: 6, inits: 2),
        CaptureRow("seam_times", periods: 4, inits: 2, skipsFrames: true, timestampGaps: (2, 0.4)),
        CaptureRow("wrap_demuxed", periods: 1, inits: 1),
        CaptureRow("renditions_apart", periods: 3, inits: 2),
        CaptureRow(
            "open_gop", periods: 4, inits: 3,
            lostFrames: (33, "29 before the first IDR of the return, 4 leading pictures of a CRA")),
        CaptureRow(
            "without_idr", periods: 5, inits: 4,
            lostFrames: (12, "leading pictures of three periods, which begin with recovery points or a CRA")),
        CaptureRow(
            "mid_gop", periods: 3, inits: 2, lostFrames: (29, "before the first IDR after a discontinuity"),
            skipsFrames: true),
        CaptureRow("parameter_sets", periods: 6, inits: 3),
        CaptureRow("two_switches", periods: 5, inits: 2),
        CaptureRow("audio_changes", periods: 4, inits: 3),
        CaptureRow("video_codecs", periods: 5, inits: 4),
        CaptureRow("interlaced", periods: 4, inits: 3),
        CaptureRow("interleave", periods: 3, inits: 2),
        CaptureRow("wrapped_lengths", periods: 1, inits: 1),
        CaptureRow("fmp4_maps", periods: 4, inits: 3),
        CaptureRow("event_messages", periods: 3, inits: 2),
        CaptureRow("byteranges", periods: 2, inits: 2),
        CaptureRow("dash_periods", periods: 3, inits: 2),
        CaptureRow("raw_stream", periods: 2, inits: 1, isEndless: true, segmentsLost: 1),
        CaptureRow(
            "rtp_group", periods: 1, inits: 1, lostFrames: (1, "a part of it was in the datagram that is missing"),
            skipsFrames: true, isEndless: true),
        CaptureRow("mp4_file", periods: 1, inits: 1),
        CaptureRow("ts_file", periods: 1, inits: 1),
        CaptureRow("packed_audio", periods: 3, inits: 2),
        CaptureRow("audio_only", periods: 3, inits: 2, isAudioOnly: true),
        CaptureRow("broadcast_audio", periods: 4, inits: 2),
        CaptureRow("slides", periods: 3, inits: 2, repeatedFrames: 9),
        CaptureRow("healthy", periods: 1, inits: 1),
        CaptureRow("stale_edge", periods: 1, inits: 1),
        CaptureRow("list_shrinks", periods: 1, inits: 1),
        CaptureRow("reset_same_uris", periods: 1, inits: 1),
        CaptureRow("numbers_ahead", periods: 1, inits: 1),
        CaptureRow("reset_new_uris", periods: 2, inits: 1),
        CaptureRow("overlapping_numbers", periods: 2, inits: 1),
        CaptureRow("new_session", periods: 2, inits: 1),
        CaptureRow("query_changes", periods: 1, inits: 1),
        CaptureRow("gap", periods: 2, inits: 1, segmentsLost: 1),
        CaptureRow("half_written", periods: 1, inits: 1),
        CaptureRow("html_200", periods: 1, inits: 1),
        CaptureRow("redirected", periods: 1, inits: 1),
        CaptureRow("expired_token", periods: 1, inits: 1),
        CaptureRow("target_changes", periods: 1, inits: 1),
        CaptureRow("long_list", periods: 1, inits: 1),
        CaptureRow("segment_404", periods: 2, inits: 1, segmentsLost: 1),
        CaptureRow("short_body", periods: 1, inits: 1),
        CaptureRow("retry_after", periods: 1, inits: 1),
        CaptureRow("key_fails_once", periods: 1, inits: 1),
        CaptureRow("expired_cookie", periods: 1, inits: 1),
        CaptureRow("wrong_types", periods: 1, inits: 1),
        CaptureRow("too_large", periods: 2, inits: 1, segmentsLost: 1),
        CaptureRow("garbage", periods: 2, inits: 1, segmentsSkipped: 1),
        CaptureRow("redirect_loop", periods: 1, inits: 1),
        CaptureRow("slow_lookup", periods: 1, inits: 1),
        CaptureRow("hanging_list", periods: 2, inits: 1, hasOutageGaps: true),
        CaptureRow("slow_segments", periods: 1, inits: 1),
        CaptureRow("metered", periods: 1, inits: 1),
        CaptureRow("batches", periods: 1, inits: 1),
        CaptureRow("irregular_lists", periods: 1, inits: 1),
        CaptureRow("cut_at_packet", periods: 1, inits: 1),
        CaptureRow("outage", periods: 2, inits: 1, hasOutageGaps: true, segmentsLost: 7, lateFrames: 30),
        CaptureRow("frozen_list", periods: 2, inits: 1, hasOutageGaps: true),
        CaptureRow("redundant_variant", periods: 1, inits: 1),
        CaptureRow("backup", periods: 3, inits: 1, hasOutageGaps: true),
        CaptureRow("backup_behind", periods: 3, inits: 1, hasOutageGaps: true),
        CaptureRow("media_refused", periods: 2, inits: 1, hasOutageGaps: true, segmentsLost: 8),
        CaptureRow("media_refused_backup", periods: 3, inits: 1, hasOutageGaps: true),
    ]
}
