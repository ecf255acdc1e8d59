/// URI references (RFC 3986), as text: nothing is decoded, normalised or refused.
package enum URIReference {
    /// The five components of appendix B. nil: absent, which is not the same as empty.
    struct Components: Equatable {
        var scheme: Substring?
        var authority: Substring?
        var path: Substring
        var query: Substring?
        var fragment: Substring?

        init(_ reference: String) {
            var rest = reference[...]
            fragment = Self.cut("#", off: &rest)
            query = Self.cut("?", off: &rest)
            scheme = Self.scheme(off: &rest)
            if rest.hasPrefix("//") {
                rest = rest.dropFirst(2)
                let end = rest.firstIndex(of: "/") ?? rest.endIndex
                authority = rest[..<end]
                rest = rest[end...]
            }
            path = rest
        }

        /// §5.3.
        var text: String {
            var text = scheme.map { "\($0):" } ?? ""
            if let authority { text += "//\(authority)" }
            text += path
            if let query { text += "?\(query)" }
            if let fragment { text += "#\(fragment)" }
            return text
        }

        private static func cut(_ mark: Character, off rest: inout Substring) -> Substring? {
            guard let index = rest.firstIndex(of: mark) else { return nil }
            defer { rest = rest[..<index] }
            return rest[rest.index(after: index)...]
        }

        /// ALPHA *( ALPHA / DIGIT / "+" / "-" / "." ) before the first colon (§3.1).
        private static func scheme(off rest: inout Substring) -> Substring? {
            guard let colon = rest.firstIndex(of: ":"), let first = rest.first, first.isASCII, first.isLetter else {
                return nil
            }
            let scheme = rest[..<colon]
            guard scheme.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }) else {
                return nil
            }
            rest = rest[rest.index(after: colon)...]
            return scheme
        }
    }

    /// The target of `reference`, as it stands in a resource whose address is `base` (§5.2.2, strict).
    package static func resolve(_ reference: String, against base: String) -> String {
        var target = Components(reference)
        let base = Components(base)
        if target.scheme != nil {
            target.path = removeDotSegments(target.path)
            return target.text
        }
        target.scheme = base.scheme
        if target.authority != nil {
            target.path = removeDotSegments(target.path)
            return target.text
        }
        target.authority = base.authority
        if target.path.isEmpty {
            target.path = base.path
            target.query = target.query ?? base.query
        } else if target.path.hasPrefix("/") {
            target.path = removeDotSegments(target.path)
        } else {
            target.path = removeDotSegments(merge(target.path, into: base))
        }
        return target.text
    }

    /// Without query and fragment: what stays the same when only the token in the query is new.
    package static func withoutQuery(_ reference: String) -> String {
        String(reference.prefix { $0 != "?" && $0 != "#" })
    }

    /// Lower case; nil for a relative reference.
    package static func scheme(of reference: String) -> String? { Components(reference).scheme?.lowercased() }

    /// Lower case, without user information and port, an IPv6 address with its brackets; nil without an authority.
    package static func host(of reference: String) -> String? {
        guard let authority = Components(reference).authority else { return nil }
        let afterUser = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        if afterUser.hasPrefix("["), let bracket = afterUser.firstIndex(of: "]") {
            return afterUser[...bracket].lowercased()
        }
        return afterUser.prefix { $0 != ":" }.lowercased()
    }

    /// What follows the first question mark; nil without one, which is not the same as empty.
    package static func query(of reference: String) -> String? { Components(reference).query.map(String.init) }

    /// User information, host and port, as written; nil without one.
    package static func authority(of reference: String) -> String? { Components(reference).authority.map(String.init) }

    /// With another query, or with none, and without its fragment, which no request carries.
    package static func replacingQuery(of reference: String, by query: String?) -> String {
        var components = Components(reference)
        components.query = query.map { $0[...] }
        components.fragment = nil
        return components.text
    }

    /// With another authority where there is one.
    package static func replacingAuthority(of reference: String, by authority: String) -> String {
        var components = Components(reference)
        if components.authority != nil { components.authority = authority[...] }
        return components.text
    }

    /// The value of the first query parameter of that name, as written (nothing percent-decoded); nil without one.
    package static func queryParameter(_ name: String, of reference: String) -> String? {
        for pair in (Components(reference).query ?? "").split(separator: "&") {
            let equals = pair.firstIndex(of: "=") ?? pair.endIndex
            if pair[..<equals] == name { return String(pair[equals...].dropFirst()) }
        }
        return nil
    }

    /// §5.2.3.
    private static func merge(_ path: Substring, into base: Components) -> Substring {
        if base.authority != nil, base.path.isEmpty { return "/" + path }
        guard let slash = base.path.lastIndex(of: "/") else { return path }
        return base.path[...slash] + path
    }

    /// §5.2.4, segment by segment: "." goes, ".." takes the one before it along.
    private static func removeDotSegments(_ path: Substring) -> Substring {
        guard path.contains(".") else { return path }
        let isAbsolute = path.hasPrefix("/")
        let segments = path.dropFirst(isAbsolute ? 1 : 0).split(separator: "/", omittingEmptySubsequences: false)
        var kept: [Substring] = []
        for segment in segments {
            switch segment {
            case ".": continue
            case "..": _ = kept.popLast()
            default: kept.append(segment)
            }
        }
        if let last = segments.last, last == "." || last == ".." { kept.append("") }
        return (isAbsolute ? "/" : "") + kept.joined(separator: "/")[...]
    }
}
