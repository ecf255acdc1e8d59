/// A parser for multivariant playlists (RFC 8216 §4.3.4).
package struct MultivariantPlaylistParser {
    private var playlist = MultivariantPlaylist()
    private var scope: VariableScope
    /// An EXT-X-STREAM-INF whose URI line was not read yet.
    private var openVariant: (attributes: AttributeList, line: Int)?

    /// Parses the text of a multivariant playlist.
    ///
    /// Throws for text that is no playlist, for a tag of media playlists, for an EXT-X-STREAM-INF without attributes or
    /// URI, and for a variable without definition. A URI line of no variant is passed over.
    /// - Parameter url: the URL of the playlist after redirects, for EXT-X-DEFINE:QUERYPARAM.
    package static func parse(
        _ bytes: [UInt8], url: String = ""
    ) throws(PlaylistError) -> MultivariantPlaylist {
        var parser = MultivariantPlaylistParser(scope: VariableScope(url: url, imported: []))
        for line in try PlaylistLines(playlist: bytes) { try parser.read(line) }
        if let open = parser.openVariant {
            throw PlaylistError(.missingAttribute("URI"), .streamInf, line: open.line)
        }
        parser.playlist.variables = parser.scope.definitions
        return parser.playlist
    }

    private init(scope: VariableScope) { self.scope = scope }

    private mutating func read(_ line: PlaylistLine) throws(PlaylistError) {
        switch line.content {
        case .blank: return
        case .other: playlist.unknownTags.append(line.text)
        case .uri: try closeVariant(line)
        case .tag(let tag, let value):
            do throws(PlaylistError) {
                try read(tag, value, line: line.number)
            } catch {
                if tag.governsMedia { throw error }
                playlist.unknownTags.append(line.text)
                playlist.irregularities.append(limited: error)
            }
        }
    }

    private mutating func closeVariant(_ line: PlaylistLine) throws(PlaylistError) {
        guard let open = openVariant else {
            return playlist.irregularities.append(limited: PlaylistError(.missing, .streamInf, line: line.number))
        }
        let uri = try scope.substitute(line.text, tag: .streamInf, line: line.number)
        playlist.variants.append(Variant(uri: uri, attributes: open.attributes))
        openVariant = nil
    }

    private mutating func read(
        _ tag: PlaylistTag, _ value: ArraySlice<UInt8>, line: Int
    ) throws(PlaylistError) {
        guard tag.scope == .anyPlaylist || tag.scope == .multivariantPlaylist else {
            throw PlaylistError(.misplaced, tag, line: line)
        }
        switch tag {
        case .extm3u: return
        case .version: playlist.version = try PlaylistParser.version(value, line: line)
        case .independentSegments: playlist.hasIndependentSegments = true
        case .define: try scope.define(value, line: line)
        default: try read(try TagAttributes(value, of: tag, line: line, in: scope))
        }
    }

    private mutating func read(_ attributes: TagAttributes) throws(PlaylistError) {
        switch attributes.tag {
        case .start: playlist.start = try StartOffset.parse(attributes)
        case .media: playlist.renditions.append(try Rendition.parse(attributes))
        case .streamInf: try openVariant(attributes)
        case .iFrameStreamInf: playlist.iFrameVariants.append(attributes.list)
        case .sessionData: playlist.sessionData.append(attributes.list)
        case .sessionKey: playlist.sessionKeys.append(attributes.list)
        default: playlist.contentSteering = attributes.list
        }
    }

    private mutating func openVariant(_ attributes: TagAttributes) throws(PlaylistError) {
        if let open = openVariant { throw PlaylistError(.missingAttribute("URI"), .streamInf, line: open.line) }
        if let text = attributes.list["BANDWIDTH"], Int(text) == nil {
            playlist.irregularities.append(limited: attributes.badValue("BANDWIDTH"))
        }
        openVariant = (attributes.list, attributes.line)
    }
}

extension Rendition {
    /// Throws if TYPE or GROUP-ID is missing, or if TYPE is not one of the four.
    static func parse(_ attributes: TagAttributes) throws(PlaylistError) -> Rendition {
        guard let type = MediaType(rawValue: try attributes.required("TYPE")) else { throw attributes.badValue("TYPE") }
        _ = try attributes.required("GROUP-ID")
        return Rendition(type: type, attributes: attributes.list)
    }
}

extension StartOffset {
    static func parse(_ attributes: TagAttributes) throws(PlaylistError) -> StartOffset {
        StartOffset(
            timeOffset: try attributes.requiredDuration("TIME-OFFSET", isSigned: true),
            isPrecise: attributes.flag("PRECISE"))
    }
}
