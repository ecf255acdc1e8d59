import Channel
import LiveRing
import Support
import Tracker

// The metrics of each run of a channel.

extension MetricCatalog {
    private static let states: [RelayStatus.State] = [.opening, .live, .late, .outage, .ended, .failed]

    static let output: [MetricDefinition<MetricsSnapshot.Run>] = [
        .gauge("liverelay_channel_ready", help: "1 if `readyz` of the channel says so, else 0.") { $0.isReady ? 1 : 0 },
        MetricDefinition(
            name: "liverelay_channel_state", kind: .gauge, labels: ["state"],
            help: "1 for the state of the channel, 0 for the others.",
            values: { run in states.map { ([$0.rawValue], .integer(run.status.state == $0 ? 1 : 0)) } }),
        .gauge("liverelay_channel_uptime_seconds", help: "Time since the run was started.") { $0.status.uptime },
        .gauge("liverelay_channel_edge_age_seconds", help: "Time since a segment was last published.") {
            $0.status.output.secondsSincePublish
        },
        .gauge(
            "liverelay_channel_edge_timestamp_seconds",
            help: "End of the newest segment by the upstream's clock, in seconds since 1970.",
            { $0.edgeTime }),
        .gauge("liverelay_channel_listed_segments", help: "Segments in the rewind.") {
            Double($0.status.output.segments)
        },
        .gauge("liverelay_channel_rewind_seconds", help: "Media in the rewind.") { $0.status.output.rewindSeconds },
        .gauge("liverelay_channel_target_duration_seconds", help: "Target duration of the playlists.") {
            $0.status.output.targetDuration.map { Double($0) }
        },
        .gauge("liverelay_channel_spool_bytes", help: "Bytes of segments on disk.") { Double($0.spoolBytes) },
        .gauge(
            "liverelay_channel_spool_free_bytes", help: "Bytes that may still be written to the spool's file system."
        ) {
            $0.spoolSpace.map { Double($0.freeBytes) }
        },
        .gauge("liverelay_channel_spool_size_bytes", help: "Size of the spool's file system.") {
            $0.spoolSpace.map { Double($0.byteCount) }
        },
        .counter(
            "liverelay_channel_rewind_evictions_total", help: "How often a full disk cost the oldest of the rewind."
        ) {
            $0.status.output.rewindEvictionsForDiskFull
        },
        .counter("liverelay_channel_published_segments_total", help: "Segments published, those of the slate included.")
        {
            $0.meter.publishedSegments
        },
        .seconds("liverelay_channel_published_seconds_total", help: "Media published.") {
            $0.meter.publishedTime.inSeconds
        },
        .counters(
            "liverelay_channel_filler_segments_total", by: ["kind"],
            help: "Missing media in the playlist: a gap (EXT-X-GAP) or a segment of the slate.",
            { run in
                [
                    (["gap"], .integer(UInt64(run.status.output.gapSegments))),
                    (["slate"], .integer(UInt64(run.status.output.slateSegments))),
                ]
            }),
        .counter("liverelay_channel_unwritten_segments_total", help: "Segments that the spool did not accept.") {
            $0.status.splice.segmentsNotWritten
        },
        .gauge("liverelay_channel_stream_clients", help: "Open endless streams.") {
            Double($0.status.transportStream.clients)
        },
        .gauge("liverelay_channel_waiting_requests", help: "Requests that are held until the channel publishes.") {
            Double($0.waitingRequests)
        },
        .bytes("liverelay_channel_sent_bytes_total", help: "Bytes of response bodies.") { $0.sentBytes },
        .counters(
            "liverelay_channel_stills_total", by: ["result"],
            help: "Requests for stills: `made`, `cached`, `refused` because of too many, `failed`.",
            { run in
                let stills = run.status.stills ?? RelayStatus.Stills()
                return [
                    (["made"], .integer(UInt64(stills.made))), (["cached"], .integer(UInt64(stills.cached))),
                    (["refused"], .integer(UInt64(stills.refused))), (["failed"], .integer(UInt64(stills.failed))),
                ]
            }),
        .counters(
            "liverelay_channel_archive_segments_total", by: ["result"],
            help: "Segments of the archive: `stored`, or `lost` because the store did not take them in time.",
            { run in
                let store = run.status.archiveStore ?? RelayStatus.ArchiveStore()
                return [
                    (["stored"], .integer(UInt64(store.segments))), (["lost"], .integer(UInt64(store.lostSegments))),
                ]
            }),
        .counters(
            "liverelay_channel_archive_requests_total", by: ["kind"],
            help:
                "Requests to the store: `put`, `list`, `get`, `delete`, those that `failed`, or read `damaged` objects.",
            { run in
                let store = run.status.archiveStore ?? RelayStatus.ArchiveStore()
                return [
                    (["put"], .integer(UInt64(store.puts))), (["list"], .integer(UInt64(store.lists))),
                    (["get"], .integer(UInt64(store.gets))), (["delete"], .integer(UInt64(store.deletes))),
                    (["failed"], .integer(UInt64(store.failures))), (["damaged"], .integer(UInt64(store.damaged))),
                ]
            }),
        .gauge("liverelay_channel_archive_expired_hours", help: "Hours that are due to be removed from the store.") {
            Double($0.status.archiveStore?.expiredHours ?? 0)
        },
        .gauge("liverelay_channel_archive_pending_segments", help: "Segments that the store does not have yet.") {
            Double($0.status.archiveStore?.pendingSegments ?? 0)
        },
        .seconds(
            "liverelay_channel_stream_dropped_seconds_total",
            help: "Media that slow clients of endless streams were not sent.",
            { $0.status.transportStream.droppedSeconds }),
    ]

    static let upstream: [MetricDefinition<MetricsSnapshot.Run>] = [
        .gauge("liverelay_channel_upstream_age_seconds", help: "Time since the upstream listed a new segment.") {
            $0.status.upstream.secondsSinceNewSegment
        },
        .gauge("liverelay_channel_active_source", help: "0 for the primary; backups count from 1.") {
            Double($0.status.upstream.activeSource)
        },
        .counter("liverelay_channel_failovers_total", help: "Changes of source, returns included.") {
            $0.status.upstream.failovers
        },
        .counters(
            "liverelay_channel_upstream_answers_total", by: ["resource"],
            help: "Answers of any HTTP status that arrived whole.",
            { $0.meter.answers.metricValues(name: \.rawValue, value: { .integer(UInt64($0)) }) }),
        .counters(
            "liverelay_channel_received_bytes_total", by: ["resource"],
            help: "Bytes of those answers after decompression.",
            { $0.meter.receivedBytes.metricValues(name: \.rawValue, value: { .integer($0) }) }),
        .counters(
            "liverelay_channel_retries_total", by: ["resource"],
            help: "Attempts that failed and were followed by another one.",
            { run in
                var retries = run.meter.retries
                retries[.playlist] = run.status.upstream.counts[.failedPlaylistLoads]
                return retries.metricValues(name: \.rawValue, value: { .integer(UInt64($0)) })
            }),
        .counters(
            "liverelay_channel_request_failures_total", by: ["reason"],
            help: "Failed requests: `http_404`, `http_5xx` for other statuses, `timedOut`, `shortBody`, `notMedia`, …",
            { failures($0.status.upstream.requests.errors) }),
        .counters(
            "liverelay_channel_lost_segments_total", by: ["reason"],
            help: "Segments of the upstream that were lost, as `segmentsLostByCause` in the status.",
            { $0.status.upstream.counts.lostByCause.metricValues(name: \.rawValue, value: { .integer($0) }) }),
        .counters(
            "liverelay_channel_lost_seconds_total", by: ["reason"],
            help: "Media of those segments, and `timestampGap`: unannounced gaps of the upstream's own clock.",
            { run in
                var lost = Dictionary(uniqueKeysWithValues: SegmentLoss.Cause.allCases.map { ($0.rawValue, 0.0) })
                for (cause, time) in run.status.upstream.counts.lostDurations {
                    lost[cause.rawValue] = time.inSeconds
                }
                lost["timestampGap"] = run.status.splice.timestampGapSeconds
                return lost.metricValues(name: { $0 }, value: { .number($0) })
            }),
        .seconds("liverelay_channel_outage_seconds_total", help: "Media time that was published as missing.") {
            $0.status.upstream.outageSeconds
        },
        .counter("liverelay_channel_stale_playlists_total", help: "Playlists that went back and were ignored.") {
            $0.status.upstream.counts[.stalePlaylists]
        },
        .counter("liverelay_channel_sequence_resets_total", help: "Playlists that began to count anew.") {
            $0.status.upstream.counts[.sequenceResets]
        },
    ]

    /// The HTTP statuses that are counted one by one. Other statuses are counted by class, so that an upstream cannot
    /// create arbitrary series.
    private static let countedStatuses: Set = [400, 401, 403, 404, 408, 410, 416, 429, 500, 502, 503, 504, 509]

    /// - Parameter errors: counts by the names that the status uses.
    static func failures(_ errors: [String: Int]) -> MetricFamily.Values {
        var failures: [String: Int] = [:]
        for (name, count) in errors {
            let status = name.hasPrefix("http") ? Int(name.dropFirst(4)) : nil
            let reason = status.map { countedStatuses.contains($0) ? "http_\($0)" : "http_\($0 / 100 % 10)xx" }
            failures[reason ?? name, default: 0] += count
        }
        return failures.metricValues(name: { $0 }, value: { .integer(UInt64($0)) })
    }
}
