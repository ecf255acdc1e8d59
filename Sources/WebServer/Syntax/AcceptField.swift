import Support

/// The `Accept` field (RFC 9110 §12.5.1).
package enum AcceptField {
    /// The weight of a media type in thousandths, by the most specific range that includes it; 1000 without a field.
    /// - Parameters:
    ///   - type: in lower case, without parameters. Parameters of ranges, but for the weight, are passed over.
    ///   - field: all `Accept` values of the request, joined by commas.
    package static func weight(of type: String, in field: String?) -> Int {
        guard let field else { return 1000 }
        let group = type.prefix { $0 != "/" } + "/*"
        var weights: [Int?] = [nil, nil, nil]
        for member in field.split(separator: ",") {
            let parts = member.split(separator: ";").map { $0.trimmingBlanks.lowercased() }
            guard let range = parts.first, let index = [type, String(group), "*/*"].firstIndex(of: range) else {
                continue
            }
            weights[index] = max(weights[index] ?? 0, weight(parts.dropFirst()))
        }
        return weights.lazy.compactMap { $0 }.first ?? 0
    }

    /// The value of `q`; 1000 if it is absent or malformed.
    private static func weight(_ parameters: ArraySlice<String>) -> Int {
        guard let value = parameters.first(where: { $0.hasPrefix("q=") })?.dropFirst(2) else { return 1000 }
        let digits = value.utf8.prefix(5).filter { $0 != UInt8(ascii: ".") }
        guard let number = Int(String(decoding: digits, as: UTF8.self)), number >= 0 else { return 1000 }
        let scale = [1000, 100, 10, 1]
        return min(1000, number * scale[min(max(digits.count, 1), 4) - 1])
    }
}
