import Support

/// The only writer of playlists.
///
/// It writes UTF-8 without control characters, each tag once and in the order that players expect, and EXT-X-VERSION as
/// high as the content needs.
package enum PlaylistWriter {
    /// The number of decimals to which EXTINF is rounded. Sums of rounded durations stay within a frame.
    fileprivate static let durationDecimals = 5

    /// Writes a media playlist.
    ///
    /// Parsing the text gives `playlist` again if durations have at most `durationDecimals` decimals and a segment is
    /// listed. Without a segment nothing separates the head from the lines of the next segment.
    package static func write(_ playlist: MediaPlaylist) -> String {
        var text = PlaylistTextBuilder()
        text.text.reserveCapacity(512 + playlist.segments.count * 160)
        text.appendHead(of: playlist, version: version(neededBy: playlist))
        var previous: MediaSegment?
        for segment in playlist.segments {
            text.appendSegment(segment, after: previous)
            previous = segment
        }
        for range in playlist.trailingDateRanges { text.tag(.dateRange, range.attributes) }
        if playlist.hasEndList { text.appendTag(.endList) }
        return text.text
    }

    /// Writes the lines before the first segment.
    /// - Parameter version: EXT-X-VERSION. The head of a growing playlist cannot know what later entries need.
    package static func head(of playlist: MediaPlaylist, version: Int) -> String {
        var text = PlaylistTextBuilder()
        text.appendHead(of: playlist, version: version)
        return text.text
    }

    /// Writes the lines of one segment, each with its line end.
    ///
    /// EXT-X-KEY and EXT-X-MAP are written only if they differ from `previous`, the segment before.
    package static func entryLines(for segment: MediaSegment, previous: MediaSegment?) -> String {
        var text = PlaylistTextBuilder()
        text.appendSegment(segment, after: previous)
        return text.text
    }

    /// Writes a multivariant playlist. Its content needs no EXT-X-VERSION.
    package static func write(_ playlist: MultivariantPlaylist) -> String {
        var text = PlaylistTextBuilder()
        text.appendOpening(isIndependent: playlist.hasIndependentSegments)
        for rendition in playlist.renditions { text.tag(.media, rendition.attributes) }
        for variant in playlist.variants {
            text.tag(.streamInf, variant.attributes)
            text.appendLine(variant.uri)
        }
        for stream in playlist.iFrameStreams {
            var attributes = stream.attributes
            attributes.set("URI", to: stream.uri, isQuoted: true)
            text.tag(.iFrameStreamInf, attributes)
        }
        return text.text
    }

    /// The lowest EXT-X-VERSION that allows the content of a playlist (RFC 8216 §7).
    package static func version(neededBy playlist: MediaPlaylist) -> Int {
        if playlist.skippedSegments > 0 { return 9 }
        var version = playlist.hasIFramesOnly ? 4 : playlist.segments.isEmpty ? 1 : 3  // decimal EXTINF
        for segment in playlist.segments {
            if segment.byteRange != nil { version = max(version, 4) }
            if segment.map != nil { version = max(version, 6) }
            let keys = segment.keys + (segment.map?.keys ?? [])
            if keys.contains(where: { $0.keyFormat != SegmentKey.identityFormat }) { version = max(version, 5) }
        }
        return version
    }
}

/// A builder for the text of a playlist, line by line.
private struct PlaylistTextBuilder {
    var text = ""

    /// Appends a line without control characters (RFC 8216 §4.1), because one in a value could end the line.
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
    mutating func appendOpening(version: Int = 1, isIndependent: Bool) {
        appendTag(.extm3u)
        if version > 1 { tag(.version, version) }
        if isIndependent { appendTag(.independentSegments) }
    }

    mutating func appendHead(of playlist: MediaPlaylist, version: Int) {
        appendOpening(version: version, isIndependent: playlist.hasIndependentSegments)
        if playlist.startsAtBeginning { tag(.start, "TIME-OFFSET=0") }
        tag(.targetDuration, max(1, DecimalSeconds.roundedUp(playlist.targetDuration).components.seconds))
        appendServerControl(of: playlist)
        if let type = playlist.playlistType { tag(.playlistType, type.rawValue) }
        if playlist.hasIFramesOnly { appendTag(.iFramesOnly) }
        tag(.mediaSequence, playlist.mediaSequence - UInt64(playlist.skippedSegments))
        if let number = playlist.discontinuitySequence { tag(.discontinuitySequence, number) }
        if playlist.skippedSegments > 0 { tag(.skip, "SKIPPED-SEGMENTS=\(playlist.skippedSegments)") }
        for range in playlist.dateRanges { tag(.dateRange, range.attributes) }
        for verbatim in playlist.unknownTags { appendLine(verbatim) }
    }

    private mutating func appendServerControl(of playlist: MediaPlaylist) {
        let attributes =
            (playlist.canBlockReload ? ["CAN-BLOCK-RELOAD=YES"] : [])
            + (playlist.canSkipUntil.map { ["CAN-SKIP-UNTIL=\($0)"] } ?? [])
        if !attributes.isEmpty { tag(.serverControl, attributes.joined(separator: ",")) }
    }

    mutating func appendSegment(_ segment: MediaSegment, after previous: MediaSegment?) {
        let start = text.utf8.count
        if segment.isDiscontinuous { appendTag(.discontinuity) }
        appendInheritedTags(of: segment, after: previous)
        if let date = segment.programDateTime { tag(.programDateTime, date.text) }
        // Before the first tag of a segment, unknown tags and date ranges would belong to the head.
        let hasSegmentTag = previous != nil || text.utf8.count > start
        if hasSegmentTag { appendUnknownTags(of: segment) }
        tag(.extinf, DecimalSeconds.text(segment.duration, decimals: PlaylistWriter.durationDecimals) + ",")
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

extension SegmentKey {
    fileprivate var attributes: AttributeList {
        var list = AttributeList()
        list.set("METHOD", to: method.text)
        list.set("URI", to: uri, isQuoted: true)
        list.set("IV", to: initializationVector.map { "0x" + Hexadecimal.encode($0, uppercase: true) })
        list.set("KEYFORMAT", to: keyFormat == Self.identityFormat ? nil : keyFormat, isQuoted: true)
        return list
    }
}

extension MediaInitialization {
    fileprivate var attributes: AttributeList {
        var list = AttributeList()
        list.set("URI", to: uri, isQuoted: true)
        list.set("BYTERANGE", to: byteRange?.text, isQuoted: true)
        return list
    }
}

extension ByteRange {
    /// The range as `length@offset`. The offset is always written.
    var text: String { "\(length)@\(offset)" }
}

// MARK: - URIs for one viewer

extension PlaylistWriter {
    /// The tags of our playlists whose URI is a URL of this server. The URIs in ad markers lead elsewhere.
    private static let tags = ["#EXT-X-MAP:", "#EXT-X-MEDIA:", "#EXT-X-I-FRAME-STREAM-INF:"].map { Array($0.utf8) }
    private static let attribute = Array("URI=\"".utf8)

    /// Adds a folder and a query item to each URI of a playlist that this type has written.
    /// - Parameters:
    ///   - folder: the path before each URI, with a slash at its end.
    ///   - query: percent-coded, such as `token=a`.
    ///   - text: UTF-8.
    package static func adding(folder: String = "", query: String? = nil, toURIsOf text: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count + text.count / 4)
        for line in text.split(separator: ASCII.lineFeed, omittingEmptySubsequences: false) {
            if line.startIndex > 0 { result.append(ASCII.lineFeed) }
            append(line, folder, query, to: &result)
        }
        return result
    }

    private static func append(
        _ line: ArraySlice<UInt8>, _ folder: String, _ query: String?, to result: inout [UInt8]
    ) {
        guard line.first == UInt8(ascii: "#") else {
            if !line.isEmpty { append(uri: line, folder, query, to: &result) }
            return
        }
        guard tags.contains(where: { line.starts(with: $0) }), let start = firstIndex(of: attribute, in: line),
            let end = line[start...].firstIndex(of: UInt8(ascii: "\""))
        else {
            result += line
            return
        }
        result += line[..<start]
        append(uri: line[start..<end], folder, query, to: &result)
        result += line[end...]
    }

    private static func append(
        uri: ArraySlice<UInt8>, _ folder: String, _ query: String?, to result: inout [UInt8]
    ) {
        result += folder.utf8
        result += uri
        guard let query else { return }
        result.append(uri.contains(UInt8(ascii: "?")) ? UInt8(ascii: "&") : UInt8(ascii: "?"))
        result += query.utf8
    }

    /// The index after the first occurrence of `word`, which is the start of an attribute.
    private static func firstIndex(of word: [UInt8], in line: ArraySlice<UInt8>) -> Int? {
        line.indices.first { index in
            let before = index > line.startIndex ? line[index - 1] : 0
            return (before == UInt8(ascii: ":") || before == UInt8(ascii: ",")) && line[index...].starts(with: word)
        }.map { $0 + word.count }
    }
}
