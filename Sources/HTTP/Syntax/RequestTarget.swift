import Support

/// The decoded target of a request, and the header fields that affect the response.
package struct RequestTarget: Equatable, Sendable {
    package enum Method: Equatable, Sendable {
        case get, head, options
        case other(String)
    }

    package struct QueryItem: Equatable, Sendable {
        package let name: String
        package let value: String
    }

    /// Header fields (RFC 9110); nil if absent, several of one name joined by commas (§5.3).
    package struct Fields: Equatable, Sendable {
        package var range: String?
        var ifRange: String?
        var ifNoneMatch: String?
        package var acceptEncoding: String?
        var host: String?
        package var accept: String?
        package var authorization: String?
        package var contentType: String?
        var ifModifiedSince: String?
        /// The last event that a client of Server-Sent Events has received (HTML §9.2.4).
        package var lastEventID: String?
        package var userAgent: String?
        package var forwarding = Forwarding()
        /// The proof with which a node of a fleet asks for a viewer. The server verifies it before it answers.
        package var node: String?
        /// The IP address that the connection comes from.
        package var peer: String?
    }

    /// The fields in which proxies state where a request came from. The client may have written them itself.
    package struct Forwarding: Equatable, Sendable {
        /// `Forwarded` (RFC 7239).
        package var forwarded: String?
        /// `X-Forwarded-For`, and so on.
        package var addresses: String?
        var scheme: String?
        var host: String?
        var port: String?
        var prefix: String?
    }

    /// The reason why the server answers a target with 400.
    package enum Malformed: Error, Equatable {
        /// Neither `/path` nor `http://host/path` (RFC 9112 §3.2).
        case form
        /// A percent sign without two hex digits, or bytes that are not UTF-8.
        case encoding
        /// A `.` or `..` segment, an encoded `/`, or a control character: no client resolves a URL to such a path.
        case path
    }

    package let method: Method
    /// Decoded path; starts with `/`; safe to append to a directory's path.
    package let path: String
    /// Decoded items in order. `+` is no space, because it is part of an ISO 8601 time zone.
    package let query: [QueryItem]
    package let fields: Fields
    /// The sender. The server determines it before it answers.
    package var viewer = Viewer.unrestricted
    /// Whether a node of the same fleet sent the request, and proved it.
    package private(set) var isFromNode = false
    /// The path from the URL that the client knows to the folder of `path`; empty, or with a slash at its end. Relative
    /// URIs in the answer begin with it.
    package private(set) var folder = ""
    /// The path from the URL that the client knows to the root; nil if `path` is the path of that URL.
    package private(set) var ascent: String?
}

extension RequestTarget {
    /// The same request, to be answered like a request for another path.
    package func at(_ path: String) -> RequestTarget {
        var target = RequestTarget(method: method, path: path, query: query, fields: fields)
        (target.viewer, target.isFromNode) = (viewer, isFromNode)
        // The request may already be answered for another path than its own URL's.
        let ascent = ascent ?? String(repeating: "../", count: self.path.utf8.count { $0 == UInt8(ascii: "/") } - 1)
        target.ascent = ascent
        let end = path.lastIndex(of: "/") ?? path.startIndex
        target.folder = ascent + path[...end].dropFirst()
        return target
    }

    /// The request of a node, with the fields of the client for which it asks.
    func asked(with fields: Fields) -> RequestTarget {
        var target = RequestTarget(method: method, path: path, query: query, fields: fields)
        target.isFromNode = true
        return target
    }

    /// The query as a URL has it, with its question mark; empty without a query.
    package var encodedQuery: String {
        let items = query.map { "\(PercentEncoding.encode($0.name))=\(PercentEncoding.encode($0.value))" }
        return items.isEmpty ? "" : "?" + items.joined(separator: "&")
    }

    /// The path and the query as a request line has them.
    package var encoded: String {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        return segments.map { PercentEncoding.encode(String($0)) }.joined(separator: "/") + encodedQuery
    }

    /// A request for the root without a field, to which no condition and no range applies.
    package static func bare(_ method: Method) -> RequestTarget {
        RequestTarget(method: method, path: "/", query: [], fields: Fields())
    }

    /// - Parameter uri: the request-target of the request line, as received (RFC 9112 §3.2).
    package init(method: Method, uri: String, fields: Fields = Fields()) throws(Malformed) {
        self.method = method
        self.fields = fields
        if method == .options && uri == "*" {
            (path, query) = ("/", [])
            return
        }
        let origin = try Self.originForm(uri)
        let end = origin.utf8.firstIndex(of: UInt8(ascii: "?")) ?? origin.endIndex
        path = try Self.decodedPath(origin[..<end])
        query = end == origin.endIndex ? [] : try Self.decodedQuery(origin[origin.utf8.index(after: end)...])
    }

    /// The path and query. A client behind a proxy may send the absolute form, which begins with scheme and host.
    private static func originForm(_ uri: String) throws(Malformed) -> Substring {
        if uri.utf8.first == UInt8(ascii: "/") { return uri[...] }
        let scheme = uri.prefix(8).lowercased()
        guard scheme.hasPrefix("http://") || scheme == "https://" else { throw .form }
        let authority = uri.dropFirst(scheme == "https://" ? 8 : 7)
        guard let slash = authority.firstIndex(of: "/") else { return "/" }
        return authority[slash...]
    }

    private static func decodedPath(_ text: Substring) throws(Malformed) -> String {
        for segment in text.utf8.split(separator: UInt8(ascii: "/")) {
            let decoded = try percentDecoded(Substring(segment))
            let isUnsafe = decoded.utf8.contains { $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "/") }
            guard decoded != ".", decoded != "..", !isUnsafe else { throw .path }
        }
        return try percentDecoded(text)
    }

    private static func decodedQuery(_ text: Substring) throws(Malformed) -> [QueryItem] {
        var items: [QueryItem] = []
        for pair in text.split(separator: "&") {
            let end = pair.firstIndex(of: "=") ?? pair.endIndex
            let name = try percentDecoded(pair[..<end])
            let value = end == pair.endIndex ? "" : try percentDecoded(pair[pair.index(after: end)...])
            items.append(QueryItem(name: name, value: value))
        }
        return items
    }

    private static func percentDecoded(_ text: Substring) throws(Malformed) -> String {
        guard let decoded = PercentEncoding.decode(text) else { throw .encoding }
        return decoded
    }
}

extension RequestTarget.Fields {
    /// Whether the client accepts gzip. A range would count bytes of the compressed form, but clients with a Range
    /// field mean uncompressed bytes.
    package var allowsGzip: Bool { range == nil && AcceptField.allowsGzip(acceptEncoding) }

    /// Whether the client asks for the whole answer, whatever it knows of it.
    package var asksForAll: Bool { range == nil && ifNoneMatch == nil && ifModifiedSince == nil }

    /// Reads the fields of a request in one pass.
    /// - Parameter peer: the IP address that the connection comes from.
    package init(_ headers: some Sequence<(name: String, value: String)>, peer: String? = nil) {
        self.init()
        self.peer = peer
        for (name, value) in headers { add(value, to: name.lowercased()) }
    }

    /// - Parameter name: in lower case.
    private mutating func add(_ value: String, to name: String) {
        func add(_ field: inout String?) { if field?.append(", " + value) == nil { field = value } }
        switch name {
        case "range": add(&range)
        case "if-range": add(&ifRange)
        case "if-none-match": add(&ifNoneMatch)
        case "if-modified-since": add(&ifModifiedSince)
        case "accept-encoding": add(&acceptEncoding)
        case "accept": add(&accept)
        case "host": add(&host)
        case "authorization": add(&authorization)
        case "content-type": add(&contentType)
        case "last-event-id": add(&lastEventID)
        case "user-agent": add(&userAgent)
        case "forwarded": add(&forwarding.forwarded)
        case "x-forwarded-for": add(&forwarding.addresses)
        case "x-forwarded-proto": add(&forwarding.scheme)
        case "x-forwarded-host": add(&forwarding.host)
        case "x-forwarded-port": add(&forwarding.port)
        case "x-forwarded-prefix": add(&forwarding.prefix)
        case "x-liverelay-node": add(&node)
        default: break
        }
    }
}
