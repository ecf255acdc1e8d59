package import Support

/// Decides which of a channel's headers are sent to which host.
///
/// An ordinary header is sent to all hosts. A credential is sent to the upstream's origin alone: a CDN or presigned
/// storage named by the playlist must not learn it, and often refuses a request with one.
struct RequestHeaders: Equatable, Sendable {
    private let ordinary: [RequestHeader]
    private let credentials: [RequestHeader]
    private let origin: HTTPURL.Origin
    /// User information in the URLs of the upstream and its backups, each valid for the whole origin.
    private let userInfos: [HTTPURL.Origin: HTTPURL.UserInfo]
    /// The first cookies of the cookie jar, one line per cookie in the Netscape format of CURLOPT_COOKIELIST.
    ///
    /// Unlike a header, a cookie jar sends a cookie to its host only and lets the upstream replace its value.
    let cookieLines: [String]

    /// - Parameter backups: URLs of the backups, whose user information is used too.
    /// - Throws: `.other` for a header or cookie with a line break or another invalid character.
    init(
        _ configuration: CurlConfiguration, for upstream: HTTPURL, backups: [HTTPURL] = []
    ) throws(FetchError) {
        let cookies = configuration.headers.filter { $0.isNamed("cookie") }.map(\.value.value)
        let others = configuration.headers.filter { !$0.isNamed("cookie") }
        for header in configuration.headers where !header.fitsOneLine {
            throw FetchError(.other, url: upstream.text, message: "header \(header.name) does not fit one line")
        }
        origin = upstream.origin
        userInfos = Dictionary(
            ([upstream] + backups).compactMap { url in url.userInfo.map { (url.origin, $0) } },
            uniquingKeysWith: { first, _ in first })
        credentials = others.filter(\.isCredential)
        ordinary = others.filter { !$0.isCredential }
        let pairs = (cookies + [configuration.cookie?.value ?? ""]).flatMap { $0.split(separator: ";") }
        var lines: [String] = []
        for pair in pairs.map(\.trimmingBlanks) where !pair.isEmpty {
            lines.append(try Self.cookieLine(pair, for: upstream))
        }
        cookieLines = lines
    }

    /// Returns the header lines for a URL in the order configured, in the format of CURLOPT_HTTPHEADER.
    func lines(for url: HTTPURL) -> [String] {
        let allowed = url.origin == origin ? ordinary + credentials : ordinary
        return allowed.map { $0.value.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value.value)" }
    }

    /// Whether the headers for a URL may be sent wherever a redirect leads.
    ///
    /// libcurl drops only Authorization if a redirect leaves the first host, port or scheme.
    func mayFollowRedirects(from url: HTTPURL) -> Bool {
        url.origin != origin || credentials.allSatisfy { $0.isNamed("authorization") }
    }

    /// Returns the user information of a URL, or else the user information configured for its origin.
    func userInfo(for url: HTTPURL) -> HTTPURL.UserInfo? { url.userInfo ?? userInfos[url.origin] }

    /// Returns a session cookie for exactly this host, restricted to TLS if the upstream uses TLS.
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

extension CurlConfiguration {
    /// The configuration without the headers and cookies that are sent only to an upstream's own origin.
    package var withoutCredentials: CurlConfiguration {
        var configuration = self
        configuration.headers.removeAll { $0.isCredential || $0.isNamed("cookie") }
        configuration.cookie = nil
        return configuration
    }
}

extension RequestHeader {
    fileprivate func isNamed(_ name: String) -> Bool { self.name.lowercased() == name }

    fileprivate var isCredential: Bool { Self.credentials.contains(name.lowercased()) }

    /// Names of credentials. Any other header may be required on all hosts of an upstream.
    private static let credentials: Set = [
        "authorization", "proxy-authorization", "x-api-key", "api-key", "apikey", "x-auth-token", "x-access-token",
    ]

    fileprivate var fitsOneLine: Bool {
        let breaks: Set<Unicode.Scalar> = ["\r", "\n", "\0"]
        return !name.isEmpty && !name.contains { $0 == ":" || $0.isWhitespace }
            && !(name + value.value).unicodeScalars.contains { breaks.contains($0) }
    }
}

/// A header of every request of a channel. Its value may be a token that no log shows.
package struct RequestHeader: Hashable, Sendable {
    package let name: String
    package let value: Secret

    package init(name: String, value: Secret) {
        self.name = name
        self.value = value
    }
}
