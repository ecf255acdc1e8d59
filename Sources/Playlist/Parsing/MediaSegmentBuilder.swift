import Support

/// A builder that collects the tags of the next segment and the state that segments inherit (RFC 8216 §4.3.2).
struct MediaSegmentBuilder {
    /// Counts keys beyond the limits.
    private(set) var meter: LimitMeter
    /// The next segment as far as its tags were read, without inherited state.
    var next = MediaSegment(uri: "", duration: .zero)
    private var hasDuration = false
    private var byteRange: (text: ByteRangeText, line: Int)?

    // State that stays in effect until it changes.
    private var keys: [SegmentKey] = []
    private var map: MediaInitialization?
    /// The number of EXT-X-DISCONTINUITY tags so far. Two tags before one segment count twice (§6.2.1).
    private var discontinuities: UInt64 = 0

    // The range after which an implied offset continues (§4.3.2.2).
    private var previousRange: (uri: String, range: ByteRange)?

    init(meter: LimitMeter) { self.meter = meter }

    /// - Returns: The irregularity of a tag that replaces an earlier one of the same segment; of a negative duration, which
    ///   counts as 0: that of a stream in a channel list; and of a key without attributes or a map without a URI, which
    ///   count as none.
    mutating func read(
        _ tag: PlaylistTag, _ value: ArraySlice<UInt8>, line: Int, in scope: inout VariableScope
    ) throws(PlaylistError) -> PlaylistError? {
        let isReplacing = tag == .extinf && hasDuration
        var isNegative = false
        switch tag {
        case .extinf:
            // `<duration>,[<title>]`; the comma may be missing.
            next.duration = try tag.read(value, line: line) { value in
                let text = value.prefix { $0 != ASCII.comma }.trimmingWhiteSpace()
                isNegative = text.first == ASCII.minus
                let duration = DecimalSeconds.duration(isNegative ? text.dropFirst() : text)
                return isNegative ? duration.map { _ in .zero } : duration
            }
            hasDuration = true
        case .discontinuity:
            next.isDiscontinuous = true
            discontinuities += 1
        case .gap: next.isGap = true
        case .byteRange: byteRange = (try tag.read(value, line: line) { ByteRangeText($0) }, line)
        case .programDateTime:
            next.programDateTime = try tag.read(value, line: line) { ProgramDateTime(parsing: $0) }
        case .key where value.trimmingWhiteSpace().isEmpty:
            apply(nil)
            return PlaylistError(.missingAttribute("METHOD"), tag, line: line)
        case .key: apply(try SegmentKey.parse(try TagAttributes(value, of: tag, line: line, in: &scope)))
        case .map:
            let attributes = try TagAttributes(value, of: tag, line: line, in: &scope)
            guard attributes.list["URI"] != "" else {
                map = nil
                return PlaylistError(.badValue(""), tag, line: line)
            }
            map = try initialization(attributes)
        default: break
        }
        if isNegative { return PlaylistError(.badValue(String(decoding: value, as: UTF8.self)), tag, line: line) }
        return isReplacing ? PlaylistError(.duplicate, tag, line: line) : nil
    }

    /// The segment of the URI line. Its discontinuity sequence number counts from 0, and it has no media sequence number.
    mutating func finishSegment(uri: String, line: Int) throws(PlaylistError) -> MediaSegment {
        guard hasDuration else { throw PlaylistError(.missing, .extinf, line: line) }
        defer { (next, hasDuration, byteRange) = (MediaSegment(uri: "", duration: .zero), false, nil) }
        next.uri = uri
        next.discontinuitySequence = discontinuities
        next.byteRange = try resolvedByteRange(uri: uri)
        next.keys = keys
        next.map = map
        return next
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

    // MARK: - Tags with an attribute list

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
