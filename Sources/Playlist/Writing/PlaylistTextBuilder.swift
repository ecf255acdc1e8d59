import Support

/// A builder for the text of a playlist, line by line.
struct PlaylistTextBuilder {
    var text = ""

    /// Appends a line without control characters (RFC 8216 §4.1), because one in a value could end the line. Tabs stay:
    /// they separate IDs in EXT-X-SKIP.
    mutating func appendLine(_ line: String) {
        let isClean = line.utf8.allSatisfy { ASCII.space..<ASCII.delete ~= $0 || $0 == ASCII.tab }
        text += isClean ? line : String(String.UnicodeScalarView(line.unicodeScalars.filter(Self.isAllowed)))
        text += "\n"
    }

    mutating func appendTag(_ tag: PlaylistTag) { appendLine("#" + tag.rawValue) }

    mutating func tag(_ tag: PlaylistTag, _ value: some CustomStringConvertible) {
        appendLine("#\(tag.rawValue):\(value)")
    }

    mutating func tag(_ tag: PlaylistTag, _ attributes: AttributeList) { self.tag(tag, attributes.text) }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "\t" || !ControlCharacters.contains(scalar)
    }

    /// Appends the first tags of both kinds of playlist. Version 1 needs no EXT-X-VERSION.
    private mutating func appendOpening(version: Int, isIndependent: Bool, variables: [VariableDefinition]) {
        appendTag(.extm3u)
        if version > 1 { tag(.version, version) }
        if isIndependent { appendTag(.independentSegments) }
        for variable in variables { tag(.define, variable.attributes) }
    }
}

// Media playlists.
extension PlaylistTextBuilder {
    mutating func appendHead(of playlist: MediaPlaylist, version: Int) {
        appendOpening(version: version, isIndependent: playlist.hasIndependentSegments, variables: playlist.variables)
        if let start = playlist.start { tag(.start, start.attributes) }
        tag(.targetDuration, max(1, DecimalSeconds.roundedUp(playlist.targetDuration).components.seconds))
        if let partTarget = playlist.partTarget { tag(.partInf, "PART-TARGET=" + DecimalSeconds.text(partTarget)) }
        if let control = playlist.serverControl { tag(.serverControl, control.attributes) }
        if let type = playlist.playlistType { tag(.playlistType, type.rawValue) }
        if playlist.isIFramesOnly { appendTag(.iFramesOnly) }
        tag(.mediaSequence, playlist.mediaSequence)
        if let number = playlist.discontinuitySequence { tag(.discontinuitySequence, number) }
        for range in playlist.dateRanges { tag(.dateRange, range.attributes) }
        for verbatim in playlist.unknownTags { appendLine(verbatim) }
        if playlist.skippedSegments > 0 { tag(.skip, playlist.skipAttributes) }
    }

    mutating func appendTail(of playlist: MediaPlaylist) {
        for range in playlist.trailingDateRanges { tag(.dateRange, range.attributes) }
        for line in playlist.trailingLines { appendLine(line) }
        for part in playlist.trailingParts { tag(.part, part.attributes) }
        for hint in playlist.preloadHints { tag(.preloadHint, hint) }
        for report in playlist.renditionReports { tag(.renditionReport, report) }
        if playlist.hasEndList { appendTag(.endList) }
    }

    mutating func appendSegment(_ segment: MediaSegment, after previous: MediaSegment?) {
        let start = text.utf8.count
        if segment.isDiscontinuous { appendTag(.discontinuity) }
        appendInheritedTags(of: segment, after: previous)
        if let date = segment.programDateTime { tag(.programDateTime, date.text) }
        for part in segment.parts { tag(.part, part.attributes) }
        // Before the first tag of a segment, unknown tags and date ranges would belong to the head.
        let hasSegmentTag = previous != nil || text.utf8.count > start
        if hasSegmentTag { appendUnknownTags(of: segment) }
        tag(
            .extinf,
            DecimalSeconds.text(segment.duration, decimals: PlaylistWriter.durationDecimals) + "," + segment.title)
        if !hasSegmentTag { appendUnknownTags(of: segment) }
        if let range = segment.byteRange { tag(.byteRange, range.text) }
        if segment.isGap { appendTag(.gap) }
        appendLine(segment.uri)
    }

    private mutating func appendUnknownTags(of segment: MediaSegment) {
        for range in segment.dateRanges { tag(.dateRange, range.attributes) }
        for line in segment.unknownTags { appendLine(line) }
    }

    /// Appends the tags that change what segments inherit. EXT-X-MAP follows the keys that apply to it.
    private mutating func appendInheritedTags(of segment: MediaSegment, after previous: MediaSegment?) {
        var keys = previous?.keys ?? []
        if let map = segment.map, map != previous?.map {
            appendKeys(changing: &keys, to: map.keys)
            tag(.map, map.attributes)
        }
        appendKeys(changing: &keys, to: segment.keys)
        if let bitrate = segment.bitrate, bitrate != previous?.bitrate { tag(.bitrate, bitrate) }
    }

    /// Appends the EXT-X-KEY tags that replace `keys` by `newKeys`. A key can be removed only by METHOD=NONE, which
    /// removes all keys.
    private mutating func appendKeys(changing keys: inout [SegmentKey], to newKeys: [SegmentKey]) {
        guard keys != newKeys else { return }
        var added = newKeys.filter { !keys.contains($0) }
        if added.reduce(keys, { $0.applying($1) }) != newKeys {
            tag(.key, "METHOD=NONE")
            added = newKeys
        }
        for key in added { tag(.key, key.attributes) }
        keys = newKeys
    }
}

// Multivariant playlists.
extension PlaylistTextBuilder {
    mutating func appendMultivariant(_ playlist: MultivariantPlaylist, version: Int) {
        appendOpening(version: version, isIndependent: playlist.hasIndependentSegments, variables: playlist.variables)
        if let start = playlist.start { tag(.start, start.attributes) }
        if let steering = playlist.contentSteering { tag(.contentSteering, steering) }
        for verbatim in playlist.unknownTags { appendLine(verbatim) }
        for data in playlist.sessionData { tag(.sessionData, data) }
        for key in playlist.sessionKeys { tag(.sessionKey, key) }
        for rendition in playlist.renditions { tag(.media, rendition.attributes) }
        for variant in playlist.variants {
            tag(.streamInf, variant.attributes)
            appendLine(variant.uri)
        }
        for variant in playlist.iFrameVariants { tag(.iFrameStreamInf, variant) }
    }
}
