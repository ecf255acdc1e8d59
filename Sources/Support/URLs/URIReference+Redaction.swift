extension URIReference {
    /// `reference` without its secrets, for logs, status and errors.
    ///
    /// User information (RFC 3986 §3.2.1), the fragment and the values of query parameters are removed. A secret in the
    /// path cannot be recognized and stays.
    package static func redacted(_ reference: String) -> String {
        var components = Components(reference)
        components.fragment = nil
        components.query = components.query.map(redactedQuery)
        if components.authority?.isEmpty == true {
            components.path = withoutUserInfoInFirstSegment(components.path)
        } else if let authority = components.authority {
            components.authority = withoutUserInfo(authority)
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

    private static func withoutUserInfo(_ authority: Substring) -> Substring {
        authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
    }
}

extension String {
    /// The URL without its secrets.
    package var redacted: String { URIReference.redacted(self) }
}
