import Support

/// The headers and the proxy for the requests of a source, in whatever spelling a list gives them. A later header
/// replaces an earlier one with the same name.
package struct RequestOptions: Equatable {
    private(set) var headers: [ListedHeader] = []
    var proxy: String?
    var isInsecure: Bool?

    init() {}

    init(_ source: ListedSource) {
        (headers, proxy, isInsecure) = (source.headers, source.proxy, source.isInsecure ? true : nil)
    }

    /// Sets a header. Quotes around the value are removed.
    /// - Returns: false for a header that cannot be sent, or that only the client itself may set.
    mutating func set(_ name: some StringProtocol, to value: some StringProtocol) -> Bool {
        setUnquoted(String(name.trimmingWhiteSpace), to: String(value.removingQuotes))
    }

    /// - Returns: the issue if the option cannot be set.
    mutating func set(_ pair: HeaderPairs.Pair) -> ListIssue.Kind? {
        switch pair {
        case .header(let name, let value): set(name, to: value) ? nil : .malformedHeader(String(name.prefix(40)))
        case .option(let name): .unknownOption(name)
        case .malformed(let text): .malformedHeader(String(text.prefix(40)))
        }
    }

    /// Sets a header whose value is sent as it is.
    /// - Returns: as `set`.
    mutating func setUnquoted(_ name: String, to value: String) -> Bool {
        let name = Self.usualName(name)
        guard name.utf8.count <= Self.longestName, value.utf8.count <= Self.longestValue else { return false }
        guard !name.isEmpty, name.utf8.allSatisfy(Self.isTokenByte), !Self.refused.contains(name.lowercased()) else {
            return false
        }
        guard !value.isEmpty, !value.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 }) else {
            return false
        }
        headers.removeAll { $0.name.lowercased() == name.lowercased() }
        guard headers.count < Self.mostHeaders else { return false }
        headers.append(ListedHeader(name: name, value: value))
        return true
    }

    private static let longestName = 128
    private static let longestValue = 4096
    private static let mostHeaders = 64

    /// These options, with `defaults` for the missing ones.
    func filled(from defaults: RequestOptions) -> RequestOptions {
        var options = defaults
        for header in headers { _ = options.set(header.name, to: header.value) }
        options.proxy = proxy ?? defaults.proxy
        options.isInsecure = isInsecure ?? defaults.isInsecure
        return options
    }

    /// The usual spelling of `name`, or of a variant of it that lists contain.
    static func usualName(_ name: String) -> String { usualNames[name.lowercased()] ?? name }

    private static let usualNames = [
        "user-agent": "User-Agent", "useragent": "User-Agent", "user_agent": "User-Agent", "ua": "User-Agent",
        "referer": "Referer", "referrer": "Referer", "origin": "Origin", "cookie": "Cookie", "cookies": "Cookie",
        "authorization": "Authorization", "accept": "Accept", "accept-language": "Accept-Language",
        "x-forwarded-for": "X-Forwarded-For",
    ]

    /// Headers about the client's own connection and requests.
    private static let refused: Set = [
        "accept-encoding", "connection", "content-length", "expect", "if-match", "if-none-match", "if-range",
        "keep-alive", "range", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    /// The names of those headers, in either case, as a regular expression of JSON Schema.
    package static let refusedPattern: String = {
        let names = refused.sorted().map { name in
            name.map { $0.isLetter ? "[\($0.uppercased())\($0)]" : String($0) }.joined()
        }
        return "^(" + names.joined(separator: "|") + ")$"
    }()

    /// RFC 9110 §5.6.2.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}

extension M3UChannelList {
    /// Withholds the operator's credentials from the hosts that a fetched list names, except from the list's own host.
    package mutating func withholdCredentials(outside url: String) {
        for channel in channels.indices {
            for source in channels[channel].sources.indices {
                let named = channels[channel].sources[source].url
                let isDowngrade = URIReference.scheme(of: url) == "https" && URIReference.scheme(of: named) == "http"
                let isOwn = URIReference.host(of: named) == URIReference.host(of: url) && !isDowngrade
                channels[channel].sources[source].withholdsCredentials = !isOwn
            }
        }
    }
}
