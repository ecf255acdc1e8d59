package import Support

/// A response after method, condition, range and coding: status, fields and the exact bytes.
package struct ConditionalResponse: Equatable, Sendable {
    package enum Body: Equatable, Sendable {
        case none
        /// The bytes of the array in this range.
        case bytes([UInt8], Range<Int>)
        case file(FileSlice)
        /// - Parameter byteCount: the announced number of bytes; nil: none was announced.
        case stream(ByteStream, byteCount: Int?)
    }

    /// Consecutive bytes of one file, which must have at least the announced length.
    package struct FileSlice: Equatable, Sendable {
        package let path: String
        package let fileByteCount: Int
        package let bytes: Range<Int>
    }

    package var status: HTTPStatus
    package var fields: [HeaderField]
    package var body: Body
    /// As in `Response`.
    package var sentBytes: ByteCounter?
    /// As in `Response`.
    package var held: HeldBytes?
}

extension ConditionalResponse {
    /// Whether the response has a body of unknown length. Also true for a HEAD request.
    package var isUnbounded: Bool {
        status == .ok && !fields.contains { $0.name == "Content-Length" }
    }

    /// Applies, in the order of RFC 9110 §13.2.2: If-None-Match, else If-Modified-Since, then Range, then HEAD.
    /// - Parameter date: the value of the `Date` field.
    package init(_ response: Response, to target: RequestTarget, date: String) {
        let representation = Representation(of: response, for: target.fields)
        self.init(
            status: response.status, fields: Self.commonFields(response, representation, date: date), body: .none,
            sentBytes: response.sentBytes, held: response.held)
        if response.status == .ok, let tag = representation.etag, let known = target.fields.ifNoneMatch,
            EntityTag.isListed(tag, inIfNoneMatch: known)
        {
            status = .notModified
            return
        }
        // Clients return the date that they received, so comparing the text suffices.
        if response.status == .ok, target.fields.ifNoneMatch == nil, let date = response.lastModified,
            target.fields.ifModifiedSince == date
        {
            status = .notModified
            return
        }
        if response.status == .ok, representation.isRangeable {
            apply(
                HTTPByteRange(field: representation.range(target.fields), byteCount: representation.byteCount),
                to: representation)
        } else {
            send(representation, 0..<representation.byteCount)
        }
        if target.method == .head { body = .none }
    }

    private mutating func apply(_ range: HTTPByteRange, to representation: Representation) {
        add("Accept-Ranges", "bytes")
        switch range {
        case .whole:
            send(representation, 0..<representation.byteCount)
        case .part(let bytes):
            status = .partialContent
            add("Content-Range", "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(representation.byteCount)")
            send(representation, bytes)
        case .unsatisfiable:
            status = .rangeNotSatisfiable
            fields.removeAll { $0.name == "Content-Type" || $0.name == "Cache-Control" || $0.name == "ETag" }
            add("Cache-Control", CacheControl.noStore.fieldValue)
            add("Content-Range", "bytes */\(representation.byteCount)")
            add("Content-Length", "0")
        }
    }

    private mutating func send(_ representation: Representation, _ bytes: Range<Int>) {
        if let type = representation.type { add("Content-Type", type.rawValue) }
        if representation.isGzip { add("Content-Encoding", "gzip") }
        if status != .noContent, !representation.isStream { add("Content-Length", String(bytes.count)) }
        body = representation.slice(bytes)
    }

    private mutating func add(_ name: String, _ value: String) {
        fields.append(HeaderField(name: name, value: value))
    }

    private static func commonFields(_ response: Response, _ representation: Representation, date: String)
        -> [HeaderField]
    {
        var fields = [
            HeaderField(name: "Date", value: date),
            HeaderField(
                name: "Cache-Control",
                value: response.isPrivate ? response.cacheControl.privateFieldValue : response.cacheControl.fieldValue),
            HeaderField(name: "Access-Control-Allow-Origin", value: "*"),
            HeaderField(name: "Access-Control-Expose-Headers", value: CrossOrigin.exposedFields),
        ]
        if let tag = representation.etag { fields.append(HeaderField(name: "ETag", value: tag)) }
        if let date = response.lastModified { fields.append(HeaderField(name: "Last-Modified", value: date)) }
        if representation.variesByCoding { fields.append(HeaderField(name: "Vary", value: "Accept-Encoding")) }
        return fields + response.extraHeaders
    }
}

/// The representation chosen for a request: the body in one of its codings, before a range is applied.
private struct Representation {
    let type: MimeType?
    let etag: String?
    let isGzip: Bool
    let variesByCoding: Bool
    private let body: ResponseBody

    init(of response: Response, for fields: RequestTarget.Fields) {
        type = response.contentType
        guard case .bytes(_, gzip: let gzip?) = response.body else {
            (body, isGzip, variesByCoding, etag) = (response.body, false, false, response.etag)
            return
        }
        variesByCoding = true
        let compressed = fields.allowsGzip ? gzip.member : nil
        isGzip = compressed != nil
        etag = isGzip ? response.etag.map(EntityTag.gzipVariant) : response.etag
        body = compressed.map { .bytes($0, gzip: nil) } ?? response.body
    }

    var byteCount: Int { body.byteCount }

    var isRangeable: Bool {
        if case .empty = body { return false }
        return !isGzip && !isStream
    }

    var isStream: Bool {
        if case .stream = body { true } else { false }
    }

    func range(_ fields: RequestTarget.Fields) -> String? {
        EntityTag.allowsRange(etag, ifRange: fields.ifRange) ? fields.range : nil
    }

    func slice(_ range: Range<Int>) -> ConditionalResponse.Body {
        if case .stream(let stream) = body { return .stream(stream, byteCount: nil) }
        if range.isEmpty { return .none }
        return switch body {
        case .empty, .stream: .none
        case .bytes(let bytes, gzip: _): .bytes(bytes, range)
        case .file(let path, let byteCount): .file(.init(path: path, fileByteCount: byteCount, bytes: range))
        case .made(let file): .stream(file.read(range), byteCount: range.count)
        }
    }
}

extension ResponseBody {
    /// Size of the uncompressed body.
    fileprivate var byteCount: Int {
        switch self {
        case .empty, .stream: 0
        case .bytes(let bytes, gzip: _): bytes.count
        case .file(_, let byteCount): byteCount
        case .made(let file): file.byteCount
        }
    }
}
