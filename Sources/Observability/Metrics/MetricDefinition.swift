/// A metric: what it is called and means, and how its values are read from a subject.
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

    /// The metric of several subjects, each with labels of its own, which come first.
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
