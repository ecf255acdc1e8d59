/// The reason why a playlist or a manifest could not be read, and the place in its text.
package struct PlaylistError: Error, Equatable, Sendable {
    package enum Reason: Equatable, Sendable {
        /// The text does not begin with #EXTM3U, or is a list of channels. `beginning` is its first 64 characters at
        /// most.
        case notAPlaylist(DocumentKind, beginning: String)
        case missing
        /// The tag is present without the named attribute, or without its URI line ("URI").
        case missingAttribute(String)
        case duplicate
        case badValue(String)
        /// `{$name}` or IMPORT names a variable that is not defined (draft §4.3).
        case undefinedVariable(String)
        /// The tag belongs to the other kind of playlist.
        case misplaced
        /// The tag exceeds a limit, and without it media would be wrong.
        case exceeds(PlaylistLimit)
        case canceled
    }

    package let reason: Reason
    package let tag: String
    /// 1-based line number in the text as received.
    package let line: Int
    /// The section of RFC 8216, or of draft-pantos-hls-rfc8216bis if only the draft defines the tag. For a DASH
    /// manifest, whose "tags" are elements and attributes, the section begins with the standard's name.
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

    init(_ text: [UInt8], is kind: DocumentKind) {
        let beginning = String(String(decoding: text.prefix(256), as: UTF8.self).prefix(64))
        self.init(.notAPlaylist(kind, beginning: beginning), .extm3u, line: 1)
    }
}

extension [PlaylistError] {
    /// The number of irregularities that a playlist lists at most.
    package static let maximumIrregularities = 32

    package mutating func append(limited irregularity: PlaylistError) {
        if count < Self.maximumIrregularities { append(irregularity) }
    }
}
