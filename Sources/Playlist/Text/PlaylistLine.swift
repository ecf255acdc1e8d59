import Support

/// One line of a playlist's text (RFC 8216 §4.1).
///
/// The line end, the white space around the line and the control characters that §4.1 forbids are removed, so every
/// line that was read can also be written.
package struct PlaylistLine: Equatable, Sendable {
    package enum Content: Equatable, Sendable {
        case blank
        /// A tag of the draft; `value` is the text after the colon, empty if there is no colon.
        case tag(PlaylistTag, value: ArraySlice<UInt8>)
        /// A tag that the draft does not define, or a comment.
        case other
        case uri
    }

    /// 1-based line number in the text as received.
    package let number: Int
    package let bytes: ArraySlice<UInt8>
    /// The range of the line in the text as received, without surrounding white space. The range includes control
    /// characters that are not in `bytes`.
    package let receivedRange: Range<Int>
    package let content: Content

    init(number: Int, received: ArraySlice<UInt8>) {
        let bytes = received.removingControlCharacters()
        self.number = number
        self.bytes = bytes
        self.receivedRange = received.indices
        self.content = Self.content(of: bytes)
    }

    /// The line verbatim. Bytes that are not UTF-8 become U+FFFD.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Whether the line is a cue tag. Cue tags apply to the next segment wherever they stand.
    var isCueTag: Bool {
        guard case .other = content else { return false }
        return Self.isCueTag(bytes)
    }

    /// Whether `line` begins with the name of a tag that carries ad markers and that no section of the draft defines.
    static func isCueTag(_ line: some Sequence<UInt8>) -> Bool {
        line.starts(with: tagPrefix) && cueTagPrefixes.contains { line.starts(with: $0.utf8) }
    }

    private static let cueTagPrefixes = [
        "#EXT-X-CUE", "#EXT-OATCLS-SCTE35", "#EXT-X-SCTE35", "#EXT-X-SPLICEPOINT-SCTE35", "#EXT-X-ASSET",
    ]

    private static let tagPrefix = Array("#EXT".utf8)
    /// Longer than the name of any tag of the draft.
    private static let longestName = 64

    private static func content(of bytes: ArraySlice<UInt8>) -> Content {
        guard let first = bytes.first else { return .blank }
        guard first == ASCII.numberSign else { return .uri }
        let beginning = bytes.prefix(longestName)
        guard beginning.starts(with: tagPrefix) else { return .other }
        let colon = beginning.firstIndex(of: ASCII.colon)
        guard colon != nil || bytes.count < longestName else { return .other }
        let name = String(decoding: bytes[(bytes.startIndex + 1)..<(colon ?? bytes.endIndex)], as: UTF8.self)
        guard let tag = PlaylistTag(name: name) else { return .other }
        return .tag(tag, value: bytes[(colon.map { $0 + 1 } ?? bytes.endIndex)...])
    }
}
