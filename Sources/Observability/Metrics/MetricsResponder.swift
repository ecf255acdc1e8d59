package import WebServer

/// Answers `/metrics`, which is long where many channels run.
package struct MetricsResponder: Sendable {
    let snapshot: @Sendable () -> MetricsSnapshot
    /// Documents of the moment.
    package let documents: DocumentCache

    package init(
        documents: DocumentCache = DocumentCache(label: "liverelay.moments"),
        snapshot: @escaping @Sendable () -> MetricsSnapshot
    ) {
        self.documents = documents
        self.snapshot = snapshot
    }

    package func answer(to target: RequestTarget) -> Answer {
        let format = MetricsWriter.Format(accept: target.fields.accept)
        return .later { [documents, snapshot] in
            await documents.response(.init(name: "metrics \(format)"), format.contentType, version: nil, to: target) {
                Array(MetricsWriter.write(MetricCatalog.families(snapshot()), as: format).utf8)
            }
        }
    }
}
