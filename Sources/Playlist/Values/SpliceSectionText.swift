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
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for character in text.utf8.prefix(while: { $0 != ASCII.equals }) {
            guard let value = value(ofBase64: character) else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return bytes.isEmpty ? nil : bytes
    }

    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let text = String(text)
        return decodeHexadecimal(text) ?? decodeBase64(text)
    }

    private static func value(ofBase64 character: UInt8) -> UInt8? {
        switch character {
        case 0x41...0x5A: character - 0x41
        case 0x61...0x7A: character - 0x61 + 26
        case ASCII.zero...ASCII.nine: character - ASCII.zero + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
