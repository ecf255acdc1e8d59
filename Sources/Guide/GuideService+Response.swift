package import WebServer

extension GuideService {
    /// How long the first requests are held while the first guide is being fetched.
    private static let longestWait = Duration.seconds(15)
    /// How long a cache may serve the guide without asking.
    private static let maxAge = 300

    /// The guide as XML, or as the content of a gzip file.
    package func response(to target: RequestTarget, asGzipFile: Bool) async -> Response {
        guard hasSources else {
            return .text(.notFound, "There is no guide: the list names none (x-tvg-url), and --epg gives none.")
        }
        guard let guide = await waitForGuide(atMost: Self.longestWait) else {
            return .unavailable(absence, retryAfter: 5)
        }
        return Self.response(of: guide, to: target, asGzipFile: asGzipFile)
    }

    private static func response(of guide: PublishedGuide, to target: RequestTarget, asGzipFile: Bool) -> Response {
        let tag = "\"" + String(guide.built.fingerprint, radix: 16)
        let isCoded =
            !asGzipFile && target.fields.range == nil && AcceptField.allowsGzip(target.fields.acceptEncoding)
        let isGzip = asGzipFile || isCoded
        var response = Response(
            contentType: asGzipFile ? .gzip : .xml, cacheControl: .maxAge(seconds: maxAge),
            etag: tag + (asGzipFile ? "-gz\"" : isCoded ? "-gzip\"" : "\""), lastModified: guide.lastModified,
            body: isGzip
                ? .file(path: guide.gzipPath, byteCount: guide.built.gzipByteCount)
                : .file(path: guide.path, byteCount: guide.built.byteCount))
        if !asGzipFile { response.extraHeaders = [HeaderField(name: "Vary", value: "Accept-Encoding")] }
        if isCoded { response.extraHeaders.append(HeaderField(name: "Content-Encoding", value: "gzip")) }
        return response
    }
}
