import Support

/// Comparison of entity tags (RFC 9110 §8.8.3), with their quotes.
package enum EntityTag {
    /// Whether `If-None-Match` contains `tag` by weak comparison, so that the status is 304 (§13.1.2).
    package static func isListed(_ tag: String, inIfNoneMatch field: String) -> Bool {
        if field.trimmingBlanks == "*" { return true }
        let wanted = tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
        var rest = field[...]
        while let open = rest.firstIndex(of: "\"") {
            guard let close = rest[rest.index(after: open)...].firstIndex(of: "\"") else { return false }
            if rest[open...close] == wanted { return true }
            rest = rest[rest.index(after: close)...]
        }
        return false
    }

    /// Whether `If-Range` permits the range, by strong comparison (§13.1.5). A date never matches, because the server
    /// never sends Last-Modified.
    package static func allowsRange(_ tag: String?, ifRange field: String?) -> Bool {
        guard let field else { return true }
        return field.trimmingBlanks.hasPrefix("\"") && tag.map { field.trimmingBlanks == $0 } == true
    }

    /// The tag of the gzip coding of a representation: each coding needs a strong tag of its own (§8.8.3.3).
    static func gzipVariant(of tag: String) -> String {
        guard tag.hasSuffix("\"") else { return tag }
        return tag.dropLast() + "-gzip\""
    }

    /// A strong tag derived from the content: equal bytes have equal tags, also after a restart (64-bit FNV-1a).
    package static func ofContent(_ bytes: [UInt8]) -> String {
        let hash = bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
        return "\"\(String(hash, radix: 16))\""
    }
}
