/// The ASCII characters of the playlist grammar (RFC 8216 §4).
package enum ASCII {
    package static let tab: UInt8 = 0x09
    package static let lineFeed: UInt8 = 0x0A
    static let carriageReturn: UInt8 = 0x0D
    package static let space: UInt8 = 0x20
    package static let quote: UInt8 = 0x22
    package static let numberSign: UInt8 = 0x23
    static let percent: UInt8 = 0x25
    package static let comma: UInt8 = 0x2C
    package static let minus: UInt8 = 0x2D
    package static let point: UInt8 = 0x2E
    package static let zero: UInt8 = 0x30
    package static let nine: UInt8 = 0x39
    package static let colon: UInt8 = 0x3A
    package static let equals: UInt8 = 0x3D
    package static let at: UInt8 = 0x40
    package static let lowercaseX: UInt8 = 0x78
    package static let delete: UInt8 = 0x7F
    package static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    package static func isDigit(_ byte: UInt8) -> Bool { zero...nine ~= byte }

    static func isWhiteSpace(_ byte: UInt8) -> Bool { byte == space || byte == tab || byte == carriageReturn }

    /// Whether `byte` is a control character other than the tab, which separates IDs in EXT-X-SKIP.
    static func isControl(_ byte: UInt8) -> Bool { (byte < space || byte == delete) && byte != tab }
}

extension ArraySlice<UInt8> {
    package func trimmingWhiteSpace() -> ArraySlice<UInt8> {
        var start = startIndex
        var end = endIndex
        while start < end, ASCII.isWhiteSpace(self[start]) { start += 1 }
        while start < end, ASCII.isWhiteSpace(self[end - 1]) { end -= 1 }
        return self[start..<end]
    }

    /// The bytes without the control characters that RFC 8216 §4.1 forbids (one byte in UTF-8, or two for U+0080 to
    /// U+009F) and without the other `ControlCharacters`.
    package func removingControlCharacters() -> ArraySlice<UInt8> {
        guard contains(where: { ASCII.isControl($0) || ControlCharacters.isLongLead($0) }) else {
            return self
        }
        var kept: [UInt8] = []
        kept.reserveCapacity(count)
        for byte in self where !ASCII.isControl(byte) {
            if kept.last == Self.c1LeadByte, 0x80...0x9F ~= byte { kept.removeLast() } else { kept.append(byte) }
        }
        guard kept.contains(where: { $0 != Self.c1LeadByte && ControlCharacters.isLongLead($0) }) else {
            return kept[...].trimmingWhiteSpace()
        }
        let text = String(decoding: kept, as: UTF8.self).unicodeScalars
        guard text.contains(where: { ControlCharacters.contains($0) && $0 != "\t" }) else {
            return kept[...].trimmingWhiteSpace()
        }
        let visible = text.filter { !ControlCharacters.contains($0) || $0 == "\t" }
        return Array(String(String.UnicodeScalarView(visible)).utf8)[...].trimmingWhiteSpace()
    }

    /// The first byte of U+0080 to U+00BF in UTF-8.
    private static let c1LeadByte: UInt8 = 0xC2
}

extension StringProtocol {
    /// The text without the spaces and tabs (OWS, RFC 9110 §5.6.3) at both ends.
    package var trimmingBlanks: SubSequence {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        let start = firstIndex { !isBlank($0) } ?? endIndex
        let end = self[start...].lastIndex { !isBlank($0) }
        return end.map { self[start...$0] } ?? self[start..<start]
    }
}

/// The value of a decimal-integer (RFC 8216 §4.2), 0 ... 2⁶⁴−1; nil for any other text.
@inlinable
package func decimalInteger(_ digits: some Sequence<UInt8>) -> UInt64? {
    var value: UInt64 = 0
    var count = 0
    for digit in digits {
        guard 0x30...0x39 ~= digit else { return nil }
        let (tens, overflow) = value.multipliedReportingOverflow(by: 10)
        let (sum, carry) = tens.addingReportingOverflow(UInt64(digit - 0x30))
        if overflow || carry { return nil }
        value = sum
        count += 1
    }
    return count > 0 ? value : nil
}
