import HTTP
import Support

/// Writes metrics as text, in the format of Prometheus 0.0.4 or of OpenMetrics 1.0.
struct MetricsWriter {
    enum Format: Equatable, Sendable {
        case prometheus, openMetrics

        /// - Parameter accept: the `Accept` field of the request. OpenMetrics is written to clients that prefer it.
        init(accept: String?) {
            let type = "application/openmetrics-text"
            let isPreferred =
                AcceptField.weight(of: type, in: accept) > AcceptField.weight(of: "text/plain", in: accept)
            self = isPreferred ? .openMetrics : .prometheus
        }

        var contentType: MimeType { self == .openMetrics ? .openMetrics : .metricsText }
    }

    private let format: Format
    private var text = ""

    private init(_ format: Format) { self.format = format }

    /// - Parameter families: each name once. A family without samples is left out.
    static func write(_ families: [MetricFamily], as format: Format) -> String {
        var writer = MetricsWriter(format)
        for family in families where !family.samples.isEmpty { writer.write(family) }
        return writer.text + (format == .openMetrics ? "# EOF\n" : "")
    }

    private mutating func write(_ family: MetricFamily) {
        let name = name(of: family)
        text += "# HELP \(name) \(escaped(family.help, quotes: format == .openMetrics))\n"
        text += "# TYPE \(name) \(type(of: family.kind))\n"
        for sample in family.samples {
            switch sample.value {
            case .integer(let value): line(family.name, sample.labels, String(value))
            case .number(let value):
                // A whole number has no fraction.
                line(family.name, sample.labels, Int64(exactly: value).map { "\($0)" } ?? Self.text(value))
            case .histogram(let histogram): write(histogram, family.name, sample.labels)
            }
        }
    }

    /// The name in HELP and TYPE. In OpenMetrics, the name of a counter or an info has no suffix there.
    private func name(of family: MetricFamily) -> String {
        guard format == .openMetrics else { return family.name }
        switch family.kind {
        case .counter: return String(family.name.dropLast("_total".count))
        case .info: return String(family.name.dropLast("_info".count))
        case .gauge, .histogram: return family.name
        }
    }

    private func type(of kind: MetricFamily.Kind) -> String {
        kind == .info && format == .prometheus ? "gauge" : kind.rawValue
    }

    private mutating func write(_ histogram: LatencyHistogram, _ name: String, _ labels: [MetricFamily.Label]) {
        var count = 0
        let bounds = LatencyHistogram.bounds.map { Self.text($0.inSeconds) } + ["+Inf"]
        for (bound, bucket) in zip(bounds, histogram.counts) {
            count += bucket
            line(name + "_bucket", labels + [.init("le", bound)], String(count))
        }
        line(name + "_sum", labels, Self.text(histogram.sum.inSeconds))
        line(name + "_count", labels, String(count))
    }

    private mutating func line(_ name: String, _ labels: [MetricFamily.Label], _ value: String) {
        let list = labels.map { "\($0.name)=\"\(escaped($0.value, quotes: true))\"" }.joined(separator: ",")
        text += list.isEmpty ? "\(name) \(value)\n" : "\(name){\(list)} \(value)\n"
    }

    private func escaped(_ text: String, quotes: Bool) -> String {
        text.reduce(into: "") { escaped, character in
            switch character {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.append(character)
            }
        }
    }

    private static func text(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return "\(value)"
    }
}
