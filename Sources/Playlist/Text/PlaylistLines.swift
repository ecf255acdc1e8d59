import Support

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
