package import WebServer

/// Answers `/metrics`, which is long where many channels run.
package struct MetricsResponder: Sendable {
    package let snapshot: @Sendable () -> MetricsSnapshot
    private let documents = DocumentCache(label: "liverelay.metrics")

    package init(snapshot: @escaping @Sendable () -> MetricsSnapshot) { self.snapshot = snapshot }

    package func answer(to target: RequestTarget) -> Answer {
        let format = MetricsWriter.Format(accept: target.fields.accept)
        return .later { [documents, snapshot] in
            await documents.response(.init(name: "\(format)"), format.contentType, version: nil, to: target) {
                Array(MetricsWriter.write(MetricCatalog.families(snapshot()), as: format).utf8)
            }
        }
    }
}
