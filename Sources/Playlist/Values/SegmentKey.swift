/// EXT-X-KEY with a METHOD other than NONE (RFC 8216 §4.3.2.4).
package struct SegmentKey: Hashable, Sendable {
    package enum Method: Hashable, Sendable {
        case aes128
        case sampleAES
        /// SAMPLE-AES-CTR or a method no section of the draft names, as written.
        case other(String)
    }

    package static let identityFormat = "identity"

    package var method: Method
    /// As written, not resolved.
    package var uri: String
    /// 16 bytes, big endian; nil means that the media sequence number is the IV (§5.2).
    package var initializationVector: [UInt8]?
    /// KEYFORMAT, "identity" when absent.
    package var keyFormat: String
    package var keyFormatVersions: String?

    package init(
        method: Method, uri: String, initializationVector: [UInt8]? = nil,
        keyFormat: String = SegmentKey.identityFormat, keyFormatVersions: String? = nil
    ) {
        self.method = method
        self.uri = uri
        self.initializationVector = initializationVector
        self.keyFormat = keyFormat
        self.keyFormatVersions = keyFormatVersions
    }
}

extension SegmentKey {
    static let byteCount = 16

    /// nil for METHOD=NONE. Throws when METHOD or URI is missing or IV is not a 128-bit number: a key guessed would
    /// turn media into noise.
    static func read(_ attributes: TagAttributes) throws(PlaylistError) -> SegmentKey? {
        let method = Method(text: try attributes.required("METHOD"))
        guard let method else { return nil }
        return SegmentKey(
            method: method, uri: try attributes.required("URI"),
            initializationVector: try initializationVector(attributes),
            keyFormat: attributes.list["KEYFORMAT"] ?? identityFormat,
            keyFormatVersions: attributes.list["KEYFORMATVERSIONS"])
    }

    /// A hexadecimal-sequence is a number (§4.2): with fewer than 32 digits its high bytes are 0.
    private static func initializationVector(_ attributes: TagAttributes) throws(PlaylistError) -> [UInt8]? {
        guard let text = attributes.list["IV"] else { return nil }
        let digits = Array(text.utf8.dropFirst(2))
        guard text.hasPrefix("0x") || text.hasPrefix("0X"), 1...(2 * byteCount) ~= digits.count else {
            throw attributes.badValue("IV")
        }
        var bytes = [UInt8](repeating: 0, count: byteCount)
        for fromRight in digits.indices {
            guard let nibble = digits[digits.count - 1 - fromRight].hexDigitValue else {
                throw attributes.badValue("IV")
            }
            bytes[byteCount - 1 - fromRight / 2] |= fromRight % 2 == 0 ? nibble : nibble << 4
        }
        return bytes
    }

    var attributes: AttributeList {
        var list = AttributeList()
        list.set("METHOD", to: method.text)
        list.set("URI", to: uri, isQuoted: true)
        list.set("IV", to: initializationVector.map(Self.hexadecimal))
        list.set("KEYFORMAT", to: keyFormat == Self.identityFormat ? nil : keyFormat, isQuoted: true)
        list.set("KEYFORMATVERSIONS", to: keyFormatVersions, isQuoted: true)
        return list
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.reduce("0x") { $0 + ($1 < 16 ? "0" : "") + String($1, radix: 16, uppercase: true) }
    }
}

extension SegmentKey.Method {
    /// nil for NONE.
    init?(text: String) {
        switch text {
        case "NONE": return nil
        case "AES-128": self = .aes128
        case "SAMPLE-AES": self = .sampleAES
        default: self = .other(text)
        }
    }

    package var text: String {
        switch self {
        case .aes128: "AES-128"
        case .sampleAES: "SAMPLE-AES"
        case .other(let text): text
        }
    }
}

extension [SegmentKey] {
    /// The keys in force after one more EXT-X-KEY: it replaces the one of its KEYFORMAT.
    func applying(_ key: SegmentKey) -> [SegmentKey] {
        var keys = self
        if let index = keys.firstIndex(where: { $0.keyFormat == key.keyFormat }) {
            keys[index] = key
        } else {
            keys.append(key)
        }
        return keys
    }
}
