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
            { $0.status.splice.counts[.adjustedTimestamps] }),
        .counters(
            "liverelay_channel_dropped_frames_total", by: ["media", "reason"],
            help: "Frames that were received and not published.",
            { run in
                dropped.map { ([$0.media, $0.reason], .integer(UInt64(run.status.splice.counts[$0.count]))) }
            }),
        .counters(
            "liverelay_channel_inserted_frames_total", by: ["media"],
            help: "Frames published where the upstream had none: key frames repeated, and silence.",
            { run in
                [
                    (["audio"], .integer(UInt64(run.status.splice.counts[.silentAudioFrames]))),
                    (["video"], .integer(UInt64(run.status.splice.counts[.stillFrames]))),
                ]
            }),
        .counter("liverelay_channel_transcoded_audio_frames_total", help: "Audio frames that were encoded again.") {
            $0.status.splice.counts[.transcodedAudioFrames]
        },
    ]

    private static let dropped: [(media: String, reason: String, count: SpliceCount)] = [
        ("audio", "damaged", .damagedAudioFrames),
        ("audio", "duplicate", .duplicateAudioFrames),
        ("audio", "overlapping", .overlappingAudioFrames),
        ("audio", "trimmed", .trimmedAudioFrames),
        ("audio", "undecodable", .undecodableAudioFrames),
        ("audio", "unmatched", .unmatchedAudioFrames),
        ("audio", "untimed", .untimedAudioFrames),
        ("video", "beforeSync", .framesBeforeSync),
        ("video", "duplicate", .duplicateFrames),
        ("video", "leading", .leadingPictures),
        ("video", "unsupported", .unsupportedFrames),
    ]
}
