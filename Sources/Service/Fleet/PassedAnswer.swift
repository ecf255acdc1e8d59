import Fetch
import HTTP
import Support

extension Response {
    /// Fields of an answer that a viewer needs beside those that the server writes itself.
    private static let passedFields = [
        "Retry-After", "X-Liverelay-Reason", "Location", "Content-Disposition", "WWW-Authenticate",
        "X-HDHomeRun-Error",
    ]

    /// The answer of another node, for a viewer of this one.
    init(passing outcome: FetchOutcome) {
        switch outcome {
        case .success(let answer) where answer.status != HTTPStatus.forbidden.rawValue:
            let type = answer.header("Content-Type").flatMap(MimeType.init(rawValue:))
            let isText = type.map { [.playlist, .json, .webVTT].contains($0) } ?? false
            self.init(
                status: HTTPStatus(rawValue: answer.status), contentType: type,
                cacheControl: CacheControl(fieldValue: answer.header("Cache-Control")), etag: answer.entityTag,
                lastModified: answer.header("Last-Modified"),
                body: answer.body.isEmpty
                    ? .empty : .bytes(answer.body, gzip: isText ? LazyGzip(answer.body) : nil),
                extraHeaders: Self.passedFields.compactMap { name in
                    answer.header(name).map { HeaderField(name: name, value: $0) }
                })
        case .success: self = .unavailable("The node that runs the channel does not accept the key of this node.")
        // Another node soon runs the channel: as if this one had said so.
        case .failure: self = .text(.misdirectedRequest, "The node that runs the channel does not answer.")
        }
        isPassed = true
    }
}
