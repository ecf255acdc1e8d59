import Playlist
import Support

/// The tags of media playlists and of both kinds.
extension PlaylistScanner {
    mutating func read(_ tag: PlaylistTag, _ value: ArraySlice<UInt8>, _ line: Int) {
        switch tag {
        case .extm3u: return
        case .version:
            playlist.version = number(value, of: tag, line).map { Int(clamping: $0) }
        case .independentSegments: playlist.hasIndependentSegments = true
        case .endList: playlist.hasEndList = true
        case .discontinuity: next.discontinuities += 1
        case .gap: next.isGap = true
        case .iFramesOnly:
            playlist.hasIFramesOnly = true
            need(version: 4, for: tag.rawValue, line)
        case .targetDuration: readTargetDuration(value, line)
        case .mediaSequence, .discontinuitySequence: readSequence(tag, value, line)
        case .playlistType:
            playlist.playlistType = String(decoding: value, as: UTF8.self)
            if !["VOD", "EVENT"].contains(playlist.playlistType) {
                addMalformed(tag, value, line)
                playlist.playlistType = nil
            }
        case .extinf: readDuration(value, line)
        case .byteRange: readByteRange(value, line)
        case .programDateTime:
            next.date = ProgramDateTime(parsing: value)
            if next.date == nil {
                addMalformed(tag, value, line)
            } else if !value.suffix(6).contains(where: { [0x5A, 0x2B, 0x2D].contains($0) }) {
                playlist.add(
                    .programDateTime, "zone", level: .should, line: line, "\(tag.rawValue) has no time zone")
            }
        case .bitrate: _ = number(value, of: tag, line)
        default: readAttributes(tag, value, line)
        }
    }

    private mutating func addMalformed(_ tag: PlaylistTag, _ value: ArraySlice<UInt8>, _ line: Int) {
        let text = String(decoding: value.prefix(40), as: UTF8.self)
        playlist.add(.tagSyntax, "malformed", line: line, "\(tag.rawValue) has the value “\(text)”")
    }

    private mutating func number(_ value: ArraySlice<UInt8>, of tag: PlaylistTag, _ line: Int) -> UInt64? {
        let number = decimalInteger(value)
        if number == nil { addMalformed(tag, value, line) }
        return number
    }

    private mutating func readTargetDuration(_ value: ArraySlice<UInt8>, _ line: Int) {
        playlist.judged.insert(.segmentDuration)
        if let number = decimalInteger(value) {
            playlist.targetDuration = Int(clamping: number)
        } else {
            addMalformed(.targetDuration, value, line)
            playlist.targetDuration = DecimalSeconds.duration(value).map {
                Int(clamping: DecimalSeconds.roundedUp($0).components.seconds)
            }
        }
    }

    private mutating func readSequence(_ tag: PlaylistTag, _ value: ArraySlice<UInt8>, _ line: Int) {
        let hasTags = next.discontinuities > 0 || playlist.segments.contains { $0.discontinuities > 0 }
        if !playlist.segments.isEmpty || tag == .discontinuitySequence && hasTags {
            playlist.add(
                .tagSyntax, "late-sequence", line: line, "\(tag.rawValue) stands after the first segment or tag")
        }
        guard let number = number(value, of: tag, line) else { return }
        if tag == .mediaSequence {
            playlist.mediaSequence = number
        } else {
            playlist.discontinuitySequence = number
            playlist.hasDiscontinuitySequence = true
        }
    }

    private mutating func readDuration(_ value: ArraySlice<UInt8>, _ line: Int) {
        let text = value.prefix { $0 != ASCII.comma }
        hasDuration = true
        next.durationText = String(decoding: text, as: UTF8.self)
        if text.endIndex == value.endIndex {
            playlist.add(.tagSyntax, "no-comma", level: .note, line: line, "EXTINF has no comma after the duration")
        }
        guard let first = text.first, ASCII.isDigit(first), let duration = DecimalSeconds.duration(text) else {
            next.durationText = next.durationText.isEmpty ? "?" : next.durationText
            return addMalformed(.extinf, value, line)
        }
        next.duration = duration
        if text.contains(ASCII.point) { need(version: 3, for: "EXTINF with a fraction", line) }
        playlist.judged.insert(.segmentDuration)
    }

    private mutating func readByteRange(_ value: ArraySlice<UInt8>, _ line: Int) {
        need(version: 4, for: "EXT-X-BYTERANGE", line)
        guard let range = Self.byteRange(value) else { return addMalformed(.byteRange, value, line) }
        next.byteRange = range
    }

    /// `length[@offset]`; without an offset, the offset is `.max`.
    static func byteRange(_ value: ArraySlice<UInt8>) -> ByteRange? {
        let parts = value.split(separator: ASCII.at, maxSplits: 1, omittingEmptySubsequences: false)
        guard let length = decimalInteger(parts[0]), length > 0 else { return nil }
        guard parts.count == 2 else { return ByteRange(offset: .max, length: length) }
        guard let offset = decimalInteger(parts[1]), !offset.addingReportingOverflow(length).overflow else {
            return nil
        }
        return ByteRange(offset: offset, length: length)
    }

    // MARK: - Attribute lists

    private mutating func readAttributes(_ tag: PlaylistTag, _ value: ArraySlice<UInt8>, _ line: Int) {
        if tag == .define {
            need(version: 8, for: "EXT-X-DEFINE", line)
            do throws(PlaylistError) { try scope.define(value, line: line) } catch {
                playlist.add(.tagSyntax, "define", line: line, error.message)
            }
            return
        }
        let written: AttributeList
        do throws(PlaylistError) {
            written = try AttributeList(parsing: String(decoding: value, as: UTF8.self), line: line, tag: tag.rawValue)
        } catch {
            playlist.add(tag.syntaxRule, "attributes", line: line, "the attributes of \(tag.rawValue) cannot be read")
            return
        }
        var attributes = written
        for index in attributes.attributes.indices {
            attributes.attributes[index].value = substituted(attributes.attributes[index].value, line)
        }
        judgeSyntax(of: attributes, tag, line)
        apply(tag, attributes, line)
    }

    private mutating func judgeSyntax(of list: AttributeList, _ tag: PlaylistTag, _ line: Int) {
        var names: Set<String> = []
        for attribute in list.attributes {
            if !names.insert(attribute.name).inserted {
                playlist.add(
                    tag.syntaxRule, "attribute-twice", line: line, "\(tag.rawValue) has \(attribute.name) twice")
            }
            let isWrong =
                attribute.isQuoted
                ? AttributeNames.unquoted.contains(attribute.name) : AttributeNames.quoted.contains(attribute.name)
            // "NONE" is an enumerated string.
            if isWrong, attribute.value != "NONE" {
                playlist.add(
                    tag.syntaxRule, "quotes", line: line,
                    "\(attribute.name) of \(tag.rawValue) is \(attribute.isQuoted ? "" : "not ")quoted")
            }
        }
        for name in AttributeNames.required[tag] ?? [] where list[name]?.isEmpty ?? true {
            playlist.add(tag.syntaxRule, "missing-\(name.lowercased())", line: line, "\(tag.rawValue) has no \(name)")
        }
    }

    private mutating func apply(_ tag: PlaylistTag, _ list: AttributeList, _ line: Int) {
        switch tag {
        case .key: applyKey(list, line)
        case .map:
            let range = list["BYTERANGE"].flatMap { Self.byteRange(Array($0.utf8)[...]) }
            if list["BYTERANGE"] != nil, range == nil {
                playlist.add(.tagSyntax, "malformed", line: line, "BYTERANGE of EXT-X-MAP cannot be read")
            }
            need(version: playlist.hasIFramesOnly ? 5 : 6, for: "EXT-X-MAP", line)
            map = list["URI"].map { uri in
                ScannedMap(
                    uri: resolved(uri),
                    byteRange: range.map { ByteRange(offset: $0.offset == .max ? 0 : $0.offset, length: $0.length) },
                    key: keys.first { $0.method == "AES-128" })
            }
        case .dateRange:
            playlist.dateRanges.append(
                ScannedDateRange(range: DateRange(id: list["ID"] ?? "", attributes: list), line: line))
        case .streamInf:
            if let variant = pendingVariant {
                playlist.add(.tagSyntax, "no-uri", line: variant.line, "EXT-X-STREAM-INF has no URI line")
            }
            if list.attributes.contains(where: { $0.name.hasPrefix("REQ-") }) {
                need(version: 12, for: "an attribute that begins with REQ-", line)
            }
            pendingVariant = (list, line)
        case .iFrameStreamInf:
            playlist.variants.append(
                ScannedVariant(attributes: list, uri: resolved(list["URI"] ?? ""), line: line, isIFrames: true))
        case .media:
            if list["INSTREAM-ID"]?.hasPrefix("SERVICE") == true { need(version: 7, for: "INSTREAM-ID=SERVICE", line) }
            playlist.renditions.append(
                ScannedRendition(attributes: list, uri: list["URI"].map { resolved($0) }, line: line))
        default:
            if tag == .skip {
                need(version: 9, for: "EXT-X-SKIP", line)
                if list["RECENTLY-REMOVED-DATERANGES"] != nil {
                    need(version: 10, for: "RECENTLY-REMOVED-DATERANGES", line)
                }
                playlist.skippedSegments = list["SKIPPED-SEGMENTS"].flatMap { Int($0) } ?? 0
            }
            if tag == .part { playlist.partsSinceSegment += 1 }
            playlist.attributeTags.append(.init(tag: tag, attributes: list, line: line))
        }
    }

    private mutating func applyKey(_ list: AttributeList, _ line: Int) {
        let method = list["METHOD"] ?? ""
        if list["IV"] != nil { need(version: 2, for: "IV of EXT-X-KEY", line) }
        if list["KEYFORMAT"] != nil || list["KEYFORMATVERSIONS"] != nil {
            need(version: 5, for: "KEYFORMAT of EXT-X-KEY", line)
        }
        guard method != "NONE" else {
            keys = []
            return
        }
        guard let uri = list["URI"], !uri.isEmpty else {
            playlist.add(.tagSyntax, "missing-uri", line: line, "EXT-X-KEY has no URI")
            return
        }
        if let vector = list["IV"], !Self.isVector(vector) {
            playlist.add(.tagSyntax, "malformed", line: line, "IV of EXT-X-KEY is no number of 128 bits")
        }
        let key = ScannedKey(
            method: method, uri: resolved(uri), initializationVector: list["IV"],
            keyFormat: list["KEYFORMAT"] ?? "identity")
        keys.removeAll { $0.keyFormat == key.keyFormat || $0.method != key.method }
        keys.append(key)
    }

    private static func isVector(_ text: String) -> Bool {
        let digits = text.utf8.dropFirst(2)
        return text.lowercased().hasPrefix("0x") && (1...32).contains(digits.count)
            && Hexadecimal.decode([UInt8](repeating: ASCII.zero, count: digits.count % 2) + digits) != nil
    }
}

extension PlaylistTag {
    /// The rule that malformed attributes of the tag break.
    fileprivate var syntaxRule: Rule {
        switch self {
        case .media: .groups
        case .dateRange: .dateRanges
        case .partInf, .serverControl, .part, .preloadHint, .renditionReport, .skip: .lowLatency
        default: .tagSyntax
        }
    }
}

/// The grammar of attributes (§4.2): which are quoted strings, which are not, and which tags need them.
enum AttributeNames {
    static let quoted: Set = [
        "URI", "GROUP-ID", "NAME", "LANGUAGE", "ASSOC-LANGUAGE", "CODECS", "SUPPLEMENTAL-CODECS", "AUDIO", "VIDEO",
        "SUBTITLES", "INSTREAM-ID", "CHARACTERISTICS", "CHANNELS", "KEYFORMAT", "KEYFORMATVERSIONS", "ID", "CLASS",
        "START-DATE", "END-DATE", "BYTERANGE", "DATA-ID", "STABLE-VARIANT-ID", "STABLE-RENDITION-ID", "PATHWAY-ID",
        "REQ-VIDEO-LAYOUT", "X-ASSET-URI", "X-ASSET-LIST", "CLOSED-CAPTIONS", "SERVER-URI",
    ]
    static let unquoted: Set = [
        "BANDWIDTH", "AVERAGE-BANDWIDTH", "RESOLUTION", "FRAME-RATE", "HDCP-LEVEL", "VIDEO-RANGE", "METHOD", "IV",
        "TYPE", "DEFAULT", "AUTOSELECT", "FORCED", "DURATION", "PLANNED-DURATION", "END-ON-NEXT", "SCTE35-CMD",
        "SCTE35-OUT", "SCTE35-IN", "TIME-OFFSET", "PRECISE", "PART-TARGET", "CAN-SKIP-UNTIL", "CAN-SKIP-DATERANGES",
        "HOLD-BACK", "PART-HOLD-BACK", "CAN-BLOCK-RELOAD", "INDEPENDENT", "GAP", "SKIPPED-SEGMENTS",
        "BYTERANGE-START", "BYTERANGE-LENGTH", "LAST-MSN", "LAST-PART", "SCORE",
    ]
    static let required: [PlaylistTag: [String]] = [
        .key: ["METHOD"], .map: ["URI"], .start: ["TIME-OFFSET"], .streamInf: ["BANDWIDTH"],
        .iFrameStreamInf: ["BANDWIDTH", "URI"], .media: ["TYPE", "GROUP-ID", "NAME"], .dateRange: ["ID"],
        .partInf: ["PART-TARGET"], .part: ["URI", "DURATION"], .preloadHint: ["TYPE", "URI"],
        .renditionReport: ["URI"], .skip: ["SKIPPED-SEGMENTS"], .sessionData: ["DATA-ID"],
        .sessionKey: ["METHOD", "URI"],
        .contentSteering: ["SERVER-URI"],
    ]
}
