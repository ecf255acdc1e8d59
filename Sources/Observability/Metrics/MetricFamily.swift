import WebServer

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

    /// The whole name as Prometheus stores it: that of a counter ends in `_total`, that of an info in `_info`.
    let name: String
    let kind: Kind
    let help: String
    var samples: [Sample] = []
}
