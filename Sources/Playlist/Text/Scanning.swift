extension UInt8 {
    /// The value of an ASCII hexadecimal digit, 0...15; nil for any other byte.
    package var hexDigitValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        default: nil
        }
    }
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
