package import Playlist
import Support

/// Reads the text of a playlist as strictly as the draft writes it (draft-pantos-hls-rfc8216bis §4).
package struct PlaylistScanner {
    var playlist: ScannedPlaylist
    var next = ScannedSegment()
    var hasDuration = false
    var keys: [ScannedKey] = []
    var map: ScannedMap?
    var previousRange: (uri: String, end: UInt64)?
    var pendingVariant: (attributes: AttributeList, line: Int)?
    var scope: VariableScope
    private var seen: [PlaylistTag: Int] = [:]
    private var segmentTags: [PlaylistTag: Int] = [:]
    private var firstMediaLine: Int?
    private var firstMultivariantLine: Int?
    /// The highest VERSION that a tag needs, the first tag that needs it, and its line.
    private var neededVersion: (number: Int, reason: String, line: Int) = (1, "", 1)

    /// - Parameters:
    ///   - url: after redirects; URIs are resolved against it.
    ///   - imported: the variables of the multivariant playlist.
    package static func scan(
        _ bytes: [UInt8], url: String, imported: [VariableDefinition] = []
    ) -> ScannedPlaylist {
        var scanner = PlaylistScanner(
            playlist: ScannedPlaylist(url: url), scope: VariableScope(url: url, imported: imported))
        scanner.judgeEncoding(bytes)
        var isFirst = true
        for line in PlaylistLines(bytes) {
            scanner.judgeSpace(line, in: bytes)
            if isFirst {
                isFirst = false
                if line.number != 1 || !line.bytes.elementsEqual("#EXTM3U".utf8) {
                    scanner.playlist.add(
                        .playlistHeader, "extm3u", line: line.number, "the first line is not #EXTM3U")
                }
                if line.bytes.elementsEqual("#EXTM3U".utf8) { continue }
            }
            scanner.read(line)
        }
        var playlist = scanner.finished()
        TextRules.judge(&playlist)
        return playlist
    }

    private mutating func judgeEncoding(_ bytes: [UInt8]) {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            playlist.add(.playlistHeader, "bom", line: 1, "the text begins with a byte order mark")
        }
        if String(validating: bytes, as: UTF8.self) == nil {
            let line = 1 + (Self.firstInvalid(bytes).map { bytes[..<$0].count { $0 == 10 } } ?? 0)
            playlist.add(.playlistHeader, "utf-8", line: line, "the text is not UTF-8")
        }
        if let offset = Self.firstControl(bytes) {
            let line = 1 + bytes[..<offset].count { $0 == 10 }
            playlist.add(.playlistHeader, "control", line: line, "the line has a control character")
        }
    }

    /// The offset of the first control character but CR, LF and tab, which is white space.
    private static func firstControl(_ bytes: [UInt8]) -> Int? {
        bytes.indices.first { index in
            let byte = bytes[index]
            if byte < 0x20 { return ![9, 10, 13].contains(byte) }
            return byte == 0x7F || byte == 0xC2 && index + 1 < bytes.count && bytes[index + 1] < 0xA0
        }
    }

    /// The offset of the first byte that is not UTF-8, to the line.
    private static func firstInvalid(_ bytes: [UInt8]) -> Int? {
        var start = 0
        while start < bytes.count {
            let end = bytes[start...].firstIndex(of: 10) ?? bytes.count
            if String(validating: bytes[start..<end], as: UTF8.self) == nil { return start }
            start = end + 1
        }
        return nil
    }

    /// White space around the line.
    private mutating func judgeSpace(_ line: PlaylistLine, in bytes: [UInt8]) {
        var end = line.receivedRange.upperBound
        let start = line.receivedRange.lowerBound
        let isIndented = start > 0 && [0x20, 0x09].contains(bytes[start - 1])
        if end < bytes.count, bytes[end] == 13 { end += 1 }
        let isTrailed = end < bytes.count && [0x20, 0x09].contains(bytes[end])
        if line.content != .blank, isIndented || isTrailed {
            playlist.add(
                .tagSyntax, "white-space", level: .note, line: line.number, "the line has white space around it")
        }
    }

    private mutating func read(_ line: PlaylistLine) {
        switch line.content {
        case .blank: return
        case .other: readOther(line)
        case .uri: readURI(substituted(line.text, line.number), line.number)
        case .tag(let tag, let value):
            countTag(tag, line.number)
            read(tag, value, line.number)
        }
    }

    private mutating func readOther(_ line: PlaylistLine) {
        guard line.bytes.starts(with: "#EXT".utf8), let cue = CueTag(line.text) else { return }
        next.cueTags.append(cue)
    }

    private mutating func countTag(_ tag: PlaylistTag, _ line: Int) {
        let isOnce =
            tag.scope == .mediaPlaylist || [.version, .independentSegments, .start, .skip, .extm3u].contains(tag)
        if isOnce {
            if seen[tag] != nil || tag == .extm3u {
                playlist.add(.tagSyntax, "duplicate", line: line, "\(tag.rawValue) occurs twice")
            }
            seen[tag] = line
        }
        switch tag.scope {
        case .mediaPlaylist, .mediaSegment, .mediaMetadata: firstMediaLine = firstMediaLine ?? line
        case .multivariantPlaylist: firstMultivariantLine = firstMultivariantLine ?? line
        case .anyPlaylist: break
        }
        guard [.extinf, .byteRange, .programDateTime, .gap].contains(tag) else { return }
        if segmentTags[tag] != nil {
            playlist.add(.tagSyntax, "duplicate", line: line, "\(tag.rawValue) occurs twice for one segment")
        }
        segmentTags[tag] = line
    }

    mutating func need(version: Int, for reason: String, _ line: Int) {
        if version > neededVersion.number { neededVersion = (version, reason, line) }
    }

    mutating func substituted(_ text: String, _ line: Int) -> String {
        do throws(PlaylistError) { return try scope.substitute(text, tag: .extinf, line: line) } catch {
            playlist.add(.tagSyntax, "variable", line: line, error.message)
            return text
        }
    }

    func resolved(_ reference: String) -> String { URIReference.resolve(reference, against: playlist.url) }

    // MARK: - Segments and variants

    private mutating func readURI(_ reference: String, _ line: Int) {
        if let variant = pendingVariant {
            pendingVariant = nil
            playlist.variants.append(
                ScannedVariant(
                    attributes: variant.attributes, uri: resolved(reference), line: variant.line, isIFrames: false))
            return
        }
        guard hasDuration || !next.durationText.isEmpty else {
            let isVariant = firstMultivariantLine != nil && firstMediaLine == nil
            playlist.add(
                .tagSyntax, "no-tag", line: line,
                "the URI has no \(isVariant ? "EXT-X-STREAM-INF" : "EXTINF") before it")
            if isVariant { return }
            finishSegment(reference, line)
            return
        }
        finishSegment(reference, line)
    }

    private mutating func finishSegment(_ reference: String, _ line: Int) {
        next.reference = reference
        next.uri = resolved(reference)
        next.line = line
        next.map = map
        next.keys = keys
        if let range = next.byteRange {
            // An offset of `.max` stands for the end of the range before.
            if range.offset == .max {
                let start = previousRange.flatMap { $0.uri == next.uri ? $0.end : nil }
                if start == nil {
                    playlist.add(
                        .tagSyntax, "byte-range", line: segmentTags[.byteRange],
                        "EXT-X-BYTERANGE has no offset, and the segment before is of another resource")
                }
                next.byteRange = ByteRange(offset: start ?? 0, length: range.length)
            }
            previousRange = next.byteRange.map { (next.uri, $0.offset &+ $0.length) }
        } else {
            previousRange = nil
        }
        next.setIdentity()
        playlist.segments.append(next)
        next = ScannedSegment()
        hasDuration = false
        segmentTags = [:]
        playlist.partsSinceSegment = 0
    }

    // MARK: - The whole text

    private consuming func finished() -> ScannedPlaylist {
        let isMultivariant = firstMultivariantLine != nil && (playlist.segments.isEmpty || !playlist.variants.isEmpty)
        playlist.isMultivariant = isMultivariant
        playlist.variables = scope.definitions
        if let media = firstMediaLine, let other = firstMultivariantLine {
            playlist.add(
                .tagSyntax, "mixed", line: max(media, other),
                "the playlist has tags of media playlists and of multivariant playlists")
        }
        if let variant = pendingVariant {
            playlist.add(.tagSyntax, "no-uri", line: variant.line, "EXT-X-STREAM-INF has no URI line")
        }
        if hasDuration {
            playlist.add(.tagSyntax, "no-uri", line: segmentTags[.extinf], "EXTINF has no URI line")
        }
        if neededVersion.number > playlist.version ?? 1 {
            playlist.add(
                .version, "low", line: seen[.version] ?? neededVersion.line,
                "\(neededVersion.reason) in line \(neededVersion.line) needs VERSION \(neededVersion.number); "
                    + (playlist.version.map { "the playlist says \($0)" } ?? "the playlist has none"))
        }
        if !isMultivariant { finishMedia() }
        return playlist
    }

    private mutating func finishMedia() {
        var discontinuities = playlist.discontinuitySequence
        for index in playlist.segments.indices {
            discontinuities += UInt64(playlist.segments[index].discontinuities)
            playlist.segments[index].sequence =
                playlist.mediaSequence &+ UInt64(playlist.skippedSegments) &+ UInt64(index)
            playlist.segments[index].discontinuitySequence = discontinuities
        }
        if playlist.targetDuration == nil, seen[.targetDuration] == nil {
            playlist.judged.insert(.segmentDuration)
            playlist.add(.segmentDuration, "missing", line: 1, "there is no EXT-X-TARGETDURATION")
        }
    }
}
