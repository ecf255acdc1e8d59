/// Operations on the text of URI references (RFC 3986). They decode, normalize and refuse nothing.
package enum URIReference {
    /// The five components of appendix B; nil for an absent component, which differs from an empty one.
    package struct Components: Equatable {
        var scheme: Substring?
        var authority: Substring?
        var path: Substring
        var query: Substring?
        var fragment: Substring?

        init(_ reference: String) {
            var rest = reference[...]
            fragment = Self.cut(UInt8(ascii: "#"), off: &rest)
            query = Self.cut(UInt8(ascii: "?"), off: &rest)
            scheme = Self.scheme(off: &rest)
            if rest.hasPrefix("//") {
                rest = rest.dropFirst(2)
                let end = rest.utf8.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
                authority = rest[..<end]
                rest = rest[end...]
            }
            path = rest
        }

        /// The reference that the components form (§5.3).
        var text: String {
            var text = scheme.map { "\($0):" } ?? ""
            if let authority { text += "//\(authority)" }
            text += path
            if let query { text += "?\(query)" }
            if let fragment { text += "#\(fragment)" }
            return text
        }

        private static func cut(_ delimiter: UInt8, off rest: inout Substring) -> Substring? {
            guard let index = rest.utf8.firstIndex(of: delimiter) else { return nil }
            defer { rest = rest[..<index] }
            return rest[rest.utf8.index(after: index)...]
        }

        /// Removes and returns `ALPHA *( ALPHA / DIGIT / "+" / "-" / "." )` before the first colon (§3.1).
        private static func scheme(off rest: inout Substring) -> Substring? {
            guard let colon = rest.utf8.firstIndex(of: ASCII.colon), let first = rest.utf8.first, isLetter(first) else {
                return nil
            }
            let scheme = rest[..<colon]
            guard scheme.utf8.allSatisfy({ isLetter($0) || ASCII.isDigit($0) || "+-.".utf8.contains($0) }) else {
                return nil
            }
            rest = rest[rest.utf8.index(after: colon)...]
            return scheme
        }

        private static func isLetter(_ byte: UInt8) -> Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 }
    }

    /// The target of `reference` in a resource whose URL is `base` (§5.2.2, strict).
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

    /// `reference` without query and fragment. The result stays the same when only a token in the query changes.
    package static func withoutQuery(_ reference: String) -> String {
        String(reference.prefix { $0 != "?" && $0 != "#" })
    }

    /// `reference` without its fragment, which no request carries.
    package static func withoutFragment(_ reference: String) -> String { String(reference.prefix { $0 != "#" }) }

    /// The text after the first number sign; nil without one.
    package static func fragment(of reference: String) -> String? { Components(reference).fragment.map(String.init) }

    /// The scheme in lower case; nil for a relative reference.
    package static func scheme(of reference: String) -> String? { Components(reference).scheme?.lowercased() }

    /// The host in lower case, without user information and port; nil without an authority. An IPv6 address keeps its
    /// brackets.
    package static func host(of reference: String) -> String? {
        guard let authority = Components(reference).authority else { return nil }
        let at = authority.utf8.lastIndex(of: ASCII.at)
        let afterUser = at.map { authority[authority.utf8.index(after: $0)...] } ?? authority
        if afterUser.hasPrefix("["), let bracket = afterUser.firstIndex(of: "]") {
            return afterUser[...bracket].lowercased()
        }
        return afterUser[..<(afterUser.utf8.firstIndex(of: ASCII.colon) ?? afterUser.endIndex)].lowercased()
    }

    /// The text after the first question mark; nil without one, which differs from an empty query.
    package static func query(of reference: String) -> String? { Components(reference).query.map(String.init) }

    /// User information, host and port as written; nil without an authority.
    package static func authority(of reference: String) -> String? { Components(reference).authority.map(String.init) }

    /// `reference` with another query, or with none, and without its fragment, which no request carries.
    package static func replacingQuery(of reference: String, by query: String?) -> String {
        var components = Components(reference)
        components.query = query.map { $0[...] }
        components.fragment = nil
        return components.text
    }

    /// `reference` with another authority. A reference without an authority stays as it is.
    package static func replacingAuthority(of reference: String, by authority: String) -> String {
        var components = Components(reference)
        if components.authority != nil { components.authority = authority[...] }
        return components.text
    }

    /// The value of the first query parameter called `name`, as written (not percent-decoded); nil without one.
    package static func queryParameter(_ name: String, of reference: String) -> String? {
        for pair in (Components(reference).query ?? "").split(separator: "&") {
            let equals = pair.firstIndex(of: "=") ?? pair.endIndex
            if pair[..<equals] == name { return String(pair[equals...].dropFirst()) }
        }
        return nil
    }

    /// Merges a relative path with the base path (§5.2.3).
    private static func merge(_ path: Substring, into base: Components) -> Substring {
        if base.authority != nil, base.path.isEmpty { return "/" + path }
        guard let slash = base.path.lastIndex(of: "/") else { return path }
        return base.path[...slash] + path
    }

    /// Whether a segment of the path begins with a dot, as every removable segment does.
    private static func hasDotSegment(_ path: Substring) -> Bool {
        var previous = UInt8(ascii: "/")
        for byte in path.utf8 {
            if byte == ASCII.point, previous == UInt8(ascii: "/") { return true }
            previous = byte
        }
        return false
    }

    /// Removes "." segments, and ".." segments with the segment before them (§5.2.4).
    private static func removeDotSegments(_ path: Substring) -> Substring {
        guard hasDotSegment(path) else { return path }
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
