import Support

/// A builder that collects the tags of the next segment and the state that segments inherit (RFC 8216 §4.3.2).
struct MediaSegmentBuilder {
    /// Counts keys beyond the limits.
    private(set) var meter: LimitMeter
    /// Verbatim lines before the next segment.
    var unknownTags: [String] = []
    var dateRanges: [DateRange] = []

    // State that stays in effect until it changes.
    private var keys: [SegmentKey] = []
    private var map: MediaInitialization?
    /// The number of EXT-X-DISCONTINUITY tags so far. Two tags before one segment count twice (§6.2.1).
    private var discontinuities: UInt64 = 0

    // State of the next segment only.
    private var duration: Duration?
    private var isDiscontinuous = false
    private var byteRange: (text: ByteRangeText, line: Int)?
    private var programDateTime: ProgramDateTime?
    private var isGap = false

    // The range after which an implied offset continues (§4.3.2.2).
    private var previousRange: (uri: String, range: ByteRange)?

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
        case .key: apply(try SegmentKey.parse(try TagAttributes(value, of: tag, line: line, in: &scope)))
        case .map: map = try initialization(try TagAttributes(value, of: tag, line: line, in: &scope))
        default: break
        }
        return isReplacing ? PlaylistError(.duplicate, tag, line: line) : nil
    }

    /// The segment of the URI line. Its discontinuity sequence number counts from 0, and it has no media sequence number.
    mutating func finishSegment(uri: String, line: Int) throws(PlaylistError) -> MediaSegment {
        guard let duration else { throw PlaylistError(.missing, .extinf, line: line) }
        var segment = MediaSegment(uri: uri, duration: duration, discontinuitySequence: discontinuities)
        segment.isDiscontinuous = isDiscontinuous
        segment.byteRange = try resolvedByteRange(uri: uri)
        segment.keys = keys
        segment.map = map
        segment.programDateTime = programDateTime
        segment.isGap = isGap
        segment.unknownTags = unknownTags
        segment.dateRanges = dateRanges
        resetSegment()
        return segment
    }

    private mutating func resetSegment() {
        duration = nil
        isDiscontinuous = false
        byteRange = nil
        programDateTime = nil
        isGap = false
        unknownTags = []
        dateRanges = []
    }
}

// MARK: - Tags with a plain value

extension MediaSegmentBuilder {
    /// Reads `<duration>,[<title>]`; the comma may be missing.
    private mutating func readDuration(_ value: ArraySlice<UInt8>, line: Int) throws(PlaylistError) {
        let comma = value.firstIndex(of: ASCII.comma) ?? value.endIndex
        guard let seconds = DecimalSeconds.duration(value[..<comma].trimmingWhiteSpace()) else {
            throw PlaylistError(badValue: value, of: .extinf, line: line)
        }
        duration = seconds
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

// MARK: - Tags with an attribute list

extension MediaSegmentBuilder {
    /// Puts a key into effect, or none. If there are too many key formats, the last one that is not identity is dropped.
    private mutating func apply(_ key: SegmentKey?) {
        guard let key else {
            keys = []
            return
        }
        StepCounter.add(keys.count)
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
}

extension SegmentKey {
    private static let initializationVectorByteCount = 16

    /// The key that EXT-X-KEY declares; nil for METHOD=NONE.
    ///
    /// Throws if METHOD or URI is missing, or if IV is not a 128-bit number. A guessed key would turn media into noise.
    fileprivate static func parse(_ attributes: TagAttributes) throws(PlaylistError) -> SegmentKey? {
        guard let method = Method(text: try attributes.required("METHOD")) else { return nil }
        return SegmentKey(
            method: method, uri: try attributes.required("URI"),
            initializationVector: try initializationVector(attributes),
            keyFormat: attributes.list["KEYFORMAT"] ?? identityFormat)
    }

    /// The IV attribute. A hexadecimal-sequence is a number (§4.2): missing digits on the left are zeros.
    private static func initializationVector(_ attributes: TagAttributes) throws(PlaylistError) -> [UInt8]? {
        guard let text = attributes.list["IV"] else { return nil }
        let digits = text.utf8.dropFirst(2)
        let missing = 2 * initializationVectorByteCount - digits.count
        guard text.hasPrefix("0x") || text.hasPrefix("0X"), !digits.isEmpty, missing >= 0,
            let bytes = Hexadecimal.decode([UInt8](repeating: ASCII.zero, count: missing) + digits)
        else { throw attributes.badValue("IV") }
        return bytes
    }
}

/// The text `length[@offset]` of a byte range (RFC 8216 §4.3.2.2).
struct ByteRangeText: Equatable {
    let length: UInt64
    let offset: UInt64?

    /// nil if `text` is malformed.
    init?(_ text: ArraySlice<UInt8>) {
        let at = text.firstIndex(of: ASCII.at)
        guard let length = Self.bytes(text[..<(at ?? text.endIndex)]) else { return nil }
        self.length = length
        guard let at else {
            self.offset = nil
            return
        }
        guard let offset = Self.bytes(text[(at + 1)...]) else { return nil }
        self.offset = offset
    }

    private static func bytes(_ digits: ArraySlice<UInt8>) -> UInt64? {
        PlaylistNumber.bytePosition.value(digits.trimmingWhiteSpace())
    }

    /// The range with its offset. Without a written offset the range follows `previous` in the same resource.
    ///
    /// nil if there is neither an offset nor a previous range, or if the end does not fit into 64 bits.
    func resolved(after previous: ByteRange?) -> ByteRange? {
        guard let offset = offset ?? previous.map({ $0.offset + $0.length }),
            !offset.addingReportingOverflow(length).overflow
        else { return nil }
        return ByteRange(offset: offset, length: length)
    }
}
