package import Support

/// A whole HTTP response of any status.
package struct FetchAnswer: Equatable, Sendable {
    package struct Header: Hashable, Sendable {
        package let name: String
        package let value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    package let status: Int
    /// The URL after redirects, against which relative URIs in the body are resolved.
    package let finalURL: String
    package let headers: [Header]
    package internal(set) var body: [UInt8]
    /// Whether only the end of the connection ended the body (RFC 9112 §6.3, rule 8).
    ///
    /// Neither a length nor a last chunk says that such a body is complete, and a broken connection looks the same.
    package let endsAtClose: Bool

    package init(
        status: Int, finalURL: String, headers: [Header] = [], body: [UInt8], endsAtClose: Bool = false
    ) {
        self.status = status
        self.finalURL = finalURL
        self.headers = headers
        self.body = body
        self.endsAtClose = endsAtClose
    }

    /// Whether the status is 2xx (RFC 9110 §15.3).
    package var isSuccess: Bool { (200..<300).contains(status) }

    package static let notModified = 304

    /// The longest entity tag that is sent back.
    private static let longestEntityTag = 256

    /// The ETag, if it is a strong validator: equal tags then mean equal bytes (RFC 9110 §8.8.3).
    package var entityTag: String? {
        guard isSuccess, let tag = header("etag"), tag.utf8.count <= Self.longestEntityTag, tag.utf8.count > 2,
            tag.hasPrefix("\""), tag.hasSuffix("\""), tag.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return tag
    }

    /// The first header with that name, compared without case.
    package func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    // MARK: - The time at which a server allows the next request (RFC 9110 §10.2.3)

    /// The delay that Retry-After asks for, in 0 s ... 366 days; nil if the header is absent or malformed.
    ///
    /// A date is counted from the answer's own Date header, so that a wrong clock on either side does no harm.
    package var retryAfter: Duration? {
        guard let text = header("retry-after") else { return nil }
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return .seconds(min(Int64(text) ?? .max, Self.longestRetryAfter))
        }
        guard let then = ProgramDateTime(httpDate: text),
            let now = header("date").flatMap({ ProgramDateTime(httpDate: $0) })
        else { return nil }
        return max(.zero, .milliseconds(then.millisecondsSince1970 - now.millisecondsSince1970))
    }

    /// Seconds of a leap year. A longer delay counts as a resource that never returns.
    private static let longestRetryAfter: Int64 = 366 * 86_400
}

extension FetchOutcome {
    /// The entity tag of a success; nil without a strong one.
    package var entityTag: String? { if case .success(let answer) = self { answer.entityTag } else { nil } }

    /// The delay that an unsuccessful answer asks for.
    package var retryAfter: Duration? {
        guard case .success(let answer) = self, !answer.isSuccess else { return nil }
        return answer.retryAfter
    }
}

extension ProgramDateTime {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Reads each of the three forms that a recipient must accept (RFC 9110 §5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`,
    /// `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`.
    package init?(httpDate text: String) {
        // The weekday adds nothing to the date.
        let fields = text.split { " ,-".contains($0) }.dropFirst().map(String.init)
        guard fields.count >= 4 else { return nil }
        let isAsctime = fields[0].first?.isLetter == true
        let (day, month, year, time) =
            isAsctime ? (fields[1], fields[0], fields[3], fields[2]) : (fields[0], fields[1], fields[2], fields[3])
        guard let number = Self.months.firstIndex(of: month), isAsctime || fields.dropFirst(4) == ["GMT"] else {
            return nil
        }
        self.init(parsing: "\(Self.fourDigits(year))-\(Self.pair("\(number + 1)"))-\(Self.pair(day))T\(time)Z")
    }

    /// Expands a year of two digits to a year in 1970 ... 2069.
    private static func fourDigits(_ year: String) -> String {
        year.utf8.count == 2 ? (year < "70" ? "20" : "19") + year : year
    }

    private static func pair(_ digits: String) -> String { digits.utf8.count == 1 ? "0" + digits : digits }
}

// MARK: - What a page in place of media says

extension FetchAnswer {
    /// The bytes of a body that are searched for words, and the maximum of characters returned.
    private static let (wordBytes, wordCharacters) = (2048, 100)

    /// The first words of a textual body, without markup, as from an error page in place of media; empty for other
    /// bodies.
    /// - Parameter url: the requested URL. Words that are secrets in it, such as an account, are left out.
    package func words(withoutSecretsOf url: String) -> String {
        let beginning = body.prefix(Self.wordBytes)
        // Text contains no control characters below the tab.
        guard !beginning.contains(where: { $0 < 9 }) else { return "" }
        // A page may contain the secrets percent-decoded.
        let written = URIRedaction(url).secrets
        let secrets = Set(
            (written + written.compactMap { PercentEncoding.decode($0[...]) }).flatMap {
                $0.split(whereSeparator: Self.isSeparator)
            })
        var (text, token) = ("", Substring())
        for character in Self.withoutMarkup(String(decoding: beginning, as: UTF8.self)) + " " {
            if Self.isSeparator(character) {
                text += secrets.contains(token) ? "…" : token
                text.append(Self.isVisible(character) ? character : " ")
                token = ""
            } else {
                token.append(character)
            }
        }
        let line = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return line.count > Self.wordCharacters ? line.prefix(Self.wordCharacters) + "…" : line
    }

    /// The text between the tags of a page, without scripts and styles.
    private static func withoutMarkup(_ page: String) -> String {
        let parts = page.split(separator: "<", omittingEmptySubsequences: false)
        return parts.dropFirst().reduce(into: String(parts[0])) { text, part in
            let element = part.prefix(while: \.isLetter).lowercased()
            guard let end = part.firstIndex(of: ">"), element != "script", element != "style" else { return }
            text += " " + part[part.index(after: end)...]
        }
    }

    /// Whether a terminal displays the character and interprets it in no other way.
    private static func isVisible(_ character: Character) -> Bool {
        character.unicodeScalars.allSatisfy { ![.control, .format].contains($0.properties.generalCategory) }
    }

    private static func isSeparator(_ character: Character) -> Bool { !character.isLetter && !character.isNumber }
}
