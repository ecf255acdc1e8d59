/// A URI reference without its secrets: the only place that says what is secret in a URI.
///
/// | secret | in |
/// |---|---|
/// | user information (RFC 3986 §3.2.1) | the authority of any scheme; also after a third slash, and without a scheme |
/// | values of a query, and names that look like a token | `?token=…` |
/// | the fragment, and headers after a vertical bar | `#…`, `\|Cookie=…` |
/// | the account of Xtream Codes | `/live/USER/PASSWORD/ID`, `/USER/PASSWORD/ID`, `/timeshift/…`, `/hlsr/…` below any path |
/// | the component after a name of secrets, and values of such names | `/token/…`, `;sid=…`, `hdntl=…` |
/// | a component that looks like a token | `eyJ….….…`, 32 hexadecimal digits, letters mixed with digits |
/// | the key of a stream, of a `data:` URI, of a `skd:` URI | `rtmp://host/app/KEY` |
///
/// A URI inside another URI is redacted too. A short secret in an unusual place cannot be recognized, and stays.
package struct URIRedaction: Equatable, Sendable {
    /// The reference with "…" in the place of each secret, and without its user information, fragment and headers.
    /// Redacting it again changes nothing.
    package private(set) var text = ""
    /// The secrets as written in the reference, in their order. No secret is empty.
    package private(set) var secrets: [String] = []
    /// The secrets that are user information or an account.
    package private(set) var credentials: [String] = []

    package init(_ reference: some StringProtocol) {
        // Each URI inside another one adds a colon. A deeper nesting than any real one is hidden as a whole.
        let whole = Substring(reference)
        let colons = whole.indices.lazy.filter { whole[$0] == ":" }
        let end = colons.dropFirst(Self.mostColons).first ?? whole.endIndex
        append(reference: whole[..<end])
        hide(whole[end...])
    }

    /// The most colons in a reference that is parsed: two IPv6 addresses with ports, in a URI in a URI, have 22.
    private static let mostColons = 24

    // MARK: - Writing

    private mutating func keep(_ part: some StringProtocol) { text += part }

    private mutating func hide(_ part: Substring) {
        guard !part.isEmpty else { return }
        remove(part)
        text += Self.mark
    }

    /// Records a secret and writes nothing in its place.
    private mutating func remove(_ part: Substring) {
        if !part.isEmpty, part != Self.mark { secrets.append(String(part)) }
    }

    /// Records user information and writes nothing in its place.
    private mutating func remove(userInfo: Substring) {
        credentials.append(String(userInfo))
        remove(userInfo)
    }

    private static let mark = "…"

    // MARK: - The parts of a reference

    private mutating func append(reference: Substring) {
        var rest = reference
        // Lists write headers after a URL; librtmp reads parameters after a space.
        let headers = Self.cut("|", off: &rest)
        let fragment = Self.cut("#", off: &rest)
        let query = Self.cut("?", off: &rest)
        appendBody(rest)
        if let query { append(query: query) }
        if let fragment { remove(fragment) }
        if let headers {
            keep("|")
            hide(headers)
        }
    }

    private static func cut(_ delimiter: Character, off rest: inout Substring) -> Substring? {
        guard let index = rest.firstIndex(of: delimiter) else { return nil }
        defer { rest = rest[..<index] }
        return rest[rest.index(after: index)...]
    }

    /// The reference up to its query.
    private mutating func appendBody(_ body: Substring) {
        let components = URIReference.Components(String(body))
        let scheme = components.scheme?.lowercased()
        let path = Substring(components.path)
        if let scheme, Self.opaqueSchemes.contains(scheme) {
            keep("\(body.prefix { $0 != ":" }):")
            return hide(body.drop { $0 != ":" }.dropFirst())
        }
        if let authority = components.authority {
            if let scheme = components.scheme { keep("\(scheme):") }
            keep("//")
            return append(authority: Substring(authority), path: path, scheme: scheme)
        }
        if let at = path.prefix(while: { $0 != "/" }).lastIndex(of: "@") {
            // In "user:secret@host/…" the scheme is missing, and "user" is not a scheme.
            let name = components.scheme.map { "\($0):" } ?? ""
            remove(userInfo: Substring("\(name)\(path[..<at])"))
            return append(path: path[path.index(after: at)...], isBelowHost: true)
        }
        if let name = components.scheme {
            keep("\(name):")
            // "host:8080/…" without a scheme, or a URI in a URI, such as that of a blob.
            let isHost = path.first.map { $0.isASCII && $0.isNumber } ?? false
            if !isHost, path.contains("://") { return append(reference: path) }
            return append(path: path, isBelowHost: isHost)
        }
        append(path: path, isBelowHost: path.hasPrefix("/"))
    }

    /// Schemes whose URIs have no components, or are a key as a whole.
    private static let opaqueSchemes: Set = ["data", "skd", "urn", "javascript", "magnet"]

    private mutating func append(authority: Substring, path: Substring, scheme: String?) {
        if let at = authority.lastIndex(of: "@") {
            remove(userInfo: authority[..<at])
            keep(authority[authority.index(after: at)...])
        } else if authority.isEmpty {
            // libcurl reads past the third slash of "http:///user:secret@host/…".
            let slashes = path.prefix { $0 == "/" }
            let rest = path[slashes.endIndex...]
            guard let at = rest.prefix(while: { $0 != "/" }).lastIndex(of: "@") else {
                return append(path: path, isBelowHost: true)
            }
            remove(userInfo: rest[..<at])
            keep(slashes)
            return append(path: rest[rest.index(after: at)...], isBelowHost: true)
        } else if !Self.hasPlainPort(authority) {
            // A password with a slash or a question mark in it ends the authority too early.
            guard let at = path.lastIndex(of: "@") else { return hide(authority + path) }
            remove(userInfo: authority + path[..<at])
            return append(path: path[path.index(after: at)...], isBelowHost: true)
        } else {
            keep(authority)
        }
        append(path: path, isBelowHost: true, isStreamKeyLast: scheme?.hasPrefix("rtmp") ?? false)
    }

    /// Whether only digits follow the colon after the host.
    private static func hasPlainPort(_ authority: Substring) -> Bool {
        let host = authority.hasPrefix("[") ? authority.drop { $0 != "]" } : authority
        guard let colon = host.firstIndex(of: ":") else { return true }
        return host[host.index(after: colon)...].allSatisfy { $0.isASCII && $0.isNumber }
    }

    // MARK: - The query

    /// The query as `token=…&id=…`. A parameter without "=" is hidden, because it may be a secret.
    private mutating func append(query: Substring) {
        keep("?")
        for (index, pair) in query.split(separator: "&", omittingEmptySubsequences: false).enumerated() {
            if index > 0 { keep("&") }
            guard let equals = pair.firstIndex(of: "=") else {
                hide(pair)
                continue
            }
            let (name, value) = (pair[..<equals], pair[pair.index(after: equals)...])
            // A token in Base64 ends with "=".
            if Self.looksLikeToken(name) || !value.isEmpty && value.allSatisfy({ $0 == "=" }) {
                hide(pair)
            } else {
                keep(pair[...equals])
                hide(value)
            }
        }
    }

    // MARK: - The path

    /// - Parameters:
    ///   - isBelowHost: whether the path is complete; the last part of a path contains no account.
    ///   - isStreamKeyLast: whether the last of several components is a key.
    private mutating func append(path: Substring, isBelowHost: Bool, isStreamKeyLast: Bool = false) {
        if let nested = Self.nestedURI(in: path) {
            // Text that begins like a URI but has no scheme would be parsed as itself again, without end.
            guard nested > path.startIndex else { return hide(path) }
            append(path: path[..<nested], isBelowHost: isBelowHost)
            return append(reference: path[nested...])
        }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        var hidden = isBelowHost ? Self.accountParts(of: parts) : []
        if isStreamKeyLast, parts.count > 2 { hidden.insert(parts.endIndex - 1) }
        for (index, part) in parts.enumerated() {
            if index > 0 { keep("/") }
            let isNamed =
                index > 0 && index < parts.endIndex - 1 && !hidden.contains(index - 1)
                && Self.secretNames.contains(parts[index - 1].lowercased())
            if hidden.contains(index) { credentials.append(String(part)) }
            if hidden.contains(index) || isNamed { hide(part) } else { append(component: part) }
        }
    }

    /// Where a URI with a scheme begins in a path: `/proxy/http://host/…`.
    private static func nestedURI(in path: Substring) -> Substring.Index? {
        guard let colon = path.firstRange(of: "://")?.lowerBound else { return nil }
        let scheme = path[..<colon].reversed().prefix {
            $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0))
        }
        guard !scheme.isEmpty else { return nil }
        return path.index(colon, offsetBy: -scheme.count)
    }

    /// One component of a path, with its parameters.
    private mutating func append(component: Substring) {
        for (index, part) in component.split(separator: ";", omittingEmptySubsequences: false).enumerated() {
            if index > 0 { keep(";") }
            if let equals = part.firstIndex(of: "="), Self.namesSecret(part[..<equals]) {
                keep(part[...equals])
                hide(part[part.index(after: equals)...])
            } else if let at = part.lastIndex(of: "@"), part[..<at].contains(":") {
                remove(userInfo: part[..<at])
                append(component: part[part.index(after: at)...])
            } else {
                append(plain: part)
            }
        }
    }

    /// A part of a component without a name, with its extension.
    private mutating func append(plain part: Substring) {
        if part.hasPrefix("eyJ"), part.utf8.count >= 20 { return hide(part) }
        if part.lowercased().contains("%3a%2f%2f") { return hide(part) }
        let dot = part.lastIndex(of: ".") ?? part.endIndex
        let isExtension = part[dot...].dropFirst().count <= 5
        let stem = isExtension ? part[..<dot] : part
        guard Self.looksLikeToken(stem) else { return keep(part) }
        hide(stem)
        if isExtension { keep(part[dot...]) }
    }

    // MARK: - Accounts

    /// Directories, and how many components after each are secrets. isLong: components other than the stream may
    /// follow.
    private static let accountForms: [(directory: String, secrets: Int, isLong: Bool)] = [
        ("timeshift", 2, true), ("hlsr", 3, true), ("live", 2, false), ("movie", 2, false), ("series", 2, false),
    ]

    /// The indices of the user and the password in the path of `/live/USER/PASSWORD/ID.ts`, `/USER/PASSWORD/ID` and the
    /// like. Forms without a directory, and forms with a common directory name, are recognized by the stream's number.
    private static func accountParts(of parts: [Substring]) -> Set<Int> {
        for (directory, secrets, isLong) in accountForms {
            guard let start = parts.firstIndex(where: { $0.lowercased() == directory }).map({ $0 + 1 }) else {
                continue
            }
            let stream = start + secrets
            guard stream < parts.endIndex, isLong || isStream(parts[stream]) else { continue }
            return Set(start..<stream)
        }
        let last = parts.endIndex - 1
        guard last >= 3, isStream(parts[last]) else { return [] }
        return [last - 2, last - 1]
    }

    /// Whether the component is the number of a stream: `123`, `123.ts`.
    private static func isStream(_ name: Substring) -> Bool {
        let digits = name.prefix { $0.isASCII && $0.isNumber }
        let rest = name[digits.endIndex...]
        return !digits.isEmpty && (rest.isEmpty || rest.hasPrefix(".") && rest.utf8.count <= 6)
    }

    // MARK: - Tokens

    /// Components that precede a secret.
    private static let secretNames: Set = [
        "token", "tokens", "auth", "sig", "signature", "jwt", "session", "sid", "apikey", "api_key", "api-key",
        "password", "passwd", "pass", "secret", "access_token", "hmac",
    ]

    /// Parts of names whose values are secrets.
    private static let secretWords = [
        "token", "auth", "sig", "jwt", "session", "key", "pass", "pwd", "secret", "hmac", "hdn", "user", "login",
        "cred",
        "policy", "ticket",
    ]

    private static func namesSecret(_ name: Substring) -> Bool {
        let name = name.lowercased()
        return name == "sid" || secretWords.contains { name.contains($0) }
    }

    /// Whether a word is a token rather than a name: it has a long run of letters and digits that no person would write.
    private static func looksLikeToken(_ word: Substring) -> Bool {
        if word.utf8.count == 36, word.utf8.filter({ $0 == ASCII.minus }).count == 4, isHexadecimal(word) {
            return true
        }
        return word.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }.contains(where: isTokenRun)
    }

    private static func isTokenRun(_ run: Substring) -> Bool {
        let length = run.utf8.count
        guard length >= shortestToken else { return false }
        if length >= 32, isHexadecimal(run) { return true }
        let numbers = run.split { !$0.isNumber }.count
        let hasBothCases = run.contains(where: \.isUppercase) && run.contains(where: \.isLowercase)
        return numbers >= 3 && (hasBothCases || length >= longToken)
    }

    /// The least length of a token with letters of both cases, and of any other token, in characters.
    private static let (shortestToken, longToken) = (16, 20)

    private static func isHexadecimal(_ word: Substring) -> Bool {
        word.utf8.allSatisfy { $0 == ASCII.minus || Hexadecimal.value(ofDigit: $0) != nil }
    }

    /// Whether a component of a path may be or contain a secret, so that no name may be made of it. This rule is
    /// stricter than redaction for a log, in which different URLs must stay different.
    package static func mayBeSecret(component: String) -> Bool {
        if component.contains(where: { ":@=;?&/…".contains($0) }) { return true }
        let words = component.split { "-_ +~".contains($0) }
        return words.contains { $0.count >= shortestName && $0.contains(where: \.isNumber) }
    }

    /// The least length of a word with digits that may be a token, in characters.
    private static let shortestName = 16
}

extension URIReference {
    /// `reference` without its secrets, for logs, status and errors.
    package static func redacted(_ reference: String) -> String { URIRedaction(reference).text }
}

extension String {
    /// The URL without its secrets.
    package var redacted: String { URIRedaction(self).text }
}

extension StringProtocol {
    /// The text with each URL in it redacted. A URL reaches from its scheme to white space or a quotation mark.
    package var redactingURLs: String {
        guard utf8.contains(ASCII.colon), contains("://") else { return String(self) }
        var result = ""
        var rest = Substring(self)
        while let mark = rest.firstRange(of: "://")?.lowerBound {
            let scheme = rest[..<mark].reversed().prefix {
                $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0))
            }
            let start = rest.index(mark, offsetBy: -scheme.count)
            var url = rest[start...].prefix { !$0.isWhitespace && !"\"“”<>`".contains($0) }
            while let last = url.last, ".,:;!)]}'".contains(last) { url = url.dropLast() }
            guard url.endIndex > mark else { return result + rest }
            result += rest[..<start]
            result += URIRedaction(url).text
            rest = rest[url.endIndex...]
        }
        return result + rest
    }
}
