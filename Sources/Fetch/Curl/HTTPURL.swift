import CCurl
import Support

/// An absolute http or https URL.
///
/// libcurl's own parser reads it, so that the URL that was checked is the one that is requested.
struct HTTPURL: Hashable, Sendable {
    /// The origin of a URL, to which credentials belong (RFC 6454 §4).
    struct Origin: Hashable, Sendable {
        /// "http" or "https".
        let scheme: String
        /// Lowercase, without brackets or user name.
        let host: String
        let port: String
    }

    /// User information (RFC 3986 §3.2.1), percent-decoded.
    struct UserInfo: Hashable, Sendable {
        let user: String
        let password: Secret
    }

    /// The URL to request, without user information.
    ///
    /// Spaces and other bytes that a request line may not hold are percent-encoded. Dot segments are kept.
    let text: String
    let origin: Origin
    let userInfo: UserInfo?

    /// - Throws: `.unsupportedScheme` for a scheme other than http and https, `.other` for an invalid URL.
    init(_ text: String) throws(FetchError) {
        // Checked first, because libcurl cannot parse some URLs with another scheme (data:, javascript:).
        guard ["http", "https", nil].contains(URIReference.scheme(of: text)) else { throw Self.unsupportedScheme(text) }
        let parts = try ParsedURL(text)
        let decoded = UInt32(CURLU_URLDECODE)
        let password = parts.text(of: CURLUPART_PASSWORD, decoded) ?? ""
        userInfo = parts.text(of: CURLUPART_USER, decoded).map { UserInfo(user: $0, password: Secret(password)) }
        parts.removeUserInformation()
        guard let scheme = parts.text(of: CURLUPART_SCHEME)?.lowercased(), ["http", "https"].contains(scheme) else {
            throw Self.unsupportedScheme(text)
        }
        guard let host = parts.text(of: CURLUPART_HOST),
            let port = parts.text(of: CURLUPART_PORT, UInt32(CURLU_DEFAULT_PORT)),
            let url = parts.text(of: CURLUPART_URL)
        else { throw FetchError(.other, url: text, message: "URL has no host") }
        self.text = url
        origin = Origin(scheme: scheme, host: host.lowercased(), port: port)
    }

    private static func unsupportedScheme(_ text: String) -> FetchError {
        FetchError(.unsupportedScheme, url: text, message: "only http and https are fetched")
    }
}

/// Owns a URL as parsed by libcurl.
@safe
private struct ParsedURL: ~Copyable {
    private let parts: OpaquePointer

    init(_ text: String) throws(FetchError) {
        guard let parts = unsafe curl_url() else { throw FetchError(.other, url: text, message: "out of memory") }
        let flags = CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE | CURLU_ALLOW_SPACE | CURLU_PATH_AS_IS
        let code = unsafe curl_url_set(parts, CURLUPART_URL, text, UInt32(flags))
        guard code == CURLUE_OK else {
            let message = unsafe String(cString: curl_url_strerror(code))
            unsafe curl_url_cleanup(parts)
            throw FetchError(.other, url: text, message: message)
        }
        unsafe self.parts = parts
    }

    deinit { unsafe curl_url_cleanup(parts) }

    func removeUserInformation() {
        for part in [CURLUPART_USER, CURLUPART_PASSWORD] { _ = unsafe curl_url_set(parts, part, nil, 0) }
    }

    func text(of part: CURLUPart, _ flags: UInt32 = 0) -> String? {
        var found: UnsafeMutablePointer<CChar>?
        guard unsafe curl_url_get(parts, part, &found, flags) == CURLUE_OK,
            let text = unsafe found
        else { return nil }
        defer { unsafe curl_free(text) }
        return unsafe String(cString: text)
    }
}
