extension URIReference {
    /// `reference` without its secrets, for logs, status and errors.
    ///
    /// User information (RFC 3986 §3.2.1), the fragment, the values of query parameters and the account in the path of a
    /// stream of Xtream Codes are removed. Another secret in the path cannot be recognized and stays.
    package static func redacted(_ reference: String) -> String {
        var components = Components(reference)
        components.fragment = nil
        components.query = components.query.map(redactedQuery)
        if components.authority?.isEmpty == true {
            components.path = withoutUserInfoInFirstSegment(components.path)
        } else if let authority = components.authority {
            components.authority = withoutUserInfo(authority)
            components.path = withoutAccount(components.path)
        } else if let at = components.path.prefix(while: { $0 != "/" }).lastIndex(of: "@") {
            // In "user:secret@host/…" the scheme is missing, and "user" is not a scheme.
            components.scheme = nil
            components.path = components.path[components.path.index(after: at)...]
        }
        return components.text
    }

    /// The query as `token=…&id=…`. A parameter without "=" becomes "…", because it may be a secret.
    private static func redactedQuery(_ query: Substring) -> Substring {
        let pairs = query.split(separator: "&", omittingEmptySubsequences: false).map { pair in
            guard let equals = pair.firstIndex(of: "=") else { return pair.isEmpty ? "" : "…" }
            return pair[...equals] + (pair.index(after: equals) == pair.endIndex ? "" : "…")
        }
        return pairs.joined(separator: "&")[...]
    }

    /// The path of "http:///user:secret@host/…" without the user information: libcurl reads past the third slash.
    private static func withoutUserInfoInFirstSegment(_ path: Substring) -> Substring {
        let slashes = path.prefix { $0 == "/" }
        let rest = path[slashes.endIndex...]
        guard let at = rest.prefix(while: { $0 != "/" }).lastIndex(of: "@") else { return path }
        return slashes + rest[rest.index(after: at)...]
    }

    /// The path of `/live/USER/PASSWORD/ID.ts`, `/USER/PASSWORD/ID` and the like without the user and the password. The
    /// short form is recognized by its number, and keeps its first component, which may be a directory.
    private static func withoutAccount(_ path: Substring) -> Substring {
        var parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard let name = parts.last else { return path }
        let end = parts.endIndex - 1
        let form = accountForms.lazy.compactMap { form in
            parts.firstIndex(of: form.directory[...]).map { (form, start: $0 + 1) }
        }.first
        if let (form, start) = form, start + form.secrets <= end,
            form.isLong || start + form.secrets == end && isStream(name)
        {
            for index in start..<start + form.secrets { parts[index] = "…" }
        } else if end == 3, isStream(name) {
            parts[2] = "…"
        }
        return parts.joined(separator: "/")[...]
    }

    /// The directories below which a number of components are secrets; long: others than the stream may follow.
    private static let accountForms: [(directory: String, secrets: Int, isLong: Bool)] = [
        ("timeshift", 2, true), ("hlsr", 3, true), ("live", 2, false), ("movie", 2, false), ("series", 2, false),
    ]

    /// Whether the component is the number of a stream: `123`, `123.ts`.
    private static func isStream(_ name: Substring) -> Bool {
        let digits = name.prefix { $0.isASCII && $0.isNumber }
        let rest = name[digits.endIndex...]
        return !digits.isEmpty && (rest.isEmpty || [".ts", ".m3u8", ".mp4", ".mkv", ".avi"].contains(rest))
    }

    private static func withoutUserInfo(_ authority: Substring) -> Substring {
        authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
    }
}

extension String {
    /// The URL without its secrets.
    package var redacted: String { URIReference.redacted(self) }
}
