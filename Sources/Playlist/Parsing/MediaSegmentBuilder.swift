import Support

/// A builder that collects the tags of the next segment and the state that segments inherit (RFC 8216 §4.3.2).
struct MediaSegmentBuilder {
    /// Counts keys and parts beyond the limits.
    private(set) var meter: LimitMeter
    /// The number of parts in the playlist so far.
    private var partCount = 0
    /// Verbatim lines before the next segment.
    var unknownTags: [String] = []
    var dateRanges: [DateRange] = []
    private(set) var parts: [PartialSegment] = []

    // State that stays in effect until it changes.
    private var keys: [SegmentKey] = []
    private var map: MediaInitialization?
    private var bitrate: Int?
    /// The number of EXT-X-DISCONTINUITY tags so far. Two tags before one segment count twice (§6.2.1).
    private var discontinuities: UInt64 = 0

    // State of the next segment only.
    private var duration: Duration?
    private var title = ""
    private var isDiscontinuous = false
    private var byteRange: (text: ByteRangeText, line: Int)?
    private var programDateTime: ProgramDateTime?
    private var isGap = false

    // The ranges after which an implied offset continues (§4.3.2.2, draft §4.4.4.9).
    private var previousRange: (uri: String, range: ByteRange)?
    private var previousPartRange: (uri: String, range: ByteRange)?

    init(limits: PlaylistLimits) { meter = LimitMeter(limits) }

    /// - Returns: The irregularity of a tag that replaces an earlier one of the same segment.
    mutating func read(
        _ tag: PlaylistTag, _ value: ArraySlice<UInt8>, line: Int, in scope: inout VariableScope
    ) throws(PlaylistError) -> PlaylistError? {
        let isReplacing = tag == .extinf && duration != nil
        switch tag {
        case .extinf: try readDuration(value, line: line)
        case .discontinuity:
            isDiscontinuous = true
            discontinuities += 1
        case .gap: isGap = true
        case .byteRange: try readByteRange(value, line: line)
        case .programDateTime: try readDate(value, line: line)
        case .bitrate: try readBitrate(value, line: line)
        default: try read(try TagAttributes(value, of: tag, line: line, in: &scope))
        }
        return isReplacing ? PlaylistError(.duplicate, tag, line: line) : nil
    }

    /// The segment of the URI line. Its discontinuity sequence number counts from 0, and it has no media sequence number.
    mutating func finishSegment(uri: String, line: Int) throws(PlaylistError) -> MediaSegment {
        guard let duration else { throw PlaylistError(.missing, .extinf, line: line) }
        var segment = MediaSegment(uri: uri, duration: duration, discontinuitySequence: discontinuities)
        segment.title = title
        segment.isDiscontinuous = isDiscontinuous
        segment.byteRange = try resolvedByteRange(uri: uri)
        segment.keys = keys
        segment.map = map
        segment.programDateTime = programDateTime
        segment.isGap = isGap
        segment.bitrate = bitrate
        segment.parts = parts
        segment.unknownTags = unknownTags
        segment.dateRanges = dateRanges
        resetSegment()
        return segment
    }

    private mutating func resetSegment() {
        duration = nil
        title = ""
        isDiscontinuous = false
        byteRange = nil
        programDateTime = nil
        isGap = false
        parts = []
        unknownTags = []
        dateRanges = []
    }
}

// Tags with a plain value.
extension MediaSegmentBuilder {
    /// `<duration>,[<title>]`; the comma may be missing.
    private mutating func readDuration(_ value: ArraySlice<UInt8>, line: Int) throws(PlaylistError) {
        let comma = value.firstIndex(of: ASCII.comma) ?? value.endIndex
        guard let seconds = DecimalSeconds.duration(value[..<comma].trimmingWhiteSpace()) else {
            throw PlaylistError(badValue: value, of: .extinf, line: line)
        }
        duration = seconds
        title = String(decoding: value[comma...].dropFirst().trimmingWhiteSpace(), as: UTF8.self)
    }

    private mutating func readByteRange(_ value: ArraySlice<UInt8>, line: Int) throws(PlaylistError) {
        guard let text = ByteRangeText(value.trimmingWhiteSpace()) else {
            throw PlaylistError(badValue: value, of: .byteRange, line: line)
        }
        byteRange = (text, line)
    }

    private mutating func readDate(_ value: ArraySlice<UInt8>, line: Int) throws(PlaylistError) {
        guard let date = ProgramDateTime(parsing: value.trimmingWhiteSpace()) else {
            throw PlaylistError(badValue: value, of: .programDateTime, line: line)
        }
        programDateTime = date
    }

    private mutating func readBitrate(_ value: ArraySlice<UInt8>, line: Int) throws(PlaylistError) {
        guard let kilobits = PlaylistNumber.bitRate.value(value.trimmingWhiteSpace()) else {
            throw PlaylistError(badValue: value, of: .bitrate, line: line)
        }
        bitrate = Int(kilobits)
    }

    private mutating func resolvedByteRange(uri: String) throws(PlaylistError) -> ByteRange? {
        guard let (text, line) = byteRange else {
            previousRange = nil
            return nil
        }
        let previous = previousRange.flatMap { $0.uri == uri ? $0.range : nil }
        guard let range = text.resolved(after: previous) else {
            throw PlaylistError(.badValue("\(text.length)"), .byteRange, line: line)
        }
        previousRange = (uri, range)
        return range
    }
}

// Tags with an attribute list.
extension MediaSegmentBuilder {
    private mutating func read(_ attributes: TagAttributes) throws(PlaylistError) {
        switch attributes.tag {
        case .key: apply(try SegmentKey.parse(attributes))
        case .map: map = try initialization(attributes)
        default: try readPart(attributes)
        }
    }

    /// Puts a key into effect, or none. If there are too many key formats, the last one that is not identity is dropped.
    private mutating func apply(_ key: SegmentKey?) {
        guard let key else {
            keys = []
            return
        }
        meter.step(keys.count)
        keys = keys.applying(key)
        guard keys.count > meter.limits.keyFormats else { return }
        meter.drop(.keyFormats)
        if let index = keys.lastIndex(where: { $0.keyFormat != SegmentKey.identityFormat }) { keys.remove(at: index) }
    }

    private func initialization(_ attributes: TagAttributes) throws(PlaylistError) -> MediaInitialization {
        var map = MediaInitialization(uri: try attributes.required("URI"), keys: keys)
        if let text = try attributes.byteRange("BYTERANGE") {
            // Without an offset the section begins at byte 0 of its resource.
            guard let range = text.resolved(after: ByteRange(offset: 0, length: 0)) else {
                throw attributes.badValue("BYTERANGE")
            }
            map.byteRange = range
        }
        return map
    }

    private mutating func readPart(_ attributes: TagAttributes) throws(PlaylistError) {
        var part = PartialSegment(
            uri: try attributes.required("URI"), duration: try attributes.requiredDuration("DURATION"),
            isIndependent: attributes.flag("INDEPENDENT"), isGap: attributes.flag("GAP"))
        if let text = try attributes.byteRange("BYTERANGE") {
            let previous = previousPartRange.flatMap { $0.uri == part.uri ? $0.range : nil }
            guard let range = text.resolved(after: previous) else { throw attributes.badValue("BYTERANGE") }
            part.byteRange = range
            previousPartRange = (part.uri, range)
        }
        guard partCount < meter.limits.parts else { return meter.drop(.parts) }
        partCount += 1
        parts.append(part)
    }
}
