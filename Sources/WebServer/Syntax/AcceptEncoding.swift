import Support

/// The `Accept-Encoding` field (RFC 9110 §12.5.3).
package enum AcceptEncoding {
    /// - Parameter field: all `Accept-Encoding` values of the request, joined by commas. nil, no field, allows any
    ///   coding by the RFC; this returns false, because such a client may not decompress.
    package static func allowsGzip(_ field: String?) -> Bool {
        guard let field else { return false }
        var named: Bool?
        var wildcard = false
        for member in field.split(separator: ",") {
            let parts = member.split(separator: ";")
            guard let coding = parts.first?.trimmingBlanks.lowercased() else { continue }
            let allowed = !parts.dropFirst().contains(where: isZeroWeight)
            switch coding {
            case "gzip", "x-gzip": named = allowed
            case "*": wildcard = allowed
            default: continue
            }
        }
        return named ?? wildcard
    }

    /// Whether the weight is `q=0`, with up to three decimal zeros: "not acceptable" (§12.4.2).
    private static func isZeroWeight(_ parameter: Substring) -> Bool {
        let text = parameter.trimmingBlanks.lowercased()
        guard text.hasPrefix("q=") else { return false }
        let weight = text.dropFirst(2)
        return weight.hasPrefix("0") && weight.allSatisfy { $0 == "0" || $0 == "." }
    }
}
