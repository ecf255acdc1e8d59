/// A token that a fuzzer would have to guess byte by byte: text, or bytes.
package struct FuzzWord: Equatable, Sendable, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral {
    /// libFuzzer keeps no longer words.
    package static let longest = 64

    package let bytes: [UInt8]

    package init(stringLiteral text: String) { bytes = Array(text.utf8) }
    package init(arrayLiteral bytes: UInt8...) { self.bytes = bytes }
    package init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    /// The word in libFuzzer's notation: in quotes, with bytes other than printable ASCII as `\xHH`.
    package var quoted: String {
        let text = bytes.map { byte in
            (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
                ? String(UnicodeScalar(byte)) : "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return "\"\(text.joined())\""
    }
}
