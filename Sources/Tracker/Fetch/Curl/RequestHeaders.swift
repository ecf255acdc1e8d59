import Playlist

/// Which of a channel's headers go to which host.
///
/// An ordinary header goes everywhere. A credential was given for the upstream and goes to that origin alone: a CDN
/// or presigned storage named by the playlist must not learn it, and often refuses a request that shows one.
struct RequestHeaders: Equatable, Sendable {
    private let everywhere: [FetchAnswer.Header]
    private let credentials: [FetchAnswer.Header]
    private let origin: HTTPURL.Origin
    /// User information of the upstream's address, and of those that stand in for it: a password that was given with one
    /// address is for all of its origin.
    private let userInfos: [HTTPURL.Origin: HTTPURL.UserInfo]
    /// What the cookie jar starts with, one line per cookie in the Netscape format that CURLOPT_COOKIELIST takes. The
    /// jar and not a header, because a jar keeps to the host and lets the upstream replace a value.
    let cookieLines: [String]

    /// - Parameter backups: stand in for the upstream; of their addresses too.
    /// - Throws: `.other` for a header or cookie that would break the request apart.
    init(
        _ configuration: CurlConfiguration, for upstream: HTTPURL, backups: [HTTPURL] = []
    ) throws(FetchError) {
        let cookies = configuration.headers.filter { $0.isNamed("cookie") }.map(\.value)
        let others = configuration.headers.filter { !$0.isNamed("cookie") }
        for header in configuration.headers where !header.fitsOneLine {
            throw FetchError(.other, url: upstream.text, message: "header \(header.name) does not fit one line")
        }
        origin = upstream.origin
        userInfos = Dictionary(
            ([upstream] + backups).compactMap { address in address.userInfo.map { (address.origin, $0) } },
            uniquingKeysWith: { first, _ in first })
        credentials = others.filter(\.isCredential)
        everywhere = others.filter { !$0.isCredential }
        let pairs = (cookies + [configuration.cookie ?? ""]).flatMap { $0.split(separator: ";") }
        var lines: [String] = []
        for pair in pairs.map(\.trimmingBlanks) where !pair.isEmpty {
            lines.append(try Self.cookieLine(pair, for: upstream))
        }
        cookieLines = lines
    }

    /// In the order given, as CURLOPT_HTTPHEADER takes them.
    func lines(for address: HTTPURL) -> [String] {
        let allowed = address.origin == origin ? everywhere + credentials : everywhere
        return allowed.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
    }

    /// Whether what is asked there may be asked wherever a redirect leads: libcurl itself drops Authorization when one leaves
    /// the first host, port or scheme, and nothing else.
    func mayFollowRedirects(from address: HTTPURL) -> Bool {
        address.origin != origin || credentials.allSatisfy { $0.isNamed("authorization") }
    }

    /// Whose an address is: its own, or else the origin's. nil when nobody was named.
    func login(for address: HTTPURL) -> HTTPURL.UserInfo? { address.userInfo ?? userInfos[address.origin] }

    /// For exactly this host, until the process ends, and over TLS only if the upstream itself is.
    private static func cookieLine(_ pair: Substring, for upstream: HTTPURL) throws(FetchError) -> String {
        let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, !pair.contains(where: { $0 == "\t" || $0.isNewline }) else {
            throw FetchError(.other, url: upstream.text, message: "a cookie is not name=value")
        }
        let secure = upstream.origin.scheme == "https" ? "TRUE" : "FALSE"
        return [upstream.origin.host, "FALSE", "/", secure, "0", String(parts[0]), String(parts[1])]
            .joined(separator: "\t")
    }
}

extension FetchAnswer.Header {
    fileprivate func isNamed(_ name: String) -> Bool { self.name.lowercased() == name }

    fileprivate var isCredential: Bool { Self.credentials.contains(name.lowercased()) }

    /// Names that say so. Whatever else an upstream wants to see, it may want to see on all of its hosts.
    private static let credentials: Set = [
        "authorization", "proxy-authorization", "x-api-key", "api-key", "apikey", "x-auth-token", "x-access-token",
    ]

    fileprivate var fitsOneLine: Bool {
        let breaks: Set<Unicode.Scalar> = ["\r", "\n", "\0"]
        return !name.isEmpty && !name.contains { $0 == ":" || $0.isWhitespace }
            && !(name + value).unicodeScalars.contains { breaks.contains($0) }
    }
}
