import HTTPSyntax

/// Answers `/metrics`.
struct MetricsResponder: Sendable {
    let snapshot: @Sendable () -> MetricsSnapshot

    func response(to target: RequestTarget) -> Response {
        let format = MetricsWriter.Format(accept: target.fields.accept)
        let bytes = Array(MetricsWriter.write(MetricCatalog.families(snapshot()), as: format).utf8)
        let isCompressed = AcceptEncoding.allowsGzip(target.fields.acceptEncoding)
        return Response(
            contentType: format.contentType, cacheControl: .noStore,
            body: .bytes(bytes, gzip: isCompressed ? LazyGzip(compressing: bytes) : nil))
    }
}
