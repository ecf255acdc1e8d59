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

    /// Throws at every few thousand lines if the task was canceled.
    func checkCancellation() throws(PlaylistError) {
        guard number & 0xFFF == 0, StepCounter.isTaskCanceled() else { return }
        throw PlaylistError(.canceled, .extm3u, line: number)
    }

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

/// The lines of a playlist, in one pass over its bytes. Lines end with LF or CRLF; a byte order mark is skipped.
package struct PlaylistLines: Sequence, IteratorProtocol {
    private var rest: ArraySlice<UInt8>
    private var number = 0

    package init(_ bytes: [UInt8]) {
        rest = bytes[...]
        if rest.starts(with: ASCII.byteOrderMark) { rest = rest.dropFirst(ASCII.byteOrderMark.count) }
    }

    /// The lines after #EXTM3U.
    ///
    /// Throws `.notAPlaylist` if #EXTM3U is not the first line that is not blank. An HTML page with status 200 fails
    /// here, before any of its lines is read as a URI.
    package init(playlist bytes: [UInt8]) throws(PlaylistError) {
        self.init(bytes)
        while let line = next() {
            if line.content == .blank { continue }
            if line.bytes.starts(with: "#EXTM3U".utf8) { return }
            break
        }
        throw PlaylistError(bytes, is: DocumentKind(notAPlaylist: bytes))
    }

    package mutating func next() -> PlaylistLine? {
        // Empty lines cost a step of this loop, and no value.
        while rest.first == ASCII.lineFeed {
            number += 1
            rest = rest.dropFirst()
        }
        guard !rest.isEmpty else { return nil }
        let end = rest.firstIndex(of: ASCII.lineFeed) ?? rest.endIndex
        let line = rest[rest.startIndex..<end]
        rest = end < rest.endIndex ? rest[(end + 1)...] : rest[end...]
        number += 1
        return PlaylistLine(number: number, received: line.trimmingWhiteSpace())
    }
}
