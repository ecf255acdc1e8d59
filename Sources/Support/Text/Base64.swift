/// Base64 with padding (RFC 4648 §4).
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << (8 * (3 - UInt32(group.count)))
            for position in 0..<4 {
                text.append(
                    position <= group.count
                        ? alphabet[Int(bits >> (18 - 6 * UInt32(position)) & 63)] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads base64 with or without padding, in either alphabet of RFC 4648; nil for other text. No text is no bytes.
    package static func decodeLoosely(_ text: some Sequence<UInt8>) -> [UInt8]? {
        bytes(of: text.prefix { $0 != ASCII.equals }) { digit in
            switch digit {
            case ASCII.minus: 62
            case UInt8(ascii: "_"): 63
            default: value(of: digit)
            }
        }
    }

    /// nil for other text than complete groups of four characters.
    package static func decode(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count % 4 == 0 else { return nil }
        let content = digits.prefix { $0 != UInt8(ascii: "=") }
        guard digits.count - content.count <= 2, digits.dropFirst(content.count).allSatisfy({ $0 == UInt8(ascii: "=") })
        else { return nil }
        return bytes(of: content, value)
    }

    /// nil for a digit without a value.
    private static func bytes(of digits: some Sequence<UInt8>, _ value: (UInt8) -> UInt32?) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity((digits.underestimatedCount + 3) / 4 * 3)
        var (bits, count) = (UInt32(0), UInt32(0))
        for digit in digits {
            guard let value = value(digit) else { return nil }
            (bits, count) = (bits << 6 | value, count + 6)
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            }
        }
        return bytes
    }

    private static func value(of digit: UInt8) -> UInt32? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
