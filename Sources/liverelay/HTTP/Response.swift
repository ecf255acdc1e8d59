/// A status (RFC 9110 §15); by name those that are ever sent on our own account.
struct HTTPStatus: RawRepresentable, Equatable, Sendable {
    let rawValue: Int

    static let ok = HTTPStatus(rawValue: 200)
    static let noContent = HTTPStatus(rawValue: 204)
    static let partialContent = HTTPStatus(rawValue: 206)
    static let movedPermanently = HTTPStatus(rawValue: 301)
    static let found = HTTPStatus(rawValue: 302)
    static let notModified = HTTPStatus(rawValue: 304)
    static let badRequest = HTTPStatus(rawValue: 400)
    static let notFound = HTTPStatus(rawValue: 404)
    static let methodNotAllowed = HTTPStatus(rawValue: 405)
    static let gone = HTTPStatus(rawValue: 410)
    static let contentTooLarge = HTTPStatus(rawValue: 413)
    static let rangeNotSatisfiable = HTTPStatus(rawValue: 416)
    static let internalServerError = HTTPStatus(rawValue: 500)
    static let serviceUnavailable = HTTPStatus(rawValue: 503)
}

/// How a response is sent.
enum ResponsePace: Equatable, Sendable {
    /// As fast as the client takes it.
    case prompt
    /// The body in equal parts over that time. After so many bytes of it the connection ends; nil: after all of them.
    case slow(over: Duration, breaksOffAfter: Int?)
    /// Not at all: after that time the connection is reset, or, for nil, left to the client's patience.
    case silent(until: Duration?)
}

/// How long a cache may keep an answer (RFC 9111 §5.2.2).
enum CacheControl: Equatable, Sendable {
    /// State of the moment: never kept.
    case noStore
    /// Fresh for this many seconds.
    case maxAge(seconds: Int)
    /// The name never comes back with other bytes: a year, and no revalidation (RFC 8246).
    case immutable

    var fieldValue: String {
        switch self {
        case .noStore: "no-store"
        case .maxAge(let seconds): "max-age=\(seconds)"
        case .immutable: "max-age=31536000, immutable"
        }
    }
}

/// One file, or the only file, of a body.
struct BodyFile: Equatable, Sendable {
    /// Where it lies; it may be unlinked while it is sent, but is never rewritten.
    let path: String
    /// The length that is announced and sent, in bytes, from the start of the file.
    let byteCount: Int
}

/// What a resource consists of, before the request's method, range and codings are applied.
enum ResponseBody: Equatable, Sendable {
    case empty
    /// In memory; `gzip` is the same body as one gzip member, if it was ever compressed.
    case bytes([UInt8], gzip: [UInt8]?)
    case file(path: String, byteCount: Int)
    /// Several files that the client sees as one, in this order.
    case files([BodyFile])
}

/// What a path answers to a plain GET. The server applies HEAD, Range, If-None-Match, Accept-Encoding and CORS.
struct Response: Equatable, Sendable {
    var status = HTTPStatus.ok
    var contentType: MimeType?
    var cacheControl: CacheControl
    /// A strong entity tag in its quotes, such as `"7f3a"`; nil if nobody shall revalidate.
    var etag: String?
    var body: ResponseBody
    /// Further fields, each name once; none of those the server writes itself.
    var extraHeaders: [HeaderField] = []
    var pace = ResponsePace.prompt
}

struct HeaderField: Equatable, Sendable {
    let name: String
    let value: String
}

/// Answers one GET or HEAD. It is called on an event loop: it must not wait, and takes well under a millisecond.
typealias Responder = @Sendable (RequestTarget) -> Response

extension Response {
    /// One line of text for a person who reads it with curl; `line` without its newline.
    static func text(_ status: HTTPStatus, _ line: String, cacheControl: CacheControl = .noStore) -> Response {
        Response(
            status: status, contentType: .text, cacheControl: cacheControl,
            body: .bytes(Array((line + "\n").utf8), gzip: nil))
    }

    /// - Parameter cacheControl: of a live playlist's segment, one TARGETDURATION
    ///   (draft-pantos-hls-rfc8216bis, Appendix B): it may yet appear.
    static func notFound(_ path: String, cacheControl: CacheControl = .noStore) -> Response {
        .text(.notFound, "There is nothing at \(path).", cacheControl: cacheControl)
    }
}
