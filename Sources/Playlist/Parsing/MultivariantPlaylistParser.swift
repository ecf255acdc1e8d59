import Support

/// A parser for multivariant playlists (RFC 8216 §4.3.4).
package struct MultivariantPlaylistParser {
    private var playlist = MultivariantPlaylist()
    private var scope: VariableScope
    /// Counts elements dropped beyond the limits, except variables.
    private var meter: LimitMeter
    /// An EXT-X-STREAM-INF whose URI line was not read yet.
    private var openVariant: (attributes: AttributeList, line: Int, isIgnored: Bool)?

    /// Parses the text of a multivariant playlist.
    ///
    /// Throws for text that is no playlist, for a tag that governs segments, for an EXT-X-STREAM-INF without attributes or
    /// URI, and for a variable without definition. A URI line without EXT-X-STREAM-INF is passed over, and so is a variant
    /// with an unknown layout (draft-pantos-hls-rfc8216bis §4.4.6.2).
    /// - Parameters:
    ///   - url: the URL of the playlist after redirects, for EXT-X-DEFINE:QUERYPARAM.
    ///   - limits: how much is kept. Beyond them the last elements are dropped.
    package static func parse(
        _ bytes: [UInt8], url: String = "", limits: PlaylistLimits = .standard
    ) throws(PlaylistError) -> MultivariantPlaylist {
        var parser = MultivariantPlaylistParser(
            scope: VariableScope(url: url, imported: [], limits: limits), meter: LimitMeter(limits))
        for line in try PlaylistLines(playlist: bytes) {
            try line.checkCancellation()
            try parser.read(line)
        }
        if let open = parser.openVariant {
            throw PlaylistError(.missingAttribute("URI"), .streamInf, line: open.line)
        }
        parser.playlist.variables = parser.scope.definitions
        parser.playlist.dropped = parser.meter.dropped.merging(parser.scope.meter.dropped, uniquingKeysWith: +)
        return parser.playlist
    }

    private mutating func read(_ line: PlaylistLine) throws(PlaylistError) {
        StepCounter.add(1)
        guard line.bytes.count <= meter.limits.lineBytes else {
            // A variant whose URI is too long is dropped as a whole.
            if line.content == .uri { openVariant = nil }
            return meter.drop(.lineBytes)
        }
        switch line.content {
        case .blank, .other: return
        case .uri: try closeVariant(line)
        case .tag(let tag, let value):
            do throws(PlaylistError) {
                try read(tag, value, line: line.number)
            } catch {
                if tag.governsMedia, tag.scope != .mediaPlaylist { throw error }
                playlist.irregularities.append(limited: error)
            }
        }
    }

    private mutating func closeVariant(_ line: PlaylistLine) throws(PlaylistError) {
        guard let open = openVariant else {
            return playlist.irregularities.append(limited: PlaylistError(.missing, .streamInf, line: line.number))
        }
        let uri = try scope.substitute(line.text, tag: .streamInf, line: line.number)
        defer { openVariant = nil }
        if open.isIgnored { return }
        meter.append(Variant(uri: uri, attributes: open.attributes), to: &playlist.variants, limit: .renditions)
    }

    private mutating func read(
        _ tag: PlaylistTag, _ value: ArraySlice<UInt8>, line: Int
    ) throws(PlaylistError) {
        guard tag.scope == .anyPlaylist || tag.scope == .multivariantPlaylist else {
            throw PlaylistError(.misplaced, tag, line: line)
        }
        switch tag {
        case .independentSegments: playlist.hasIndependentSegments = true
        case .define: try scope.define(value, line: line)
        case .media, .streamInf:
            let attributes = try TagAttributes(value, of: tag, line: line, in: &scope)
            StepCounter.add(attributes.list.attributes.count)
            if tag == .streamInf { return try openVariant(attributes) }
            meter.append(try Rendition.parse(attributes), to: &playlist.renditions, limit: .renditions)
        default: return
        }
    }

    private mutating func openVariant(_ attributes: TagAttributes) throws(PlaylistError) {
        if let open = openVariant { throw PlaylistError(.missingAttribute("URI"), .streamInf, line: open.line) }
        if let text = attributes.list["BANDWIDTH"], PlaylistNumber.bitRate.value(text.utf8) == nil {
            playlist.irregularities.append(limited: attributes.badValue("BANDWIDTH"))
        }
        let layout = attributes.list["REQ-VIDEO-LAYOUT"]
        let isIgnored = layout.map { VideoLayout($0) == nil } ?? false
        if isIgnored { playlist.irregularities.append(limited: attributes.badValue("REQ-VIDEO-LAYOUT")) }
        openVariant = (attributes.list, attributes.line, isIgnored)
    }
}

extension Rendition {
    /// Throws if TYPE or GROUP-ID is missing, or if TYPE is not one of the four.
    fileprivate static func parse(_ attributes: TagAttributes) throws(PlaylistError) -> Rendition {
        guard let type = MediaType(rawValue: try attributes.required("TYPE")) else { throw attributes.badValue("TYPE") }
        _ = try attributes.required("GROUP-ID")
        return Rendition(type: type, attributes: attributes.list)
    }
}
