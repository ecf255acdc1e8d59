/// The four-character type of a box (ISO/IEC 14496-12 §4.2).
package struct BoxType: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The four bytes in file order, most significant first.
    let code: UInt32

    package init(code: UInt32) { self.code = code }

    /// - Parameter value: four ASCII characters.
    package init(stringLiteral value: String) {
        code = value.utf8.reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The four characters; a byte that is not printable ASCII becomes a dot.
    package var description: String {
        String(
            decoding: (0..<4).map { shift in
                let byte = UInt8(truncatingIfNeeded: code >> UInt32(24 - 8 * shift))
                return (0x20...0x7E).contains(byte) ? byte : UInt8(ascii: ".")
            }, as: UTF8.self)
    }
}
