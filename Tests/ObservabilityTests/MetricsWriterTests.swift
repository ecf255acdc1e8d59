import Testing

@testable import HTTP
@testable import Observability
@testable import WebServer

private typealias Label = MetricFamily.Label

private func counter(_ samples: MetricFamily.Sample...) -> MetricFamily {
    MetricFamily(name: "x_total", kind: .counter, help: "All x.", samples: samples)
}

private let rows: [(when: String, family: MetricFamily, prometheus: String, openMetrics: String)] = [
    (
        "a counter", counter(.init(labels: [], value: .integer(.max))),
        "# HELP x_total All x.\n# TYPE x_total counter\nx_total 18446744073709551615\n",
        "# HELP x All x.\n# TYPE x counter\nx_total 18446744073709551615\n"
    ),
    ("no sample", counter(), "", ""),
    (
        "labels that have to be escaped",
        counter(.init(labels: [Label("channel", "a\\b\"c\nd"), Label("kind", "é")], value: .integer(1))),
        "# HELP x_total All x.\n# TYPE x_total counter\nx_total{channel=\"a\\\\b\\\"c\\nd\",kind=\"é\"} 1\n",
        "# HELP x All x.\n# TYPE x counter\nx_total{channel=\"a\\\\b\\\"c\\nd\",kind=\"é\"} 1\n"
    ),
    (
        "an info",
        MetricFamily(name: "b_info", kind: .info, help: "1.", samples: [.init(labels: [], value: .integer(1))]),
        "# HELP b_info 1.\n# TYPE b_info gauge\nb_info 1\n", "# HELP b 1.\n# TYPE b info\nb_info 1\n"
    ),
    (
        "numbers",
        MetricFamily(
            name: "g", kind: .gauge, help: "A \"g\" \\ b.",
            samples: [2, 0.25, -.infinity, .nan].map { .init(labels: [], value: .number($0)) }),
        "# HELP g A \"g\" \\\\ b.\n# TYPE g gauge\ng 2\ng 0.25\ng -Inf\ng NaN\n",
        "# HELP g A \\\"g\\\" \\\\ b.\n# TYPE g gauge\ng 2\ng 0.25\ng -Inf\ng NaN\n"
    ),
]

@Test(arguments: rows.indices) func familyBecomesText(row: Int) {
    let row = rows[row]
    #expect(MetricsWriter.write([row.family], as: .prometheus) == row.prometheus, "\(row.when)")
    #expect(MetricsWriter.write([row.family], as: .openMetrics) == row.openMetrics + "# EOF\n", "\(row.when)")
}

@Test func bucketsOfAHistogramAreSums() {
    var histogram = LatencyHistogram()
    for milliseconds in [0, 1, 2, 100, 20_000] { histogram.record(.milliseconds(milliseconds)) }
    let family = MetricFamily(
        name: "d_seconds", kind: .histogram, help: "d",
        samples: [.init(labels: [Label("route", "list")], value: .histogram(histogram))])
    let lines = MetricsWriter.write([family], as: .prometheus).split(separator: "\n").dropFirst(2)
    let buckets = [
        "0.001\"} 2", "0.005\"} 3", "0.025\"} 3", "0.1\"} 4", "0.5\"} 4", "1.0\"} 4", "2.5\"} 4", "5.0\"} 4",
        "10.0\"} 4", "15.0\"} 4", "+Inf\"} 5",
    ]
    let expected = buckets.map { "d_seconds_bucket{route=\"list\",le=\"\($0)" }
    let sums = ["d_seconds_sum{route=\"list\"} 20.103", "d_seconds_count{route=\"list\"} 5"]
    #expect(lines.map { String($0) } == expected + sums)
}

private let accepted: [(when: String, accept: String?, format: MetricsWriter.Format)] = [
    ("no field", nil, .prometheus), ("anything", "*/*", .prometheus), ("text", "text/plain", .prometheus),
    ("a browser", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", .prometheus),
    (
        "Prometheus",
        "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
        .openMetrics
    ),
    ("only that", "application/openmetrics-text", .openMetrics),
    ("capitals and spaces", "Application/OpenMetrics-Text ; Q=1.000 , text/plain;q=0.999", .openMetrics),
    ("not that", "application/openmetrics-text;q=0, */*", .prometheus),
    ("its group", "application/*;q=0.5, text/*;q=0.4", .openMetrics),
    ("malformed weights", "application/openmetrics-text;q=x,text/plain;q=0.", .openMetrics), ("empty", "", .prometheus),
]

@Test(arguments: accepted) func formatIsChosen(when: String, accept: String?, format: MetricsWriter.Format) {
    #expect(MetricsWriter.Format(accept: accept) == format, "\(when)")
}

private let weights: [(field: String?, weight: Int)] = [
    (nil, 1000), ("text/plain", 1000), ("text/plain;q=0.5", 500), ("text/plain;q=0.125", 125), ("text/plain;q=1", 1000),
    ("text/plain;q=0", 0), ("text/*;q=0.3,*/*", 300), ("image/png", 0), ("*/*;q=0.1,text/plain;q=0.2", 200),
]

@Test(arguments: weights) func weightOfAType(field: String?, weight: Int) {
    #expect(AcceptField.weight(of: "text/plain", in: field) == weight)
}
