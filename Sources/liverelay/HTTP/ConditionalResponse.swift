/// A response as it goes out: status, fields and the very bytes, after method, condition, range and coding.
struct ConditionalResponse: Equatable, Sendable {
    enum Body: Equatable, Sendable {
        case none
        /// The bytes of the array in this range.
        case bytes([UInt8], Range<Int>)
        /// Slices of files, in order, none empty.
        case files([FileSlice])
    }

    /// Consecutive bytes of one file, which must be as long as was said when the response was made.
    struct FileSlice: Equatable, Sendable {
        let file: BodyFile
        let bytes: Range<Int>
    }

    var status: HTTPStatus
    var fields: [HeaderField]
    var body: Body
    var pace = ResponsePace.prompt
}

extension ConditionalResponse {
    /// Applies, in the order of RFC 9110 §13.2.2: If-None-Match, then Range, then HEAD.
    /// - Parameter date: the value of the `Date` field.
    init(_ response: Response, to target: RequestTarget, date: String) {
        let content = Content(of: response, for: target.fields)
        self.init(status: response.status, fields: Self.commonFields(response, content, date: date), body: .none)
        pace = response.pace
        if response.status == .ok, let tag = content.etag, let known = target.fields.ifNoneMatch,
            EntityTag.isListed(tag, inIfNoneMatch: known)
        {
            status = .notModified
            return
        }
        if response.status == .ok, content.isRangeable {
            apply(HTTPByteRange(field: content.range(target.fields), byteCount: content.byteCount), to: content)
        } else {
            send(content, 0..<content.byteCount)
        }
        if target.method == .head { body = .none }
    }

    private mutating func apply(_ range: HTTPByteRange, to content: Content) {
        add("Accept-Ranges", "bytes")
        switch range {
        case .whole:
            send(content, 0..<content.byteCount)
        case .part(let bytes):
            status = .partialContent
            add("Content-Range", "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(content.byteCount)")
            send(content, bytes)
        case .unsatisfiable:
            status = .rangeNotSatisfiable
            fields.removeAll { $0.name == "Content-Type" || $0.name == "Cache-Control" || $0.name == "ETag" }
            add("Cache-Control", CacheControl.noStore.fieldValue)
            add("Content-Range", "bytes */\(content.byteCount)")
            add("Content-Length", "0")
        }
    }

    private mutating func send(_ content: Content, _ bytes: Range<Int>) {
        if let type = content.type { add("Content-Type", type.rawValue) }
        if content.isGzip { add("Content-Encoding", "gzip") }
        if status != .noContent { add("Content-Length", String(bytes.count)) }
        body = content.slice(bytes)
    }

    private mutating func add(_ name: String, _ value: String) {
        fields.append(HeaderField(name: name, value: value))
    }

    private static func commonFields(_ response: Response, _ content: Content, date: String) -> [HeaderField] {
        var fields = [
            HeaderField(name: "Date", value: date),
            HeaderField(name: "Cache-Control", value: response.cacheControl.fieldValue),
            HeaderField(name: "Access-Control-Allow-Origin", value: "*"),
            HeaderField(name: "Access-Control-Expose-Headers", value: CrossOrigin.exposedFields),
        ]
        if let tag = content.etag { fields.append(HeaderField(name: "ETag", value: tag)) }
        if content.variesByCoding { fields.append(HeaderField(name: "Vary", value: "Accept-Encoding")) }
        return fields + response.extraHeaders
    }
}

/// The representation chosen for a request: the body in one of its codings, before a range is cut from it.
private struct Content {
    let type: MimeType?
    let etag: String?
    let isGzip: Bool
    let variesByCoding: Bool
    let byteCount: Int
    private let body: ResponseBody

    init(of response: Response, for fields: RequestTarget.Fields) {
        type = response.contentType
        guard case .bytes(_, gzip: let compressed?) = response.body else {
            (body, isGzip, variesByCoding, etag) = (response.body, false, false, response.etag)
            byteCount = response.body.byteCount
            return
        }
        variesByCoding = true
        // A range counts bytes of the coded representation; who asks for one means the plain text.
        isGzip = fields.range == nil && AcceptEncoding.allowsGzip(fields.acceptEncoding)
        etag = isGzip ? response.etag.map(EntityTag.gzipVariant) : response.etag
        body = isGzip ? .bytes(compressed, gzip: nil) : response.body
        byteCount = body.byteCount
    }

    var isRangeable: Bool {
        if case .empty = body { return false }
        return !isGzip
    }

    func range(_ fields: RequestTarget.Fields) -> String? {
        EntityTag.allowsRange(etag, ifRange: fields.ifRange) ? fields.range : nil
    }

    func slice(_ wanted: Range<Int>) -> ConditionalResponse.Body {
        if wanted.isEmpty { return .none }
        switch body {
        case .empty: return .none
        case .bytes(let bytes, gzip: _): return .bytes(bytes, wanted)
        case .file(let path, let byteCount):
            return .files([.init(file: BodyFile(path: path, byteCount: byteCount), bytes: wanted)])
        case .files(let files): return .files(Self.slices(of: files, wanted))
        }
    }

    /// What of each file falls into `wanted`, which counts from the start of the first.
    private static func slices(of files: [BodyFile], _ wanted: Range<Int>) -> [ConditionalResponse.FileSlice] {
        var start = 0
        var slices: [ConditionalResponse.FileSlice] = []
        for file in files {
            let bytes = wanted.clamped(to: start..<start + file.byteCount)
            if !bytes.isEmpty {
                slices.append(.init(file: file, bytes: bytes.lowerBound - start..<bytes.upperBound - start))
            }
            start += file.byteCount
        }
        return slices
    }
}

extension ResponseBody {
    /// Of the uncompressed body.
    var byteCount: Int {
        switch self {
        case .empty: 0
        case .bytes(let bytes, gzip: _): bytes.count
        case .file(_, let byteCount): byteCount
        case .files(let files): files.reduce(0) { $0 + $1.byteCount }
        }
    }
}
