import HTTPSyntax

/// Answers `/metrics`.
struct MetricsResponder: Sendable {
    let snapshot: @Sendable () -> MetricsSnapshot

    /// Returns the work for a request for the metrics; nil for any other.
    func deferredResponse(to target: RequestTarget) -> (@Sendable () async -> Response)? {
        guard target.path == "/metrics" else { return nil }
        return { response(to: target) }
    }

    private func response(to target: RequestTarget) -> Response {
        let format = MetricsWriter.Format(accept: target.fields.accept)
        let bytes = Array(MetricsWriter.write(MetricCatalog.families(snapshot()), as: format).utf8)
        let isCompressed = AcceptEncoding.allowsGzip(target.fields.acceptEncoding)
        return Response(
            contentType: format.contentType, cacheControl: .noStore,
            body: .bytes(bytes, gzip: isCompressed ? LazyGzip(compressing: bytes) : nil))
    }
}
