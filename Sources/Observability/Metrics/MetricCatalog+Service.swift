import HTTP
import Support

// The metrics of the process, its server and its list.

extension MetricCatalog {
    static let service: [MetricDefinition<MetricsSnapshot>] = [
        MetricDefinition(
            name: "liverelay_build_info", kind: .info, labels: ["version"], help: "Always 1.",
            values: { _ in [([ProgramVersion.text], .integer(1))] }),
        MetricDefinition(
            name: "liverelay_channels", kind: .gauge, labels: ["state"],
            help: "Channels of the list: idle, queued, starting, running, lingering, ending or failed.",
            values: { ($0.channelStates ?? [:]).metricValues(name: { $0 }, value: { .integer(UInt64($0)) }) }),
        .counters(
            "liverelay_channel_starts_total", help: "Runs of channels that were started.",
            { $0.startCount.map { [([], .integer(UInt64($0)))] } ?? [] }),
        .gauge("liverelay_fleet_lease", help: "1 while this node of a fleet may publish, otherwise 0.") {
            $0.fleet.map { $0.holdsLease ? 1 : 0 }
        },
        MetricDefinition(
            name: "liverelay_fleet_node_load_bits_per_second", kind: .gauge, labels: ["node"],
            help: "Bit rate of the channels that a node of the fleet runs.",
            values: { ($0.fleet?.loads ?? [:]).metricValues(name: { $0 }, value: { .integer(UInt64($0)) }) }),
        MetricDefinition(
            name: "liverelay_fleet_channel_epoch", kind: .gauge, labels: ["channel", "node"],
            help: "Epoch in which a node of the fleet runs a channel.",
            values: { snapshot in
                (snapshot.fleet?.owners ?? [:]).sorted { $0.key < $1.key }
                    .map { (labels: [$0.key, $0.value.node], value: .integer($0.value.epoch)) }
            }),
        .counters(
            "liverelay_http_requests_total", by: ["route", "status"],
            help: "Responses by kind of resource and HTTP status.",
            { snapshot in
                snapshot.traffic.answers.map {
                    (labels: [$0.key.route.rawValue, "\($0.key.status)"], value: .integer(UInt64($0.value)))
                }.sorted { $0.labels.lexicographicallyPrecedes($1.labels) }
            }),
        MetricDefinition(
            name: "liverelay_http_request_duration_seconds", kind: .histogram, labels: ["route"],
            help: "Time to the head of a response; the first request for a channel is held until it publishes.",
            values: { $0.traffic.delays.metricValues(name: \.rawValue, value: { .histogram($0) }) }),
        .counters(
            "liverelay_http_sent_bytes_total", by: ["route"], help: "Bytes of response bodies.",
            { $0.traffic.sentBytes.metricValues(name: \.rawValue, value: { .integer($0) }) }),
        .gauge("liverelay_http_connections", help: "Open connections of clients.") {
            Double($0.traffic.openConnections)
        },
        .gauge("liverelay_http_max_connections", help: "Connections of clients that may be open, if limited.") {
            $0.maxConnections.map { Double($0) }
        },
        .counter(
            "liverelay_http_refused_connections_total", help: "Connections that got 503 because there were too many.",
            { $0.clients.refused }),
        .counters(
            "liverelay_events_total", by: ["type"], help: "Events published.",
            { $0.events.bus.counts.published.metricValues(name: \.rawValue, value: { .integer(UInt64($0)) }) }),
        .counters(
            "liverelay_event_deliveries_total", by: ["target", "outcome"],
            help: "Events to a `webhook` or `command`: `delivered`, `retried`, `failed`, or `dropped` by a full queue.",
            { snapshot in
                snapshot.events.counter.counts.map {
                    (labels: [$0.key.target.rawValue, $0.key.outcome.rawValue], value: .integer(UInt64($0.value)))
                }.sorted { $0.labels.lexicographicallyPrecedes($1.labels) }
            }),
        .counter("liverelay_events_lost_total", help: "Events that a subscriber lost because it read too slowly.") {
            $0.events.bus.counts.lost
        },
        .counter("liverelay_log_lines_dropped_total", help: "Log lines that were not written.") { $0.droppedLogLines },
    ]

    static let process: [MetricDefinition<ProcessFigures>] = [
        .gauge("process_start_time_seconds", help: "When the process was started, in seconds since 1970.") {
            $0.startTime
        },
        .counters(
            "process_cpu_seconds_total", help: "CPU time in user mode and in the kernel.",
            { $0.cpuSeconds.map { [([], .number($0))] } ?? [] }),
        .gauge("process_resident_memory_bytes", help: "Resident memory.") { $0.residentBytes.map { Double($0) } },
        .gauge("process_virtual_memory_bytes", help: "Address space.") { $0.virtualBytes.map { Double($0) } },
        .gauge("process_threads", help: "Threads.") { $0.threads.map { Double($0) } },
        .gauge("process_open_fds", help: "Open descriptors.") { $0.openDescriptors.map { Double($0) } },
        .gauge("process_max_fds", help: "Descriptors that may be open.") { $0.maxDescriptors.map { Double($0) } },
    ]
}
