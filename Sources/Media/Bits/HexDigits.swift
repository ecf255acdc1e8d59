/// Hexadecimal digits of bytes and integers.
enum HexDigits {
    /// Returns lower-case digits, padded with zeros to `count` digits.
    static func digits(_ value: some BinaryInteger, count: Int) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
    }

    /// Returns two lower-case digits per byte.
    static func digits(of bytes: some Sequence<UInt8>) -> String { bytes.map { digits($0, count: 2) }.joined() }

    /// Parses two digits per byte; nil if a character is no digit or their number is odd.
    static func bytes(_ digits: some StringProtocol) -> [UInt8]? {
        let values = digits.compactMap(\.hexDigitValue)
        guard values.count == digits.count, values.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
    }
}
