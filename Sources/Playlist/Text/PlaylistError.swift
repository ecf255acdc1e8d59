/// Why a playlist could not be read, and where.
package struct PlaylistError: Error, Equatable, Sendable {
    package enum Reason: Equatable, Sendable {
        /// The text does not begin with #EXTM3U; `beginning` is what it begins with, 64 characters at most.
        case notAPlaylist(beginning: String)
        /// The tag is required and not there.
        case missing
        /// The tag is there without that attribute, or without its URI line ("URI").
        case missingAttribute(String)
        case duplicate
        case badValue(String)
        /// `{$name}` or IMPORT of a variable that nothing defines (draft §4.3).
        case undefinedVariable(String)
        /// A tag that belongs to the other kind of playlist.
        case misplaced
    }

    package let reason: Reason
    package let tag: String
    /// 1-based, in the text as received.
    package let line: Int
    /// Of RFC 8216, or of draft-pantos-hls-rfc8216bis for what only that has.
    package let section: String

    package init(reason: Reason, tag: String, line: Int, section: String) {
        self.reason = reason
        self.tag = tag
        self.line = line
        self.section = section
    }

    init(_ reason: Reason, _ tag: PlaylistTag, line: Int) {
        self.init(reason: reason, tag: tag.rawValue, line: line, section: tag.section)
    }
}
