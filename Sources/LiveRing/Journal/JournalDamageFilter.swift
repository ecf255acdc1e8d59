import Playlist

/// The intact parts of a journal's text: its head and the records whose checksums match.
///
/// Every record is complete in itself, so damage affects only the records that contain it.
struct JournalDamageFilter {
    /// The first line of a record. The checksum of its other lines follows, eight hexadecimal digits.
    private static let recordTag = "#LIVERELAY-RECORD:"
    private static let endTag = "#" + PlaylistTag.endList.rawValue

    /// The lines of the head and of every intact record.
    private(set) var intactBytes: [UInt8] = []
    /// Whether the text ends with EXT-X-ENDLIST.
    private(set) var hasEnded = false
    /// Whether a part is neither intact nor EXT-X-ENDLIST. An incomplete record at the end, as a kill leaves it, is not
    /// damage.
    private(set) var isDamaged: Bool

    /// The index after the last complete record, or after EXT-X-ENDLIST. What follows is a part of a record, as a kill
    /// leaves it.
    private(set) var end = 0

    private enum State {
        case inHead
        case betweenRecords
        /// The lines of the record begin at `start`.
        case inRecord(checksum: ArraySlice<UInt8>, start: Int)
    }
    private var state = State.inHead

    /// - Parameter lastHeadLine: the last line of the head, without its line end.
    /// - Returns: nil if the text has no such line.
    init?(_ bytes: [UInt8], lastHeadLine: String) {
        // A power loss leaves zeros in place of text.
        isDamaged = bytes.contains(0)
        for line in Self.lines(of: bytes) { read(line, of: bytes, lastHeadLine: lastHeadLine) }
        if case .inHead = state { return nil }
    }

    private mutating func read(_ line: ArraySlice<UInt8>, of bytes: [UInt8], lastHeadLine: String) {
        let content = line.dropLast()
        switch state {
        case .inHead:
            intactBytes += line
            end = line.endIndex
            if content.elementsEqual(lastHeadLine.utf8) { state = .betweenRecords }
        case _ where content.starts(with: Self.recordTag.utf8): beginRecord(content, start: line.endIndex)
        case .inRecord(let checksum, let start):
            // A record ends with its URI line.
            guard let first = content.first, first != UInt8(ascii: "#") else { return }
            finishRecord(bytes[start..<line.endIndex], checksum: checksum)
        case .betweenRecords:
            end = line.endIndex
            hasEnded = content.elementsEqual(Self.endTag.utf8)
            if !hasEnded { isDamaged = true }
        }
    }

    private mutating func beginRecord(_ content: ArraySlice<UInt8>, start: Int) {
        if case .inRecord = state { isDamaged = true }
        state = .inRecord(checksum: content.dropFirst(Self.recordTag.utf8.count), start: start)
        hasEnded = false
    }

    private mutating func finishRecord(_ lines: ArraySlice<UInt8>, checksum: ArraySlice<UInt8>) {
        if checksum.elementsEqual(SpoolName.hexFingerprint(lines).utf8) {
            intactBytes += lines
        } else {
            isDamaged = true
        }
        end = lines.endIndex
        state = .betweenRecords
    }

    /// The record of one segment: its lines after a line with their checksum.
    static func prependingChecksum(to lines: String) -> String {
        "\(recordTag)\(SpoolName.hexFingerprint(lines.utf8))\n\(lines)"
    }

    /// The complete lines of `bytes` with their line ends.
    private static func lines(of bytes: [UInt8]) -> some Sequence<ArraySlice<UInt8>> {
        sequence(state: bytes[...]) { rest -> ArraySlice<UInt8>? in
            guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            defer { rest = rest[(end + 1)...] }
            return rest[...end]
        }
    }
}
