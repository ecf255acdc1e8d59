import HTTPSyntax

/// Answers `/metrics`, which is long where many channels run.
struct MetricsResponder: Sendable {
    let snapshot: @Sendable () -> MetricsSnapshot
    private let documents = DocumentCache(label: "liverelay.metrics")

    init(snapshot: @escaping @Sendable () -> MetricsSnapshot) { self.snapshot = snapshot }

    /// Returns the work for a request for the metrics; nil for any other.
    func deferredResponse(to target: RequestTarget) -> (@Sendable () async -> Response)? {
        guard target.path == "/metrics" else { return nil }
        let format = MetricsWriter.Format(accept: target.fields.accept)
        return { [documents, snapshot] in
            await documents.response(.init(name: "\(format)"), format.contentType, version: nil, to: target) {
                Array(MetricsWriter.write(MetricCatalog.families(snapshot()), as: format).utf8)
            }
        }
    }
}
