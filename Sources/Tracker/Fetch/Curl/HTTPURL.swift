import CCurl
import Playlist

/// An absolute http or https address, read by the very parser that will connect to it: what was judged is what is asked.
struct HTTPURL: Hashable, Sendable {
    /// Whom a credential is for (RFC 6454 §4).
    struct Origin: Hashable, Sendable {
        /// "http" or "https".
        let scheme: String
        /// Lowercase, without brackets or user name.
        let host: String
        let port: String
    }

    /// User information (RFC 3986 §3.2.1), nothing percent-encoded any more.
    struct UserInfo: Hashable, Sendable {
        let user: String
        let password: String
    }

    /// As it is to be asked, without user information: blanks and other bytes that no request line may hold are
    /// percent-encoded, dot segments kept.
    let text: String
    let origin: Origin
    /// What stood before the host; nil when nothing did.
    let userInfo: UserInfo?

    /// - Throws: `.unsupportedScheme` for anything but http and https, `.other` for what is no address.
    init(_ text: String) throws(FetchError) {
        // Said of every address with another scheme, also of those that libcurl cannot take apart (data:, javascript:).
        guard ["http", "https", nil].contains(URIReference.scheme(of: text)) else { throw Self.unsupportedScheme(text) }
        let parts = try ParsedURL(text)
        let decoded = UInt32(CURLU_URLDECODE)
        let password = parts.text(of: CURLUPART_PASSWORD, decoded) ?? ""
        userInfo = parts.text(of: CURLUPART_USER, decoded).map { UserInfo(user: $0, password: password) }
        parts.removeUserInformation()
        guard let scheme = parts.text(of: CURLUPART_SCHEME)?.lowercased(), ["http", "https"].contains(scheme) else {
            throw Self.unsupportedScheme(text)
        }
        guard let host = parts.text(of: CURLUPART_HOST),
            let port = parts.text(of: CURLUPART_PORT, UInt32(CURLU_DEFAULT_PORT)),
            let whole = parts.text(of: CURLUPART_URL)
        else { throw FetchError(.other, url: text, message: "no host in the address") }
        self.text = whole
        origin = Origin(scheme: scheme, host: host.lowercased(), port: port)
    }

    private static func unsupportedScheme(_ text: String) -> FetchError {
        FetchError(.unsupportedScheme, url: text, message: "only http and https are fetched")
    }
}

/// Owner of libcurl's parsed address.
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
