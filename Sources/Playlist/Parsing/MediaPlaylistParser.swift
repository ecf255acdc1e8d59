/// A parser for media playlists (RFC 8216 §4.3.2, §4.3.3) that reads the text in one pass.
///
/// The parser accepts what players accept: no VERSION, no TARGETDURATION, head tags in any order or between segments,
/// and unreadable tags that do not govern media. It refuses text that could give wrong media.
package struct MediaPlaylistParser {
    var playlist = MediaPlaylist(targetDuration: .zero)
    var scope: VariableScope
    var builder: MediaSegmentBuilder
    /// Counts what is dropped beyond the limits, but for what `scope` and `builder` drop.
    var meter: LimitMeter
    /// The oldest segments that were dropped.
    var droppedSegments = 0
    var dateRangeWindow = DateRangeWindow()
    /// Lines that no field holds, so far.
    private var verbatimLines = 0
    /// The values of the tags that may occur only once.
    private var singleTagValues: [PlaylistTag: ArraySlice<UInt8>] = [:]
    /// Whether no tag of a segment was read yet. Unknown lines in the head belong to the playlist.
    var isInHead = true
    /// Lines since the last URI line that apply to the next segment, and whether no field holds them.
    private var linesSinceURI: [(line: PlaylistLine, isVerbatim: Bool)] = []

    /// Parses the text of a media playlist. A segment whose URI line is not written yet is not listed.
    ///
    /// Throws for text that is no playlist, for a malformed tag that governs media (`PlaylistTag.governsMedia`), for a
    /// URI without EXTINF, and for a playlist that has neither segments nor EXT-X-TARGETDURATION.
    /// - Parameters:
    ///   - url: the URL of the playlist after redirects, for EXT-X-DEFINE:QUERYPARAM.
    ///   - imported: the variables of the multivariant playlist that lists this one, for EXT-X-DEFINE:IMPORT.
    ///   - limits: how much is kept. Beyond them the oldest segments and date ranges are dropped, and the last ones of
    ///     everything else.
    package static func parse(
        _ bytes: [UInt8], url: String = "", imported: [VariableDefinition] = [], limits: PlaylistLimits = .standard
    ) throws(PlaylistError) -> MediaPlaylist {
        try parseCountingSteps(bytes, url: url, imported: imported, limits: limits).playlist
    }

    /// Parses the text, and returns the steps that it took.
    static func parseCountingSteps(
        _ bytes: [UInt8], url: String = "", imported: [VariableDefinition] = [], limits: PlaylistLimits = .standard
    ) throws(PlaylistError) -> (playlist: MediaPlaylist, steps: Int) {
        var parser = MediaPlaylistParser(
            scope: VariableScope(url: url, imported: imported, limits: limits), limits: limits)
        var lines = try PlaylistLines(playlist: bytes)
        while let line = lines.next() {
            try LimitMeter.checkCancellation(at: line)
            guard parser.mayRead(line) else { break }
            try parser.read(line)
        }
        return try parser.finish()
    }

    private init(scope: VariableScope, limits: PlaylistLimits) {
        self.scope = scope
        builder = MediaSegmentBuilder(limits: limits)
        meter = LimitMeter(limits)
    }

    /// Whether a line is within the limit. The first one beyond it ends the playlist, and counts alone.
    private mutating func mayRead(_ line: PlaylistLine) -> Bool {
        guard line.number > meter.limits.lines else { return true }
        meter.drop(.lines)
        return false
    }

    private mutating func read(_ line: PlaylistLine) throws(PlaylistError) {
        meter.step()
        guard line.bytes.count <= meter.limits.lineBytes else { return try readOverlong(line) }
        switch line.content {
        case .blank: return
        case .other: keepVerbatim(line)
        case .uri: try finishSegment(uri: try uri(of: line), line: line.number)
        case .tag(let tag, let value):
            do throws(PlaylistError) {
                try read(tag, value, line)
            } catch {
                if tag.governsMedia { throw error }
                keepVerbatim(line)
                playlist.irregularities.append(limited: error)
            }
        }
    }

    /// Reads what a line that is too long still says: the number of a segment and its duration.
    private mutating func readOverlong(_ line: PlaylistLine) throws(PlaylistError) {
        if case .tag(.define, _) = line.content { return scope.dropOverlongDefinition() }
        meter.drop(.lineBytes)
        switch line.content {
        case .uri: try finishSegment(uri: nil, line: line.number)
        case .tag(.extinf, let value): try read(.extinf, value.prefix(meter.limits.lineBytes), line)
        case .tag(let tag, _) where tag.governsMedia:
            throw PlaylistError(.exceeds(.lineBytes), tag, line: line.number)
        case .blank, .other, .tag: return
        }
    }

    /// - Parameter uri: nil if it is too long. The segment is then listed as a gap, so that the others keep their numbers.
    private mutating func finishSegment(uri: String?, line: Int) throws(PlaylistError) {
        var segment = try builder.finishSegment(uri: uri ?? "", line: line)
        if uri == nil { segment.isGap = true }
        playlist.segments.append(segment)
        isInHead = false
        linesSinceURI.removeAll(keepingCapacity: true)
        let limit = meter.limits.segments
        if playlist.segments.count > limit + limit / 4 { dropOldestSegments() }
    }

    /// Keeps a line that no field holds.
    private mutating func keepVerbatim(_ line: PlaylistLine) {
        if line.isCueTag { isInHead = false }
        let place = isInHead ? playlist.unknownTags.count : builder.unknownTags.count
        guard place < meter.limits.linesPerSegment else { return meter.drop(.linesPerSegment) }
        guard verbatimLines < meter.limits.verbatimLines else { return meter.drop(.verbatimLines) }
        verbatimLines += 1
        guard !isInHead else { return playlist.unknownTags.append(line.text) }
        builder.unknownTags.append(line.text)
        if linesSinceURI.last?.line.number == line.number { linesSinceURI.removeLast() }
        keepForNextSegment(line, isVerbatim: true)
    }

    private mutating func keepForNextSegment(_ line: PlaylistLine, isVerbatim: Bool) {
        meter.append((line, isVerbatim), to: &linesSinceURI, limit: .trailingLines)
    }

    private mutating func read(
        _ tag: PlaylistTag, _ value: ArraySlice<UInt8>, _ line: PlaylistLine
    ) throws(PlaylistError) {
        if tag.mayAppearOnce {
            if let before = singleTagValues[tag], before != value {
                throw PlaylistError(.duplicate, tag, line: line.number)
            }
            singleTagValues[tag] = value
        }
        switch tag.scope {
        case .mediaSegment:
            isInHead = false
            keepForNextSegment(line, isVerbatim: false)
            if let replaced = try builder.read(tag, value, line: line.number, in: &scope) {
                playlist.irregularities.append(limited: replaced)
            }
        case .multivariantPlaylist: throw PlaylistError(.misplaced, tag, line: line.number)
        case .mediaMetadata: try readMetadata(try TagAttributes(value, of: tag, line: line.number, in: &scope))
        case .anyPlaylist, .mediaPlaylist: try readHead(tag, value, line: line.number)
        }
    }

    private mutating func readHead(
        _ tag: PlaylistTag, _ value: ArraySlice<UInt8>, line: Int
    ) throws(PlaylistError) {
        switch tag {
        case .version: playlist.version = try PlaylistParser.version(value, line: line)
        case .independentSegments: playlist.hasIndependentSegments = true
        case .define: try scope.define(value, line: line)
        case .targetDuration: playlist.targetDuration = try targetDuration(value, line: line)
        case .mediaSequence: playlist.mediaSequence = try sequenceNumber(value, of: tag, line: line)
        case .discontinuitySequence: playlist.discontinuitySequence = try sequenceNumber(value, of: tag, line: line)
        case .endList: playlist.hasEndList = true
        case .iFramesOnly: playlist.isIFramesOnly = true
        case .playlistType: playlist.playlistType = try playlistType(value, line: line)
        case .start, .partInf, .serverControl:
            try readHeadList(try TagAttributes(value, of: tag, line: line, in: &scope))
        default: return
        }
    }

    private mutating func readHeadList(_ attributes: TagAttributes) throws(PlaylistError) {
        switch attributes.tag {
        case .start: playlist.start = try StartOffset.parse(attributes)
        case .partInf: playlist.partTarget = try attributes.requiredDuration("PART-TARGET")
        default: playlist.serverControl = try ServerControl.parse(attributes)
        }
    }

    private mutating func readMetadata(_ attributes: TagAttributes) throws(PlaylistError) {
        switch attributes.tag {
        case .dateRange: append(DateRange(id: try attributes.required("ID"), attributes: attributes.list))
        case .skip: try readSkip(attributes)
        case .preloadHint: meter.append(attributes.list, to: &playlist.preloadHints, limit: .parts)
        default: meter.append(attributes.list, to: &playlist.renditionReports, limit: .parts)
        }
    }

    private mutating func readSkip(_ attributes: TagAttributes) throws(PlaylistError) {
        let text = try attributes.required("SKIPPED-SEGMENTS")
        guard let count = PlaylistNumber.skippedSegments.value(text.utf8) else {
            throw attributes.badValue("SKIPPED-SEGMENTS")
        }
        playlist.skippedSegments = Int(count)
        playlist.recentlyRemovedDateRanges = (attributes.list["RECENTLY-REMOVED-DATERANGES"] ?? "")
            .split(separator: "\t").map { String($0) }
    }
}

// Values of the head.
extension MediaPlaylistParser {
    private func sequenceNumber(
        _ value: ArraySlice<UInt8>, of tag: PlaylistTag, line: Int
    ) throws(PlaylistError) -> UInt64 {
        guard let number = PlaylistNumber.sequenceNumber.value(value.trimmingWhiteSpace()) else {
            throw PlaylistError(badValue: value, of: tag, line: line)
        }
        return number
    }

    /// The value of EXT-X-TARGETDURATION, a decimal-integer (§4.3.3.1). Some encoders write a fraction; it is rounded up.
    private func targetDuration(_ value: ArraySlice<UInt8>, line: Int) throws(PlaylistError) -> Duration {
        guard let duration = DecimalSeconds.duration(value.trimmingWhiteSpace()) else {
            throw PlaylistError(badValue: value, of: .targetDuration, line: line)
        }
        return Self.targetDuration(of: duration)
    }

    private static func targetDuration(of duration: Duration) -> Duration {
        min(DecimalSeconds.roundedUp(duration), .seconds(PlaylistNumber.targetDuration.range.upperBound))
    }

    private func playlistType(
        _ value: ArraySlice<UInt8>, line: Int
    ) throws(PlaylistError) -> MediaPlaylist.PlaylistType {
        let text = String(decoding: value.trimmingWhiteSpace(), as: UTF8.self)
        guard let type = MediaPlaylist.PlaylistType(rawValue: text) else {
            throw PlaylistError(badValue: value, of: .playlistType, line: line)
        }
        return type
    }
}

// Values that depend on the whole text.
extension MediaPlaylistParser {
    private consuming func finish() throws(PlaylistError) -> (playlist: MediaPlaylist, steps: Int) {
        if playlist.segments.count > meter.limits.segments { dropOldestSegments() }
        dropOldestDateRanges()
        try inferTargetDuration()
        numberSegments()
        playlist.variables = scope.definitions
        playlist.trailingParts = builder.parts
        playlist.trailingDateRanges = builder.dateRanges
        // These tags have no meaning without the URI line that is not written yet.
        playlist.trailingLines = linesSinceURI.filter { line, isVerbatim in
            guard !isVerbatim, case .tag(let tag, _) = line.content else { return true }
            return ![.extinf, .byteRange, .gap, .part].contains(tag)
        }.map { $0.line.text }
        let meters = [meter, scope.meter, builder.meter]
        for counted in meters { playlist.dropped.merge(counted.dropped, uniquingKeysWith: +) }
        return (playlist, meters.reduce(linesSinceURI.count) { $0 + $1.steps })
    }

    /// Sets a TARGETDURATION that is missing or 0 to the smallest value that §4.3.3.1 allows.
    private mutating func inferTargetDuration() throws(PlaylistError) {
        guard playlist.targetDuration == .zero else { return }
        guard let longest = playlist.segments.map({ $0.duration }).max() else {
            if singleTagValues[.targetDuration] == nil { throw PlaylistError(.missing, .targetDuration, line: 1) }
            return
        }
        playlist.targetDuration = max(.seconds(1), Self.targetDuration(of: longest))
    }

    /// Numbers the segments. The tags with the first numbers may occur anywhere, so this step comes last.
    private mutating func numberSegments() {
        if droppedSegments > 0 {
            playlist.mediaSequence += UInt64(playlist.skippedSegments + droppedSegments)
            playlist.skippedSegments = 0
        }
        let first = playlist.mediaSequence + UInt64(playlist.skippedSegments)
        let discontinuities = playlist.discontinuitySequence ?? 0
        for index in playlist.segments.indices {
            playlist.segments[index].mediaSequence = first + UInt64(index)
            playlist.segments[index].discontinuitySequence += discontinuities
        }
    }
}

extension ServerControl {
    static func parse(_ attributes: TagAttributes) throws(PlaylistError) -> ServerControl {
        ServerControl(
            canSkipUntil: try attributes.duration("CAN-SKIP-UNTIL"),
            canSkipDateRanges: attributes.flag("CAN-SKIP-DATERANGES"),
            holdBack: try attributes.duration("HOLD-BACK"),
            partHoldBack: try attributes.duration("PART-HOLD-BACK"),
            canBlockReload: attributes.flag("CAN-BLOCK-RELOAD"))
    }
}
