import Fetch
import Playlist
import Support

/// Removes secrets from the URLs, headers and playlists of a capture.
///
/// User information in a URL is a password and is always removed. The index and the playlists are redacted alike: URLs
/// that named one resource still name one resource, and URLs that named two still name two.
package struct CaptureRedactor: Sendable {
    package struct Options: Equatable, Sendable {
        /// Remove queries; further queries at the same path become `?2`, `?3` and so on.
        var queries: Bool
        /// Remove all headers except those that a client's behavior depends on.
        var headers: Bool
        /// Replace hosts by `host-1.example`, `host-2.example` and so on, in order of appearance.
        var hosts: Bool

        package init(queries: Bool = false, headers: Bool = false, hosts: Bool = false) {
            self.queries = queries
            self.headers = headers
            self.hosts = hosts
        }

        package static let none = Options()
    }

    private let options: Options
    /// Numbers of authorities.
    private var hosts = TextNumbering(limit: 4096)
    /// Numbers of the queries of each URL, by checksum of the URL without its query.
    private var queries = RecentCache<TextNumbering>(limit: 4096)
    /// Variables of the most recent multivariant playlist.
    private var variables: [VariableDefinition] = []

    init(_ options: Options = .none) { self.options = options }

    mutating func redact(url: String) -> String {
        var result = url
        if let authority = URIReference.authority(of: url) {
            let host = authority.split(separator: "@", omittingEmptySubsequences: false).last.map(String.init) ?? ""
            result = URIReference.replacingAuthority(of: result, by: options.hosts ? name(of: host) : host)
        }
        guard options.queries else { return result }
        let number = number(of: URIReference.query(of: url), at: URIReference.withoutQuery(url))
        return URIReference.replacingQuery(of: result, by: number == 1 ? nil : String(number))
    }

    /// The redacted form of a body, which changes only if the body is a playlist.
    /// - Parameters:
    ///   - body: the body of a successful answer.
    ///   - base: the URL against which its relative references resolve.
    mutating func redact(body: [UInt8], base: String) -> [UInt8] {
        var redactor = self
        let (bytes, defined) = PlaylistURIRewriter.rewrite(
            body, url: base, imported: variables, redactsText: options.queries || options.hosts
        ) { redactor.redact(reference: $0, base: base) }
        self = redactor
        if body.namesVariants { variables = defined }
        return bytes
    }

    /// Removes header fields about the transfer, cookies, and the fields that the options name.
    /// - Parameter isFile: whether the body is a media file or its beginning, which is recognized by the size in its
    ///   headers.
    func redact(headers: [FetchAnswer.Header], isFile: Bool = false) -> [FetchAnswer.Header] {
        headers.filter { header in
            let name = header.name.lowercased()
            if isFile, name == "content-length" { return true }
            if Self.droppedHeaders.contains(name) || options.headers && !Self.semanticHeaders.contains(name) {
                return false
            }
            return !(options.queries && header.value.contains("?") || options.hosts && header.value.contains("//"))
        }
    }

    /// Whether the bodies of error answers are removed, because they may repeat the requested URL.
    var dropsErrorBodies: Bool { options != .none }

    private static let droppedHeaders: Set = [
        "connection", "content-encoding", "content-length", "keep-alive", "set-cookie", "set-cookie2",
        "transfer-encoding",
    ]
    private static let semanticHeaders: Set = ["accept-ranges", "content-range", "content-type", "retry-after"]

    private mutating func redact(reference: String, base: String) -> String {
        let target = URIReference.resolve(reference, against: base)
        let redacted = redact(url: target)
        if redacted == target { return reference }
        // A relative reference stays relative: the URL of its playlist was redacted in the same way.
        let isRelative = URIReference.authority(of: reference) == nil && !URIReference.withoutQuery(reference).isEmpty
        guard isRelative, URIReference.scheme(of: reference) == nil else { return redacted }
        return options.queries
            ? URIReference.replacingQuery(of: reference, by: URIReference.query(of: redacted)) : reference
    }

    private mutating func name(of host: String) -> String { "host-\(hosts.number(of: host)).example" }

    /// 1 for the first query seen at a URL, 2 for the next; an absent query counts as a query.
    private mutating func number(of query: String?, at url: String) -> Int {
        var known = queries[url.checksum] ?? TextNumbering(limit: 64)
        // "#" cannot occur in a query, so it distinguishes an absent query from an empty one.
        let number = known.number(of: query ?? "#")
        queries[url.checksum] = known
        return number
    }
}

/// Numbers texts from 1, in order of first appearance.
///
/// A text that was not used recently gets a new number when it returns: a token that changes with every request must
/// not occupy memory forever.
private struct TextNumbering: Sendable {
    private var known: RecentCache<Int>
    private var last = 0

    init(limit: Int) { known = RecentCache(limit: limit) }

    mutating func number(of text: String) -> Int {
        let key = text.checksum
        if let number = known[key] { return number }
        last += 1
        known[key] = last
        return last
    }
}

extension [UInt8] {
    /// Whether the body contains an EXT-X-STREAM-INF tag, as a multivariant playlist does.
    fileprivate var namesVariants: Bool {
        PlaylistLines(self).contains { line in
            if case .tag(.streamInf, _) = line.content { true } else { false }
        }
    }
}

/// A cache of the most recently used values: at least `limit` of them, and at most twice as many.
struct RecentCache<Value: Sendable>: Sendable {
    let limit: Int
    private var young: [UInt64: Value] = [:]
    private var old: [UInt64: Value] = [:]

    init(limit: Int) { self.limit = limit }

    /// The value for a key; reading and writing both count as use.
    subscript(key: UInt64) -> Value? {
        mutating get {
            if let value = young[key] { return value }
            guard let value = old[key] else { return nil }
            self[key] = value
            return value
        }
        set {
            if young.count >= limit, young[key] == nil {
                old = young
                young = [:]
            }
            young[key] = newValue
        }
    }
}

extension Sequence<UInt8> {
    /// The 64-bit FNV-1a hash; collisions are possible, so compare the bytes where it matters.
    var checksum: UInt64 { reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 } }
}

extension String {
    var checksum: UInt64 { utf8.checksum }
}
