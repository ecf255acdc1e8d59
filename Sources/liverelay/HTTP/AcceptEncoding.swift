/// Whether a client may be sent gzip (RFC 9110 §12.5.3).
enum AcceptEncoding {
    /// - Parameter field: all `Accept-Encoding` values of the request, joined by commas; nil if there is none, which
    ///   would allow any coding, but the plain one is what such a client can surely read.
    static func allowsGzip(_ field: String?) -> Bool {
        guard let field else { return false }
        var named: Bool?
        var wildcard = false
        for member in field.split(separator: ",") {
            let parts = member.split(separator: ";")
            guard let coding = parts.first?.trimmingWhitespace.lowercased() else { continue }
            let allowed = !parts.dropFirst().contains(where: isZeroWeight)
            switch coding {
            case "gzip", "x-gzip": named = allowed
            case "*": wildcard = allowed
            default: continue
            }
        }
        return named ?? wildcard
    }

    /// `q=0`, with up to three zeros behind its point: "not acceptable" (§12.4.2).
    private static func isZeroWeight(_ parameter: Substring) -> Bool {
        let text = parameter.trimmingWhitespace.lowercased()
        guard text.hasPrefix("q=") else { return false }
        let weight = text.dropFirst(2)
        return weight.hasPrefix("0") && weight.allSatisfy { $0 == "0" || $0 == "." }
    }
}

/// Comparison of entity tags, quoted as on the wire (RFC 9110 §8.8.3).
enum EntityTag {
    /// Whether `If-None-Match` names `tag` by weak comparison, so that the answer is 304 (§13.1.2).
    static func isListed(_ tag: String, inIfNoneMatch field: String) -> Bool {
        if field.trimmingWhitespace == "*" { return true }
        let wanted = opaque(tag[...])
        var rest = field[...]
        while let open = rest.firstIndex(of: "\"") {
            guard let close = rest[rest.index(after: open)...].firstIndex(of: "\"") else { return false }
            if rest[open...close] == wanted { return true }
            rest = rest[rest.index(after: close)...]
        }
        return false
    }

    /// Whether `If-Range` allows the range to be applied: strong comparison, and a date never matches, because no
    /// Last-Modified is ever sent (§13.1.5).
    static func allowsRange(_ tag: String?, ifRange field: String?) -> Bool {
        guard let field else { return true }
        return field.trimmingWhitespace.hasPrefix("\"") && tag.map { field.trimmingWhitespace == $0 } == true
    }

    /// The tag of the gzip coding of what `tag` names: another representation needs another strong tag (§8.8.3.3).
    static func gzipVariant(of tag: String) -> String {
        guard tag.hasSuffix("\"") else { return tag }
        return tag.dropLast() + "-gzip\""
    }

    private static func opaque(_ tag: Substring) -> Substring {
        tag.hasPrefix("W/") ? tag.dropFirst(2) : tag
    }
}
