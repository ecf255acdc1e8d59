import HTTP

/// All metrics, in the order in which they are written.
///
/// The values come from a snapshot of counts that the channels keep anyway. The registry of a client library would be a
/// second set of the same counts, whose series would have to be removed at the end of each run.
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
    /// The values as a metric with one label, in the order of the keys' names.
    func metricValues(
        name: (Key) -> String, value: (Value) -> MetricFamily.Value
    ) -> MetricFamily.Values {
        map { (labels: [name($0.key)], value: value($0.value)) }.sorted { $0.labels[0] < $1.labels[0] }
    }
}

/// A metric: its name and meaning, and how its values are read from a subject.
struct MetricDefinition<Subject>: Sendable {
    typealias Values = MetricFamily.Values

    let name: String
    let kind: MetricFamily.Kind
    let labels: [String]
    let help: String
    let values: @Sendable (Subject) -> Values

    static func counters(
        _ name: String, by labels: [String] = [], help: String, _ values: @escaping @Sendable (Subject) -> Values
    ) -> MetricDefinition {
        MetricDefinition(name: name, kind: .counter, labels: labels, help: help, values: values)
    }

    static func counter(
        _ name: String, help: String, _ value: @escaping @Sendable (Subject) -> Int
    ) -> MetricDefinition {
        counters(name, help: help) { (subject: Subject) -> Values in
            [([], .integer(UInt64(clamping: value(subject))))]
        }
    }

    static func bytes(
        _ name: String, help: String, _ value: @escaping @Sendable (Subject) -> UInt64
    ) -> MetricDefinition {
        counters(name, help: help) { (subject: Subject) -> Values in [([], .integer(value(subject)))] }
    }

    static func seconds(
        _ name: String, help: String, _ value: @escaping @Sendable (Subject) -> Double
    ) -> MetricDefinition {
        counters(name, help: help) { (subject: Subject) -> Values in [([], .number(value(subject)))] }
    }

    /// - Parameter value: nil: there is no value now.
    static func gauge(
        _ name: String, help: String, _ value: @escaping @Sendable (Subject) -> Double?
    ) -> MetricDefinition {
        MetricDefinition(name: name, kind: .gauge, labels: [], help: help) { subject in
            value(subject).map { [([], .number($0))] } ?? []
        }
    }

    /// The metric for several subjects. The labels of each subject come first.
    func family(of subjects: [(labels: [MetricFamily.Label], subject: Subject)]) -> MetricFamily {
        var family = MetricFamily(name: name, kind: kind, help: help)
        for (own, subject) in subjects {
            family.samples += values(subject).map { values, value in
                .init(labels: own + zip(labels, values).map { MetricFamily.Label($0, $1) }, value: value)
            }
        }
        return family
    }
}

/// A metric with its values, in no format yet.
struct MetricFamily: Equatable, Sendable {
    enum Kind: String, Equatable, Sendable { case counter, gauge, histogram, info }

    struct Label: Equatable, Sendable {
        let name: String
        let value: String

        init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }

    enum Value: Equatable, Sendable {
        case integer(UInt64)
        case number(Double)
        case histogram(LatencyHistogram)
    }

    /// Values by the values of labels, in the order of the labels' names.
    typealias Values = [(labels: [String], value: Value)]

    struct Sample: Equatable, Sendable {
        let labels: [Label]
        let value: Value
    }

    /// The whole name as Prometheus stores it: the name of a counter ends in `_total`, the name of an info in `_info`.
    let name: String
    let kind: Kind
    let help: String
    var samples: [Sample] = []
}
