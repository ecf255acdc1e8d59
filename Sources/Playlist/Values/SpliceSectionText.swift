import Support

/// The text of a splice_info_section in playlists: base64 (RFC 4648 §4) in cue tags, hexadecimal in EXT-X-DATERANGE.
package enum SpliceSectionText {
    /// Reads "0x" and an even number of hexadecimal digits, at least two; nil for other text.
    package static func decodeHexadecimal(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count > 2, digits[0] == ASCII.zero, digits[1] | 0x20 == ASCII.lowercaseX else { return nil }
        return Hexadecimal.decode(digits[2...])
    }

    /// Writes "0x" and upper-case digits, as in the examples of the standard.
    package static func encodeHexadecimal(_ bytes: [UInt8]) -> String {
        "0x" + Hexadecimal.encode(bytes, uppercase: true)
    }

    /// Reads base64 with or without padding, in either alphabet of RFC 4648; nil for other text and for no bytes.
    package static func decodeBase64(_ text: some StringProtocol) -> [UInt8]? {
        Base64.decodeLoosely(text.utf8).flatMap { $0.isEmpty ? nil : $0 }
    }

    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let text = String(text)
        return decodeHexadecimal(text) ?? decodeBase64(text)
    }
}
