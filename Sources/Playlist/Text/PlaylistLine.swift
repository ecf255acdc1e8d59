/// One line of a playlist's text (RFC 8216 §4.1), without its end, without white space around it and without the control
/// characters that §4.1 forbids: what is read is what can be written.
package struct PlaylistLine: Equatable, Sendable {
    package enum Content: Equatable, Sendable {
        case blank
        /// A tag of the draft; `value` is what follows the colon, empty when there is none.
        case tag(PlaylistTag, value: ArraySlice<UInt8>)
        /// A tag the draft does not have, or a comment.
        case other
        case uri
    }

    /// 1-based, in the text as received.
    package let number: Int
    package let bytes: ArraySlice<UInt8>
    /// Where it stands in the text as received, without white space around it. What is there may hold more than `bytes`.
    package let receivedRange: Range<Int>
    package let content: Content

    init(number: Int, received: ArraySlice<UInt8>) {
        let bytes = received.withoutControlCharacters()
        self.number = number
        self.bytes = bytes
        self.receivedRange = received.indices
        self.content = Self.content(of: bytes)
    }

    /// The line verbatim. Bytes that are not UTF-8 become U+FFFD.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Tags by which ad markers reach players, in no section of the draft: they speak of the next segment wherever
    /// they stand.
    var isCueTag: Bool {
        content == .other && Self.isCueMark(bytes)
    }

    static func isCueMark(_ line: some Sequence<UInt8>) -> Bool {
        cueTagPrefixes.contains { line.starts(with: $0.utf8) }
    }

    private static let cueTagPrefixes = [
        "#EXT-X-CUE", "#EXT-OATCLS-SCTE35", "#EXT-X-SCTE35", "#EXT-X-SPLICEPOINT-SCTE35", "#EXT-X-ASSET",
    ]

    private static func content(of bytes: ArraySlice<UInt8>) -> Content {
        guard let first = bytes.first else { return .blank }
        guard first == ASCII.numberSign else { return .uri }
        let colon = bytes.firstIndex(of: ASCII.colon)
        let name = String(decoding: bytes[(bytes.startIndex + 1)..<(colon ?? bytes.endIndex)], as: UTF8.self)
        guard let tag = PlaylistTag(name: name) else { return .other }
        return .tag(tag, value: bytes[(colon.map { $0 + 1 } ?? bytes.endIndex)...])
    }
}

/// The lines of a playlist, in one pass over its bytes. Lines end with LF or CRLF; a byte order mark is passed over.
package struct PlaylistLines: Sequence, IteratorProtocol {
    private var rest: ArraySlice<UInt8>
    private var number = 0

    package init(_ bytes: [UInt8]) {
        rest = bytes[...]
        if rest.starts(with: ASCII.byteOrderMark) { rest = rest.dropFirst(ASCII.byteOrderMark.count) }
    }

    /// The lines after #EXTM3U.
    ///
    /// Throws `.notAPlaylist` when that is not the first line that is not blank: an HTML page with status 200 says so
    /// here, before any of it is taken for a list of URIs.
    package init(playlist bytes: [UInt8]) throws(PlaylistError) {
        self.init(bytes)
        while let line = next() {
            if line.content == .blank { continue }
            if line.bytes.starts(with: "#EXTM3U".utf8) { return }
            break
        }
        let beginning = String(String(decoding: bytes.prefix(256), as: UTF8.self).prefix(64))
        throw PlaylistError(.notAPlaylist(beginning: beginning), .extm3u, line: 1)
    }

    package mutating func next() -> PlaylistLine? {
        guard !rest.isEmpty else { return nil }
        let end = rest.firstIndex(of: ASCII.lineFeed) ?? rest.endIndex
        let line = rest[rest.startIndex..<end]
        rest = end < rest.endIndex ? rest[(end + 1)...] : rest[end...]
        number += 1
        return PlaylistLine(number: number, received: line.trimmingWhiteSpace())
    }
}

enum ASCII {
    static let tab: UInt8 = 0x09
    static let lineFeed: UInt8 = 0x0A
    static let carriageReturn: UInt8 = 0x0D
    static let space: UInt8 = 0x20
    static let quote: UInt8 = 0x22
    static let numberSign: UInt8 = 0x23
    static let comma: UInt8 = 0x2C
    static let minus: UInt8 = 0x2D
    static let point: UInt8 = 0x2E
    static let zero: UInt8 = 0x30
    static let nine: UInt8 = 0x39
    static let colon: UInt8 = 0x3A
    static let equals: UInt8 = 0x3D
    static let at: UInt8 = 0x40
    static let delete: UInt8 = 0x7F
    static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    static func isWhiteSpace(_ byte: UInt8) -> Bool { byte == space || byte == tab || byte == carriageReturn }

    /// But for the tab, which separates IDs in EXT-X-SKIP.
    static func isControl(_ byte: UInt8) -> Bool { (byte < space || byte == delete) && byte != tab }
}

extension ArraySlice<UInt8> {
    /// Those of one byte, and U+0080 to U+009F of two.
    fileprivate func withoutControlCharacters() -> ArraySlice<UInt8> {
        guard contains(where: { ASCII.isControl($0) || $0 == Self.leadOfControls }) else { return self }
        var kept: [UInt8] = []
        kept.reserveCapacity(count)
        for byte in self where !ASCII.isControl(byte) {
            if kept.last == Self.leadOfControls, 0x80...0x9F ~= byte { kept.removeLast() } else { kept.append(byte) }
        }
        return kept[...].trimmingWhiteSpace()
    }

    /// The first byte of U+0080 to U+00BF in UTF-8.
    private static let leadOfControls: UInt8 = 0xC2

    func trimmingWhiteSpace() -> ArraySlice<UInt8> {
        var start = startIndex
        var end = endIndex
        while start < end, ASCII.isWhiteSpace(self[start]) { start += 1 }
        while start < end, ASCII.isWhiteSpace(self[end - 1]) { end -= 1 }
        return self[start..<end]
    }
}

/// A decimal-integer (RFC 8216 §4.2), 0 ... 2⁶⁴−1; nil when it is anything else.
func decimalInteger(_ digits: some Sequence<UInt8>) -> UInt64? {
    var value: UInt64 = 0
    var count = 0
    for digit in digits {
        guard ASCII.zero...ASCII.nine ~= digit else { return nil }
        let (tens, overflow) = value.multipliedReportingOverflow(by: 10)
        let (sum, carry) = tens.addingReportingOverflow(UInt64(digit - ASCII.zero))
        if overflow || carry { return nil }
        value = sum
        count += 1
    }
    return count > 0 ? value : nil
}
