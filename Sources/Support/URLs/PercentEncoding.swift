/// Percent-encoding of URIs (RFC 3986 §2.1).
package enum PercentEncoding {
    /// `text` with each `%XX` replaced by its byte. "+" stays as it is.
    /// - Returns: nil for a percent sign without two hexadecimal digits, and for bytes that are not UTF-8.
    package static func decode(_ text: Substring) -> String? {
        guard text.utf8.contains(ASCII.percent) else { return String(text) }
        return bytes(of: text).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// The bytes of `text`, with each `%XX` replaced by its byte; nil for a percent sign without two such digits.
    package static func bytes(of text: Substring) -> [UInt8]? {
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
        return bytes
    }

    /// `text` with each byte but the unreserved ones (§2.3) as `%XX`, for any place in a URI.
    package static func encode(_ text: String) -> String {
        text.utf8.reduce(into: "") { result, byte in
            let isLetterOrDigit = (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
            if isLetterOrDigit || "-._~".utf8.contains(byte) {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                result += "%" + Hexadecimal.encode([byte], uppercase: true)
            }
        }
    }
}
