/// A splice_info_section as playlists write it: base64 (RFC 4648 §4) in cue tags, hexadecimal in EXT-X-DATERANGE.
package enum SpliceSectionText {
    /// "0x…" with an even number of digits; nil for anything else.
    package static func decodeHexadecimal(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count > 2, digits.count.isMultiple(of: 2), digits[0] == ASCII.zero, digits[1] | 0x20 == 0x78
        else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2 - 1)
        for index in stride(from: 2, to: digits.count, by: 2) {
            guard let high = digits[index].hexDigitValue, let low = digits[index + 1].hexDigitValue else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// Upper case, as the standard's examples have it.
    package static func encodeHexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var text: [UInt8] = Array("0x".utf8)
        text.reserveCapacity(2 + bytes.count * 2)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Padding may be missing; nil when a character is none of the alphabet, or when nothing is there.
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

    /// Either form.
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
