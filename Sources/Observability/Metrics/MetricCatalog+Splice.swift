import Channel
import Splice
import Support

// The metrics of what a run's splice dropped, inserted and changed.

extension MetricCatalog {
    static let splice: [MetricDefinition<MetricsSnapshot.Run>] = [
        .counters(
            "liverelay_channel_periods_total", by: ["cause"],
            help: "Periods begun: `joined`, `tagged`, `loss`, `configuration`, `clock`, `audioConfiguration`, or "
                + "`resumed` (after an outage).",
            { run in
                PeriodCause.allCases.map { ([$0.rawValue], .integer(UInt64(run.meter.periods[$0] ?? 0))) }
            }),
        .counters(
            "liverelay_channel_findings_total", by: ["side", "rule"],
            help: "Breaches of a rule of `docs/rules.md` by the `upstream`, or by the `output` if that is checked.",
            { run in
                [("upstream", run.status.upstream.brokenRules), ("output", run.status.output.brokenRules)].flatMap {
                    side, rules in
                    rules.map { ([side, "\($0.rule)"], .integer(UInt64($0.count))) }
                }
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
            help: "Key frames repeated, and frames of silence.",
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

    static let tracks: [MetricDefinition<MetricsSnapshot.Run>] = [
        .counters(
            "liverelay_channel_audio_track_segments_total", by: ["track", "audio"],
            help: "Segments of each further audio track, such as `audio-1`, with its `own` audio or the `leading` one.",
            { run in
                audioTracks(of: run) { [("own", $0.segments), ("leading", $0.segmentsWithLeadingAudio)] }
            }),
        .counters(
            "liverelay_channel_audio_track_frames_total", by: ["track", "result"],
            help: "Audio frames of those tracks: `silent` ones that were inserted, or `dropped`.",
            { run in audioTracks(of: run) { [("silent", $0.silentFrames), ("dropped", $0.droppedFrames)] } }),
        .counters(
            "liverelay_channel_subtitle_track_cues_total", by: ["track", "result"],
            help: "Cues of each subtitle rendition, such as `subs-0`: `published`, `late`, `unplaced`, `malformed` or "
                + "`dropped`.",
            { run in
                run.status.subtitles.tracks.flatMap { track in
                    cues.map { (["subs-\(track.number)", $0.result], .integer(UInt64(track.counts[$0.count]))) }
                }
            }),
    ]

    private static let cues: [(result: String, count: SubtitleCount)] = [
        ("published", .cues), ("late", .lateCues), ("unplaced", .unplacedCues), ("malformed", .malformedCues),
        ("dropped", .droppedCues),
    ]

    private static func audioTracks(
        of run: MetricsSnapshot.Run, _ counts: (RelayStatus.AudioTrack) -> [(name: String, count: Int)]
    ) -> MetricFamily.Values {
        (run.status.splice.audioTracks ?? []).enumerated().flatMap { index, track in
            counts(track).map { (["audio-\(index + 1)", $0.name], .integer(UInt64($0.count))) }
        }
    }

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
