/// All metrics, in the order in which they are written.
///
/// Their values come from a snapshot of what the channels count already. The registry of a client library would be a
/// second set of the same counts, with series to remove whenever a run ends.
enum MetricCatalog {
    static func families(_ snapshot: MetricsSnapshot) -> [MetricFamily] {
        let runs = snapshot.runs.map { run in
            (labels: run.channel.map { [MetricFamily.Label("channel", $0)] } ?? [], subject: run)
        }
        return service.map { $0.family(of: [([], snapshot)]) } + channel.map { $0.family(of: runs) }
            + process.map { $0.family(of: [([], snapshot.process)]) }
    }

    /// The metrics of each run.
    static var channel: [MetricDefinition<MetricsSnapshot.Run>] { output + upstream + splice + tracks }

    /// A row of a table in Markdown for each metric: its name with its labels, and its meaning.
    static var rows: [String] {
        service.map(row) + channel.map { row($0, labels: ["channel"] + $0.labels) } + process.map(row)
    }

    private static func row(_ metric: MetricDefinition<some Any>) -> String { row(metric, labels: metric.labels) }

    private static func row(_ metric: MetricDefinition<some Any>, labels: [String]) -> String {
        let selector = labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}"
        return "| `\(metric.name)\(selector)` | \(metric.help) |"
    }
}

extension Dictionary {
    /// The values as those of a metric with one label, in the order of the keys' names.
    func metricValues(
        name: (Key) -> String, value: (Value) -> MetricFamily.Value
    ) -> MetricFamily.Values {
        map { (labels: [name($0.key)], value: value($0.value)) }.sorted { $0.labels[0] < $1.labels[0] }
    }
}
