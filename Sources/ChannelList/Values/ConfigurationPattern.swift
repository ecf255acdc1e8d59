import Support

/// The forms of text values, as regular expressions of JSON Schema. The document of the API contains the same
/// expressions.
package enum ConfigurationPattern: CaseIterable, Sendable {
    case url, source, proxy, account, credential, logo, text, number, shift, duration, shortSpan, byteCount, variant,
        variants, audioTracks, headerName,
        headerValue, cookie, token, slug, store, zone

    package var expression: String {
        switch self {
        case .url: "^https?://\(Self.authority)([/?][!-~]*)?$"
        case .source: "^(https?|udp|rtp)://\(Self.authority)([/?][!-~]*)?$"
        case .account: "^[0-9A-Za-z][0-9A-Za-z._-]*$"
        case .credential: #"^[^\u0000-\u0020\u007f-\u00a0]+$"#
        case .proxy: "^(https?|socks4a?|socks5h?)://\(Self.authority)/?$"
        case .logo: "^(https?://\(Self.authority)([/?][!-~]*)?|data:image/[!-~]+)$"
        case .text: #"^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]+$"#
        case .number: #"^[0-9]{1,6}(\.[0-9]{1,4})?$"#
        case .shift: #"^[+-]?[0-9]{1,2}(\.[0-9]{1,2})?$"#
        case .duration: "^([0-9]{1,7}s?|[0-9]{1,5}m|[0-9]{1,4}h|[0-9]{1,3}d)$"
        case .shortSpan: "^([0-9]|[12][0-9]|30)s?$"
        case .byteCount: "^([1-9][0-9]{0,11}|[1-9][0-9]{0,3}[KkMmGg]([Ii]?[Bb])?)$"
        case .variant: "^(max|min|[1-9][0-9]{0,8}|[1-9][0-9]{0,2}p|[123][0-9]{3}p)$"
        case .variants: "^(all|max|\(Self.height)(,\(Self.height)){0,8})$"
        case .audioTracks: "^(all|default|\(Self.language)(,\(Self.language))*)$"
        case .headerName: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$"
        case .headerValue: "^[!-~]([ -~]*[!-~])?$"
        case .cookie: "^[!-:<>-~]+=[!-:<-~]*(; ?[!-:<>-~]+=[!-:<-~]*)*$"
        case .token: "^[!-~]{16,1024}$"
        case .slug: "^[a-z0-9]+(-[a-z0-9]+)*$"
        case .zone: "^[A-Za-z][0-9A-Za-z_+-]*(/[0-9A-Za-z_+-]+){0,2}$"
        case .store: #"^s3://[a-z0-9.-]{3,63}(/[0-9A-Za-z._~-]+)*/?(\?\#(Self.storeItem)(&\#(Self.storeItem))*)?$"#
        }
    }

    private static let storeItem =
        #"(endpoint=https?://([0-9A-Za-z._-]+|\[(\#(ipv6))\])(:[0-9]{1,5})?|region=[0-9a-z-]{1,64}|style=(path|virtual))"#

    private static let height = "[1-9][0-9]{0,3}p?"
    private static let language = "[A-Za-z]{2,3}(-[0-9A-Za-z]{1,8}){0,3}"

    /// User information, a name or an address, and a port (RFC 3986 §3.2), in ASCII.
    private static let authority =
        #"([!$%&-.0-;=A-Z_a-z~]*@)?([0-9A-Za-z._-]+|\[(\#(ipv6))\])(:[0-9]{1,5})?"#

    /// Addresses of eight groups, or with a row of zeros left out (RFC 4291 §2.2).
    private static let ipv6 =
        (["(\(group):){7}\(group)", "(\(group):){1,7}:"]
        + (1...6).map { "(\(group):){1,\(7 - $0)}(:\(group)){1,\($0)}" } + [":(:\(group)){1,7}", "::"])
        .joined(separator: "|")

    private static let group = "[0-9A-Fa-f]{1,4}"

    /// The longest text, in Unicode scalars.
    package var longest: Int {
        switch self {
        case .url, .source, .proxy, .logo, .headerValue, .cookie, .store: 4096
        case .text, .credential, .audioTracks, .variants: 200
        case .token: 1024
        case .slug, .account: 64
        case .zone: LocalClock.longestName
        case .headerName: 128
        case .number, .shift, .duration, .shortSpan, .byteCount, .variant: 16
        }
    }

    /// The expected form: a noun with its article.
    var expected: String {
        switch self {
        case .url: "a URL that begins with http:// or https://, without spaces and with other characters percent-coded"
        case .source:
            "a URL that begins with http://, https://, udp:// or rtp://, without spaces and with other characters percent-coded"
        case .credential: "a user name or a password without spaces"
        case .account: "the name of an account: letters, digits, dots and dashes"
        case .proxy: "the URL of an HTTP or SOCKS proxy"
        case .logo: "the URL of a picture"
        case .text: "text of 1 to \(longest) characters in one line"
        case .number: "a channel number such as 7 or 5.1"
        case .shift: "a number of hours such as -4.5"
        case .duration: "a duration such as 90, 90s, 15m, 2h or 1d"
        case .shortSpan: "a duration of at most 30s, such as 3s"
        case .byteCount: "a number of bytes such as 4096, 64MiB or 1GiB"
        case .variant: "a variant: max, min, a height such as 720 or a bandwidth in bit/s"
        case .variants: "variants: max, all, or heights such as 1080,720,480"
        case .audioTracks: "all, default, or languages such as en,de"
        case .headerName: "the name of a header"
        case .headerValue: "a header's value: ASCII characters in one line"
        case .cookie: "a list of cookies: name=value; name=value"
        case .token: "a token: 16 to 1024 visible ASCII characters"
        case .store:
            "the place of a store such as s3://bucket/prefix?endpoint=https://host:port&region=eu-west-1&style=path"
        case .zone: "a time zone such as Europe/London"
        case .slug: "a name of a-z, 0-9 and single dashes"
        }
    }

    /// Whether the value itself may be a secret, and is not repeated in messages.
    var isSecret: Bool { [.url, .source, .proxy, .headerValue, .cookie, .token, .credential].contains(self) }
}

/// Matches texts against patterns. Each pattern is compiled once.
struct PatternMatcher {
    private var compiled: [ConfigurationPattern: Regex<AnyRegexOutput>] = [:]

    mutating func matches(_ text: String, _ pattern: ConfigurationPattern) -> Bool {
        let count = text.unicodeScalars.count
        guard count > 0, count <= pattern.longest else { return false }
        let regex = compiled[pattern] ?? (try? Regex(pattern.expression))?.matchingSemantics(.unicodeScalar)
        compiled[pattern] = regex
        guard let regex else { return false }
        return text.wholeMatch(of: regex) != nil
    }
}
