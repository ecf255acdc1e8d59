/// Bytes as pairs of hexadecimal digits, without a prefix.
package enum Hexadecimal {
    /// The value, 0 ... 15, of an ASCII digit in either case; nil for any other byte.
    package static func value(ofDigit digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x41...0x46: digit - 0x41 + 10
        case 0x61...0x66: digit - 0x61 + 10
        default: nil
        }
    }

    /// The bytes that `digits` stand for, the high digit of each first; nil for an odd number of digits or any other
    /// character. No digits are no bytes.
    package static func decode(_ digits: some Collection<UInt8>) -> [UInt8]? {
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        var rest = digits[...]
        while let first = rest.popFirst(), let second = rest.popFirst() {
            guard let high = value(ofDigit: first), let low = value(ofDigit: second) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// Two digits for each of `bytes`.
    package static func encode(_ bytes: some Collection<UInt8>, uppercase: Bool = false) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            text.append(digit(ofValue: byte >> 4, uppercase))
            text.append(digit(ofValue: byte & 15, uppercase))
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func digit(ofValue value: UInt8, _ uppercase: Bool) -> UInt8 {
        value < 10 ? 0x30 + value : (uppercase ? 0x41 : 0x61) + value - 10
    }
}
