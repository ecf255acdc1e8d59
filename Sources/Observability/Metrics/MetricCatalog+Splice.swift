import Channel
import Splice

// The metrics of what a run's splice dropped, inserted and changed.

extension MetricCatalog {
    static let splice: [MetricDefinition<MetricsSnapshot.Run>] = [
        .counters(
            "liverelay_channel_periods_total", by: ["cause"],
            help: "Periods begun: `joined`, at a discontinuity that was `tagged`, after a `loss`, with another "
                + "`configuration`, another `clock` or another `audioConfiguration`, or `resumed` after an outage.",
            { run in
                PeriodCause.allCases.map { ([$0.rawValue], .integer(UInt64(run.meter.periods[$0] ?? 0))) }
            }),
        .counter(
            "liverelay_channel_skipped_segments_total", help: "Segments that did not decrypt or demux.",
            { $0.status.splice.segmentsSkipped }),
        .counter(
            "liverelay_channel_sanitized_timestamps_total",
            help: "Samples whose times the sanitizer changed; 0 for a clean upstream.",
            { $0.status.splice.counts.timestampsSanitized }),
        .counters(
            "liverelay_channel_dropped_frames_total", by: ["media", "reason"],
            help: "Frames that were received and not published.",
            { frames($0.status.splice.counts, dropped) }),
        .counters(
            "liverelay_channel_inserted_frames_total", by: ["media"],
            help: "Frames published where the upstream had none: key frames repeated, and silence.",
            { run in
                [
                    (["audio"], .integer(UInt64(run.status.splice.counts.audioSilence))),
                    (["video"], .integer(UInt64(run.status.splice.counts.stillFrames))),
                ]
            }),
        .counter("liverelay_channel_transcoded_audio_frames_total", help: "Audio frames that were encoded again.") {
            $0.status.splice.counts.audioTranscoded
        },
    ]

    private static let dropped: [(media: String, reason: String, count: @Sendable (SpliceCounts) -> Int)] = [
        ("audio", "damaged", { $0.audioDamaged }),
        ("audio", "duplicate", { $0.duplicateAudioFrames }),
        ("audio", "overlapping", { $0.audioOverlapping }),
        ("audio", "trimmed", { $0.audioTrimmed }),
        ("audio", "undecodable", { $0.audioUndecodable }),
        ("audio", "unmatched", { $0.audioDiscarded }),
        ("audio", "untimed", { $0.audioUntimed }),
        ("video", "beforeSync", { $0.framesBeforeSync }),
        ("video", "duplicate", { $0.duplicateFrames }),
        ("video", "leading", { $0.leadingPictures }),
        ("video", "unsupported", { $0.unsupportedFrames }),
    ]

    private static func frames(
        _ counts: SpliceCounts, _ list: [(media: String, reason: String, count: @Sendable (SpliceCounts) -> Int)]
    ) -> MetricFamily.Values {
        list.map { ([$0.media, $0.reason], .integer(UInt64($0.count(counts)))) }
    }
}
