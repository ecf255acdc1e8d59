/// Percent-encoding of URIs (RFC 3986 §2.1).
package enum PercentEncoding {
    /// `text` with each `%XX` replaced by its byte. "+" stays as it is.
    /// - Returns: nil for a percent sign without two hexadecimal digits, and for bytes that are not UTF-8.
    package static func decode(_ text: Substring) -> String? {
        guard text.utf8.contains(ASCII.percent) else { return String(text) }
        var bytes: [UInt8] = []
        var rest = text.utf8
        while let byte = rest.popFirst() {
            guard byte == ASCII.percent else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(Hexadecimal.value),
                let low = rest.popFirst().flatMap(Hexadecimal.value)
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
