import Support

/// A parser for media playlists (RFC 8216 §4.3.2, §4.3.3) that reads the text in one pass.
///
/// The parser accepts what players accept: no VERSION, no TARGETDURATION, head tags in any order or between segments,
/// and unreadable tags that do not govern media. An unreadable number of the head counts as missing: segments are then
/// known by their URLs. It refuses text that could give wrong media.
package struct MediaPlaylistParser {
    private var playlist = MediaPlaylist(targetDuration: .zero)
    private let url: String
    private var scope: VariableScope
    private var builder: MediaSegmentBuilder
    /// Counts units dropped beyond the limits, except those that `scope` and `builder` drop.
    private var meter: LimitMeter
    /// Segments before the first one listed: skipped by a delta update, or dropped because they are the oldest.
    private var skippedSegments = 0
    private var droppedSegments = 0
    private var dateRangeWindow = DateRangeWindow()
    private var verbatimLines = 0
    /// The values of the tags that may occur only once.
    private var singleTagValues: [PlaylistTag: ArraySlice<UInt8>] = [:]
    /// Whether no tag of a segment was read yet. Unknown lines in the head belong to the playlist.
    private var isInHead = true

    /// Parses the text of a media playlist. A segment whose URI line is not written yet is not listed.
    ///
    /// Throws for text that is no playlist, for a malformed tag that governs media (`PlaylistTag.governsMedia`), for a
    /// URI without EXTINF, and for a playlist that has neither segments nor EXT-X-TARGETDURATION.
    /// - Parameters:
    ///   - url: the URL of the playlist after redirects, for EXT-X-DEFINE:QUERYPARAM and the URIs of date ranges.
    ///   - imported: the variables of the multivariant playlist that lists this one, for EXT-X-DEFINE:IMPORT.
    ///   - limits: how much is kept. Beyond the limits, the oldest segments and date ranges are dropped; of everything
    ///     else, the last elements.
    ///   - mayBeTruncated: whether only the end of the connection says where the bytes end. The last line then counts
    ///     only if it has a line end, because half a URL would be fetched. A playlist without a final line end is
    ///     therefore always one segment late.
    package static func parse(
        _ bytes: [UInt8], url: String = "", imported: [VariableDefinition] = [], limits: PlaylistLimits = .standard,
        mayBeTruncated: Bool = false
    ) throws(PlaylistError) -> MediaPlaylist {
        var parser = MediaPlaylistParser(
            url: url, scope: VariableScope(url: url, imported: imported, limits: limits),
            builder: MediaSegmentBuilder(meter: LimitMeter(limits)), meter: LimitMeter(limits))
        var lines = try PlaylistLines(playlist: bytes)
        while let line = lines.next() {
            try line.checkCancellation()
            guard parser.mayRead(line) else { break }
            try parser.read(line)
        }
        let playlist = try parser.finish()
        guard mayBeTruncated, !playlist.hasEndList, let lineEnd = bytes.lastIndex(of: 0x0A), lineEnd + 1 < bytes.count
        else { return playlist }
        return try parse(Array(bytes[...lineEnd]), url: url, imported: imported, limits: limits)
    }

    /// Whether a line is within the limit. The first line beyond the limit ends the playlist, and is the only one
    /// counted.
    private mutating func mayRead(_ line: PlaylistLine) -> Bool {
        guard line.number > meter.limits.lines else { return true }
        meter.drop(.lines)
        return false
    }

    private mutating func read(_ line: PlaylistLine) throws(PlaylistError) {
        StepCounter.add(1)
        guard line.bytes.count <= meter.limits.lineBytes else { return try readOverlong(line) }
        switch line.content {
        case .blank: return
        case .other: keepVerbatim(line)
        case .uri: try finishSegment(uri: try uri(of: line), line: line.number)
        case .tag(let tag, let value):
            do throws(PlaylistError) {
                try read(tag, value, line)
            } catch {
                if tag.mayBeMissing, case .badValue = error.reason {
                    singleTagValues[tag] = nil
                } else if tag.governsMedia {
                    throw error
                } else {
                    keepVerbatim(line)
                }
                playlist.irregularities.append(limited: error)
            }
        }
    }

    /// Reads from an overlong line only that it ends a segment, or the segment's duration.
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

    /// - Parameter uri: nil if the URI is too long. The segment is then listed as a gap, so that the others keep their
    ///   numbers.
    private mutating func finishSegment(uri: String?, line: Int) throws(PlaylistError) {
        var segment = try builder.finishSegment(uri: uri ?? "", line: line)
        if uri == nil { segment.isGap = true }
        playlist.segments.append(segment)
        isInHead = false
        let limit = meter.limits.segments
        if playlist.segments.count > limit + limit / 4 { dropOldestSegments() }
    }

    private mutating func keepVerbatim(_ line: PlaylistLine) {
        if line.isCueTag { isInHead = false }
        let place = isInHead ? playlist.unknownTags.count : builder.next.unknownTags.count
        guard place < meter.limits.linesPerSegment else { return meter.drop(.linesPerSegment) }
        guard verbatimLines < meter.limits.verbatimLines else { return meter.drop(.verbatimLines) }
        verbatimLines += 1
        guard !isInHead else { return playlist.unknownTags.append(line.text) }
        builder.next.unknownTags.append(line.text)
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
            if let replaced = try builder.read(tag, value, line: line.number, in: &scope) {
                playlist.irregularities.append(limited: replaced)
            }
        case .multivariantPlaylist: throw PlaylistError(.misplaced, tag, line: line.number)
        case .mediaMetadata: try readMetadata(tag, value, line: line.number)
        case .anyPlaylist, .mediaPlaylist: try readHead(tag, value, line: line.number)
        }
    }

    private mutating func readHead(
        _ tag: PlaylistTag, _ value: ArraySlice<UInt8>, line: Int
    ) throws(PlaylistError) {
        switch tag {
        case .independentSegments: playlist.hasIndependentSegments = true
        case .define: try scope.define(value, line: line)
        // A decimal-integer (§4.3.3.1). Some encoders write a fraction; it is rounded up.
        case .targetDuration:
            playlist.targetDuration = Self.targetDuration(
                of: try tag.read(value, line: line) { DecimalSeconds.duration($0) })
        case .mediaSequence:
            playlist.mediaSequence = try tag.read(value, line: line) { PlaylistNumber.sequenceNumber.value($0) }
        case .discontinuitySequence:
            playlist.discontinuitySequence = try tag.read(value, line: line) { PlaylistNumber.sequenceNumber.value($0) }
        case .endList: playlist.hasEndList = true
        case .playlistType:
            playlist.playlistType = try tag.read(value, line: line) {
                MediaPlaylist.PlaylistType(rawValue: String(decoding: $0, as: UTF8.self))
            }
        case .serverControl:
            playlist.canBlockReload = try TagAttributes(value, of: tag, line: line, in: &scope).flag("CAN-BLOCK-RELOAD")
        default: return
        }
    }

    private mutating func readMetadata(
        _ tag: PlaylistTag, _ value: ArraySlice<UInt8>, line: Int
    ) throws(PlaylistError) {
        guard tag == .dateRange || tag == .skip else { return }
        let attributes = try TagAttributes(value, of: tag, line: line, in: &scope)
        guard tag == .skip else {
            let range = DateRange(id: try attributes.required("ID"), attributes: attributes.list)
            guard let absolute = range.resolvingURIs(against: url) else {
                throw PlaylistError(.badValue(range.assetURI.redacted), .dateRange, line: line)
            }
            return append(absolute)
        }
        let text = try attributes.required("SKIPPED-SEGMENTS")
        guard let count = PlaylistNumber.skippedSegments.value(text.utf8) else {
            throw attributes.badValue("SKIPPED-SEGMENTS")
        }
        skippedSegments = Int(count)
    }

    private static func targetDuration(of duration: Duration) -> Duration {
        min(DecimalSeconds.roundedUp(duration), .seconds(PlaylistNumber.targetDuration.range.upperBound))
    }

    // MARK: - Values that depend on the whole text

    private consuming func finish() throws(PlaylistError) -> MediaPlaylist {
        if playlist.segments.count > meter.limits.segments { dropOldestSegments() }
        dropOldestDateRanges()
        try inferTargetDuration()
        numberSegments()
        playlist.trailingDateRanges = builder.next.dateRanges
        for meter in [meter, scope.meter, builder.meter] {
            playlist.dropped.merge(meter.dropped, uniquingKeysWith: +)
        }
        return playlist
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

    /// Numbers the segments. This is the last step, because the tags with the first numbers may occur anywhere.
    private mutating func numberSegments() {
        playlist.mediaSequence += UInt64(skippedSegments + droppedSegments)
        let discontinuities = playlist.discontinuitySequence ?? 0
        for index in playlist.segments.indices {
            playlist.segments[index].mediaSequence = playlist.mediaSequence + UInt64(index)
            playlist.segments[index].discontinuitySequence += discontinuities
        }
    }

    // MARK: - Limits

    // The oldest segments and date ranges are dropped, because viewers and the cursor need the newest.

    /// The URI of a segment with its variables substituted; nil if it is too long.
    private mutating func uri(of line: PlaylistLine) throws(PlaylistError) -> String? {
        do throws(PlaylistError) {
            return try scope.substitute(line.text, tag: .extinf, line: line.number)
        } catch {
            guard case .exceeds = error.reason else { throw error }
            return nil
        }
    }

    private mutating func dropOldestSegments() {
        let count = playlist.segments.count - meter.limits.segments
        meter.drop(.segments, count: count)
        StepCounter.add(playlist.segments.count)
        playlist.segments.removeFirst(count)
        droppedSegments += count
    }

    private mutating func append(_ range: DateRange) {
        if isInHead {
            playlist.dateRanges.append(range)
            dateRangeWindow.append(range, at: .head)
        } else {
            builder.next.dateRanges.append(range)
            dateRangeWindow.append(range, at: .segment(droppedSegments + playlist.segments.count))
        }
        if dateRangeWindow.exceeds(meter.limits) { dropOldestDateRanges() }
    }

    private mutating func dropOldestDateRanges() {
        let (places, byCount, byBytes) = dateRangeWindow.removeExcess(meter.limits)
        if byCount > 0 { meter.drop(.dateRanges, count: byCount) }
        if byBytes > 0 { meter.drop(.dateRangeBytes, count: byBytes) }
        for (place, count) in places { drop(count, at: place) }
    }

    private mutating func drop(_ count: Int, at place: DateRangeWindow.Place) {
        switch place {
        case .head:
            StepCounter.add(playlist.dateRanges.count)
            playlist.dateRanges.removeFirst(count)
        case .segment(let number):
            let index = number - droppedSegments
            if index == playlist.segments.count {
                StepCounter.add(builder.next.dateRanges.count)
                builder.next.dateRanges.removeFirst(count)
            } else if index >= 0 {
                StepCounter.add(playlist.segments[index].dateRanges.count)
                playlist.segments[index].dateRanges.removeFirst(count)
            }
        }
    }
}

/// The positions of the newest date ranges of a playlist, in the order in which they were read.
///
/// A channel needs the newest ranges: older ones were read when they were new.
private struct DateRangeWindow: Equatable, Sendable {
    enum Place: Equatable, Sendable {
        case head
        /// Before the segment with this index, counted from the first one that was ever read.
        case segment(Int)
    }

    private struct Entry: Equatable, Sendable {
        let place: Place
        let bytes: Int
    }

    private var entries: [Entry] = []
    private var bytes = 0

    mutating func append(_ range: DateRange, at place: Place) {
        let size = range.attributes.attributes.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        entries.append(Entry(place: place, bytes: size))
        bytes += size
    }

    /// Whether the limits are exceeded by so much that the oldest ranges are dropped now. Dropping a quarter of the
    /// limit at once moves each range a few times at most.
    func exceeds(_ limits: PlaylistLimits) -> Bool {
        entries.count > limits.dateRanges + limits.dateRanges / 4
            || bytes > limits.dateRangeBytes + limits.dateRangeBytes / 4
    }

    /// Removes the oldest ranges beyond the limits. Returns how many to drop at each position, oldest first, and the
    /// exceeded limits.
    mutating func removeExcess(
        _ limits: PlaylistLimits
    ) -> (places: [(place: Place, count: Int)], byCount: Int, byBytes: Int) {
        let byCount = max(0, entries.count - limits.dateRanges)
        var end = byCount
        bytes -= entries[..<end].reduce(0) { $0 + $1.bytes }
        while end < entries.count, bytes > limits.dateRangeBytes {
            bytes -= entries[end].bytes
            end += 1
        }
        var places: [(place: Place, count: Int)] = []
        for entry in entries[..<end] {
            if places.last?.place == entry.place {
                places[places.count - 1].count += 1
            } else {
                places.append((entry.place, 1))
            }
        }
        entries.removeFirst(end)
        return (places, byCount, end - byCount)
    }
}
