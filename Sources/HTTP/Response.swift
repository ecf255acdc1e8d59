package import Support
import Synchronization

/// A status code (RFC 9110 §15). The constants are the codes that the server itself sends.
package struct HTTPStatus: RawRepresentable, Equatable, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) {
        self.rawValue = rawValue
    }

    package static let ok = HTTPStatus(rawValue: 200)
    package static let created = HTTPStatus(rawValue: 201)
    package static let noContent = HTTPStatus(rawValue: 204)
    static let partialContent = HTTPStatus(rawValue: 206)
    package static let found = HTTPStatus(rawValue: 302)
    static let notModified = HTTPStatus(rawValue: 304)
    package static let temporaryRedirect = HTTPStatus(rawValue: 307)
    package static let permanentRedirect = HTTPStatus(rawValue: 308)
    package static let badRequest = HTTPStatus(rawValue: 400)
    package static let unauthorized = HTTPStatus(rawValue: 401)
    package static let forbidden = HTTPStatus(rawValue: 403)
    package static let notFound = HTTPStatus(rawValue: 404)
    package static let methodNotAllowed = HTTPStatus(rawValue: 405)
    package static let conflict = HTTPStatus(rawValue: 409)
    package static let contentTooLarge = HTTPStatus(rawValue: 413)
    package static let unsupportedMediaType = HTTPStatus(rawValue: 415)
    /// The server is not the one that answers for the resource.
    package static let misdirectedRequest = HTTPStatus(rawValue: 421)
    static let rangeNotSatisfiable = HTTPStatus(rawValue: 416)
    package static let unprocessableContent = HTTPStatus(rawValue: 422)
    static let tooManyRequests = HTTPStatus(rawValue: 429)
    package static let requestHeaderFieldsTooLarge = HTTPStatus(rawValue: 431)
    package static let badGateway = HTTPStatus(rawValue: 502)
    package static let serviceUnavailable = HTTPStatus(rawValue: 503)
}

/// The content of a resource, before the request's method, range and codings apply.
package enum ResponseBody: Equatable, Sendable {
    case empty
    /// Content in memory; `gzip` is the same content for clients that accept it compressed.
    case bytes([UInt8], gzip: LazyGzip?)
    /// The first `byteCount` bytes of a file, which may be unlinked while it is sent but is never rewritten.
    case file(path: String, byteCount: Int)
    /// Content of a known size. Its ranges are made as a client reads them. HEAD makes none.
    case made(MadeFile)
    /// Content of unknown length. It has no ranges, and HEAD does not read it.
    case stream(ByteStream)

    /// The body with each stream of bytes changed; other bodies are unchanged.
    package func mapStreams(_ change: @escaping @Sendable (ByteStream) -> ByteStream) -> ResponseBody {
        switch self {
        case .empty, .bytes, .file: self
        case .made(let file): .made(MadeFile(byteCount: file.byteCount) { change(file.read($0)) })
        case .stream(let stream): .stream(change(stream))
        }
    }
}

/// A known number of bytes that exist only while they are sent.
package final class MadeFile: Equatable, Sendable {
    package let byteCount: Int
    package let read: @Sendable (Range<Int>) -> ByteStream

    package init(byteCount: Int, read: @escaping @Sendable (Range<Int>) -> ByteStream) {
        (self.byteCount, self.read) = (byteCount, read)
    }

    package static func == (left: MadeFile, right: MadeFile) -> Bool { left === right }
}

/// Bytes that are made as fast as one client reads them.
package final class ByteStream: Equatable, Sendable {
    /// Returns the next bytes; nil at the end. It is called again after the bytes were sent.
    package let next: @Sendable () async -> ArraySlice<UInt8>?

    package init(next: @escaping @Sendable () async -> ArraySlice<UInt8>?) { self.next = next }

    package static func == (left: ByteStream, right: ByteStream) -> Bool { left === right }

    /// The stream with observers for its first read and for its end after that.
    package func observed(
        opened: @escaping @Sendable () -> Void,
        closed: @escaping @Sendable (_ byteCount: UInt64, _ duration: Duration) -> Void
    ) -> ByteStream {
        let presence = StreamPresence(closed)
        return ByteStream { [self] in
            if presence.open() { opened() }
            let bytes = await next()
            presence.add(bytes?.count ?? 0)
            return bytes
        }
    }
}

/// One open stream of a client, from its first byte until the response ends.
private final class StreamPresence: Sendable {
    private struct State {
        var start: ContinuousClock.Instant?
        var byteCount: UInt64 = 0
    }

    private let state = Mutex(State())
    private let closed: @Sendable (UInt64, Duration) -> Void

    init(_ closed: @escaping @Sendable (UInt64, Duration) -> Void) { self.closed = closed }

    deinit {
        let state = state.withLock { $0 }
        if let start = state.start { closed(state.byteCount, .now - start) }
    }

    /// - Returns: whether the stream was not open.
    func open() -> Bool {
        state.withLock { state in
            defer { state.start = state.start ?? .now }
            return state.start == nil
        }
    }

    func add(_ byteCount: Int) { state.withLock { $0.byteCount += UInt64(byteCount) } }
}

/// The answer of a path to a plain GET. The server applies HEAD, Range, If-None-Match, Accept-Encoding and CORS.
package struct Response: Equatable, Sendable {
    package var status = HTTPStatus.ok
    package var contentType: MimeType?
    package var cacheControl: CacheControl
    /// A strong entity tag with its quotes, such as `"7f3a"`; nil if clients cannot revalidate the resource.
    var etag: String?
    /// When the resource changed, as an HTTP date; nil if clients cannot revalidate it by date.
    var lastModified: String?
    package var body: ResponseBody
    /// Further fields, each name once, without the fields that the server writes itself.
    package var extraHeaders: [HeaderField] = []
    /// Whether only the client's own cache may store the response, because it depends on the token of the request.
    var isPrivate = false
    /// Whether another node answers, which counts the viewer.
    package var isPassed = false
    /// Counts the sent bytes of the body, for the channel of the resource.
    package var sentBytes: ByteCounter?
    /// Counts the body's bytes until they are sent; nil: nothing counts them.
    package internal(set) var held: HeldBytes?

    package init(
        status: HTTPStatus = HTTPStatus.ok, contentType: MimeType? = nil, cacheControl: CacheControl,
        etag: String? = nil, lastModified: String? = nil, body: ResponseBody, extraHeaders: [HeaderField] = [],
        sentBytes: ByteCounter? = nil, held: HeldBytes? = nil
    ) {
        self.status = status
        self.contentType = contentType
        self.cacheControl = cacheControl
        self.etag = etag
        self.lastModified = lastModified
        self.body = body
        self.extraHeaders = extraHeaders
        self.sentBytes = sentBytes
        self.held = held
    }
}

/// A field of a response, in visible ASCII with spaces (RFC 9110 §5.5).
package struct HeaderField: Equatable, Sendable {
    package let name: String
    package let value: String

    /// - Parameter value: typographic quotation marks and dashes become ASCII ones; any other character outside ASCII
    ///   becomes a question mark.
    package init(name: String, value: String) {
        self.name = name
        self.value = Self.ascii(value)
    }

    /// The reason why there is no media, for clients that show no body. The body contains the same text in UTF-8.
    package static func reason(_ text: String) -> HeaderField {
        HeaderField(name: "X-Liverelay-Reason", value: String(text.redactingURLs.prefix(500)))
    }

    private static func ascii(_ text: String) -> String {
        guard text.utf8.contains(where: { !(0x20..<0x7F).contains($0) }) else { return text }
        return text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "\u{20}"..<"\u{7F}": result.unicodeScalars.append(scalar)
            case "“", "”", "„", "«", "»": result += "\""
            case "‘", "’", "‚": result += "'"
            case "–", "—", "−": result += "-"
            case "…": result += "..."
            case "×": result += "x"
            default: result += "?"
            }
        }
    }

    package static func retryAfter(seconds: Int64) -> HeaderField {
        HeaderField(name: "Retry-After", value: "\(seconds)")
    }
}

extension Response {
    /// One or more lines of text in UTF-8, for a person who uses curl. Control characters are escaped, and URLs are
    /// redacted.
    /// - Parameter line: the text without its last newline.
    package static func text(_ status: HTTPStatus, _ line: String, cacheControl: CacheControl = .noStore) -> Response {
        let text = line.redactingURLs.escapingControlCharacters(keepingLines: true) + "\n"
        return Response(
            status: status, contentType: .text, cacheControl: cacheControl, body: .bytes(Array(text.utf8), gzip: nil))
    }

    /// 503, with the seconds after which the client should ask again; without them, a player would give up.
    package static func unavailable(_ line: String, retryAfter: Int64 = 1) -> Response {
        var response = text(.serviceUnavailable, line)
        response.extraHeaders = [.retryAfter(seconds: retryAfter)]
        return response
    }

    /// Redirects to another path.
    /// - Parameters:
    ///   - path: relative to the path of the request.
    ///   - query: the query of the URL, as in `Viewer`.
    package static func redirect(_ status: HTTPStatus, to path: String, query: Secret?) -> Response {
        var response = text(status, path)
        response.extraHeaders = [HeaderField(name: "Location", value: path + (query.map { "?" + $0.value } ?? ""))]
        return response
    }

    /// Redirects to the URL that was requested, which another connection answers.
    package static func redirect(_ status: HTTPStatus, to target: RequestTarget) -> Response {
        // Relative, because a proxy may know the folder by another path.
        let name = PercentEncoding.encode(
            String(target.path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""))
        var response = Response.text(status, "Ask again.")
        let location = (name.isEmpty ? "./" : name) + target.encodedQuery
        response.extraHeaders = [HeaderField(name: "Location", value: location)]
        return response
    }

    /// An error in place of a stream. It has no body, because some clients would play the body.
    /// - Parameter reason: one line.
    package static func refusedStream(_ status: HTTPStatus, reason: String) -> Response {
        Response(
            status: status, contentType: nil, cacheControl: .noStore, body: .empty,
            extraHeaders: [.reason(reason)])
    }

    /// - Parameter cacheControl: one TARGETDURATION for a segment of a live playlist, which may still appear
    ///   (draft-pantos-hls-rfc8216bis, Appendix B).
    package static func notFound(_ path: String, cacheControl: CacheControl = .noStore) -> Response {
        .text(.notFound, "There is nothing at \(path).", cacheControl: cacheControl)
    }
}

/// A body as one gzip member. It is compressed when the first client asks for it.
package final class LazyGzip: Equatable, Sendable {
    private enum State {
        case pending
        /// nil if zlib cannot allocate its state.
        case finished([UInt8]?)
    }

    private let bytes: [UInt8]
    private let state = Mutex(State.pending)

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The compressed body; nil if it cannot be compressed. The first call compresses; concurrent calls wait for it.
    package var member: [UInt8]? {
        state.withLock { state in
            if case .finished(let member) = state { return member }
            let member = Gzip.compress(bytes)
            state = .finished(member)
            return member
        }
    }

    /// Whether `member` returns at once.
    package var isFinished: Bool {
        state.withLockIfAvailable { if case .finished = $0 { true } else { false } } ?? false
    }

    package static func == (left: LazyGzip, right: LazyGzip) -> Bool { left.bytes == right.bytes }
}

/// How long a cache may store a response (RFC 9111 §5.2.2).
package enum CacheControl: Equatable, Sendable {
    /// Never stored: the response describes the current moment.
    case noStore
    /// Fresh for `seconds`.
    case maxAge(seconds: Int)
    /// Fresh for `seconds`. A cache may serve it for `stale` seconds more while it revalidates, and for `ifError`
    /// seconds more while the server is unreachable (RFC 5861). Without these limits, nginx would serve the first
    /// viewer after a pause an old playlist.
    case renewed(seconds: Int, stale: Int, ifError: Int)
    /// Fresh for a year without revalidation (RFC 8246): the name never has other content.
    case immutable

    /// Reads the field of another node's answer. An unknown value is not stored.
    package init(fieldValue: String?) {
        let words = (fieldValue ?? "").split(separator: ",").map(\.trimmingBlanks)
        func seconds(_ name: String) -> Int? {
            words.first { $0.hasPrefix(name + "=") }.flatMap { Int($0.dropFirst(name.utf8.count + 1)) }
        }
        guard !words.contains("no-store"), let age = seconds("max-age") else {
            self = .noStore
            return
        }
        if words.contains("immutable") {
            self = .immutable
        } else if let stale = seconds("stale-while-revalidate"), let ifError = seconds("stale-if-error") {
            self = .renewed(seconds: age, stale: stale, ifError: ifError)
        } else {
            self = .maxAge(seconds: age)
        }
    }

    var fieldValue: String {
        switch self {
        case .noStore: "no-store"
        case .maxAge(let seconds): "max-age=\(seconds)"
        case .renewed(let seconds, let stale, let ifError):
            "max-age=\(seconds), stale-while-revalidate=\(stale), stale-if-error=\(ifError)"
        case .immutable: "max-age=31536000, immutable"
        }
    }

    /// How long a changing playlist may be stored: half a target duration (draft-pantos-hls-rfc8216bis, Appendix B). In
    /// the last second of it, one request renews the stored copy while the others still get that copy. While the server
    /// is unreachable, the playlist may be served for the length of a live window; a restart takes less.
    package static func playlist(targetDuration: Int) -> CacheControl {
        .renewed(seconds: max(1, targetDuration / 2 - 1), stale: 1, ifError: 30)
    }

    /// The value of the field for a response that no shared cache may store (RFC 9111 §5.2.2.7).
    var privateFieldValue: String { self == .noStore ? fieldValue : "private, " + fieldValue }
}
