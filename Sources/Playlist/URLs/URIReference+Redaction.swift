extension URIReference {
    /// A reference as anybody may read it, in a log, in a status, in an error: without user information (RFC 3986
    /// §3.2.1) and fragment, and of its query only the names. A secret in its path cannot be told from the path.
    package static func redacted(_ reference: String) -> String {
        var components = Components(reference)
        components.fragment = nil
        components.query = components.query.map(redactedQuery)
        if let authority = components.authority {
            components.authority = withoutUserInfo(authority)
        } else if let at = components.path.prefix(while: { $0 != "/" }).lastIndex(of: "@") {
            // "user:secret@host/…": somebody has left out the scheme, and what stands there is no scheme.
            components.scheme = nil
            components.path = components.path[components.path.index(after: at)...]
        }
        return components.text
    }

    /// `token=…&id=…`; what has no name is one.
    private static func redactedQuery(_ query: Substring) -> Substring {
        let pairs = query.split(separator: "&", omittingEmptySubsequences: false).map { pair in
            guard let equals = pair.firstIndex(of: "=") else { return pair.isEmpty ? "" : "…" }
            return pair[...equals] + (pair.index(after: equals) == pair.endIndex ? "" : "…")
        }
        return pairs.joined(separator: "&")[...]
    }

    private static func withoutUserInfo(_ authority: Substring) -> Substring {
        authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
    }
}
