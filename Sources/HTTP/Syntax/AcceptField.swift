import Support

/// The fields `Accept` and `Accept-Encoding` (RFC 9110 §12.5.1, §12.5.3): lists of members with weights.
package enum AcceptField {
    /// Whether a client accepts gzip. If one member refuses a coding and another one permits it, it is refused.
    /// - Parameter field: all `Accept-Encoding` values of the request, joined by commas. nil, no field, allows any
    ///   coding by the RFC; this returns false, because such a client may not decompress.
    package static func allowsGzip(_ field: String?) -> Bool {
        field != nil && weight(of: [["gzip", "x-gzip"], ["*"]], in: field, combining: min) > 0
    }

    /// The weight of a media type in thousandths, by the most specific range that includes it; 1000 without a field.
    /// - Parameters:
    ///   - type: in lower case, without parameters. Parameters of ranges other than the weight are ignored.
    ///   - field: all `Accept` values of the request, joined by commas.
    package static func weight(of type: String, in field: String?) -> Int {
        weight(of: [[type], [type.prefix { $0 != "/" } + "/*"], ["*/*"]], in: field, combining: max)
    }

    /// - Parameters:
    ///   - names: the names of the members that count, the most specific first.
    ///   - combine: combines the weights of members with the same name. Such members of media types differ in
    ///     parameters.
    private static func weight(of names: [[String]], in field: String?, combining combine: (Int, Int) -> Int) -> Int {
        guard let field else { return 1000 }
        var weights = [Int?](repeating: nil, count: names.count)
        for member in field.split(separator: ",") {
            let parts = member.split(separator: ";").map { $0.trimmingBlanks.lowercased() }
            guard let name = parts.first, let index = names.firstIndex(where: { $0.contains(name) }) else { continue }
            let weight = weight(parts.dropFirst())
            weights[index] = weights[index].map { combine($0, weight) } ?? weight
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
