import Playlist
import Support

/// The properties of a representation from the elements around it: base URLs, and what names and times its segments.
///
/// Each attribute of SegmentBase, SegmentTemplate and SegmentList, and each element in them, is that of the nearest one
/// which has it (ISO/IEC 23009-1 §5.3.9.1).
struct InheritedElements {
    private enum Kind { case base, template, list }

    private(set) var baseURLs: [String]
    private var kind: Kind?
    /// The attributes known so far, without the segments and their times.
    private var known = SegmentAddressing(segments: .list([]), times: .indexed)
    private var duration: UInt64?
    private var timeline: [TimelineRun]?
    private var availability = SegmentAvailability()
    private var media: URLTemplate?
    private var references: [SegmentAddressing.Reference]?
    private var indexRange: ByteRange?

    init(baseURLs: [String]) { self.baseURLs = baseURLs }

    mutating func apply(_ element: XMLElement, _ parser: inout DASHManifestParser) throws(PlaylistError) {
        try apply(baseURLs: element.all("BaseURL"), &parser)
        for child in element.elements {
            switch child.name {
            case "SegmentBase": kind = .base
            case "SegmentTemplate": kind = .template
            case "SegmentList": kind = .list
            default: continue
            }
            try apply(segments: child, &parser)
        }
    }

    private mutating func apply(
        baseURLs elements: [XMLElement], _ parser: inout DASHManifestParser
    ) throws(PlaylistError) {
        let texts = elements.prefix(DASHManifestParser.largestBaseURLCount).map(\.text)
        guard let first = elements.first, let last = texts.last else { return }
        let count = max(texts.count, baseURLs.count)
        var resolved: [String] = []
        for index in 0..<count {
            let parent = baseURLs[min(index, baseURLs.count - 1)]
            let text = index < texts.count ? texts[index] : last
            guard text.utf8.count <= DASHManifestParser.longestURL else { throw parser.error(.badValue(text), first) }
            let url = URIReference.resolve(text, against: parent)
            guard url.utf8.count <= min(DASHManifestParser.longestURL, parser.baseURLBytesLeft) else {
                throw parser.error(.exceeds(.expandedBytes), first)
            }
            guard !resolved.contains(url) else { continue }
            parser.baseURLBytesLeft -= url.utf8.count
            resolved.append(url)
        }
        baseURLs = resolved
        availability.apply(first, &parser)
    }

    private mutating func apply(
        segments element: XMLElement, _ parser: inout DASHManifestParser
    ) throws(PlaylistError) {
        known.timescale = try parser.number(element, "timescale", .timescale) ?? known.timescale
        known.presentationTimeOffset =
            try parser.number(element, "presentationTimeOffset", .mediaTime) ?? known.presentationTimeOffset
        known.startNumber = try parser.number(element, "startNumber", .segmentNumber) ?? known.startNumber
        known.endNumber = try parser.number(element, "endNumber", .segmentNumber) ?? known.endNumber
        if let length = try parser.number(element, "duration", .mediaTime) {
            guard length > 0 else { throw parser.error(.badValue("0"), element, "duration") }
            (duration, timeline) = (length, nil)
        }
        availability.apply(element, &parser)
        if let text = element["indexRange"] { indexRange = try range(text, element, "indexRange", parser) }
        if let text = element["media"] { media = try template(text, element, "media", parser) }
        if let text = element["initialization"] {
            known.initialization = .template(try template(text, element, "initialization", parser))
        }
        if let child = element.first("Initialization") {
            known.initialization = .reference(
                try reference(child, uri: child["sourceURL"], range: child["range"], "range", parser))
        }
        if let child = element.first("SegmentTimeline") {
            (timeline, duration) = (try Self.timeline(child, parser), nil)
        }
        let urls = element.all("SegmentURL")
        guard !urls.isEmpty else { return }
        references = try urls.map { child throws(PlaylistError) in
            try reference(child, uri: child["media"], range: child["mediaRange"], "mediaRange", parser)
        }
    }

    private func template(
        _ text: String, _ element: XMLElement, _ attribute: String, _ parser: DASHManifestParser
    ) throws(PlaylistError) -> URLTemplate {
        guard text.utf8.count <= DASHManifestParser.longestURL, let template = URLTemplate(text) else {
            throw parser.error(.badValue(text), element, attribute)
        }
        return template
    }

    private func reference(
        _ element: XMLElement, uri: String?, range text: String?, _ attribute: String, _ parser: DASHManifestParser
    ) throws(PlaylistError) -> SegmentAddressing.Reference {
        .init(
            uri: uri,
            byteRange: try text.map { text throws(PlaylistError) in try range(text, element, attribute, parser) })
    }

    /// Reads `first-last`.
    private func range(
        _ text: String, _ element: XMLElement, _ attribute: String, _ parser: DASHManifestParser
    ) throws(PlaylistError) -> ByteRange {
        let bounds = text.split(separator: "-", omittingEmptySubsequences: false).map {
            ManifestNumber.bytePosition.value(String($0))
        }
        guard bounds.count == 2, let first = bounds[0], let last = bounds[1], first <= last else {
            throw parser.error(.badValue(text), element, attribute)
        }
        return ByteRange(offset: first, length: last - first + 1)
    }

    // MARK: - Timelines

    private static func timeline(
        _ element: XMLElement, _ parser: DASHManifestParser
    ) throws(PlaylistError) -> [TimelineRun] {
        var runs: [TimelineRun] = []
        runs.reserveCapacity(element.elements.count)
        // Where the next run starts, and how many segments precede it; nil after a run without an end.
        var (next, index): (UInt64?, UInt64) = (0, 0)
        for child in element.elements where child.name == "S" {
            let start = try parser.number(child, "t", .mediaTime) ?? next
            guard let start else { throw parser.error(.missingAttribute("t"), child) }
            guard ManifestNumber.mediaTime.range.contains(start), ManifestNumber.segmentNumber.range.contains(index)
            else { throw parser.error(.badValue("\(start)"), child, "t") }
            guard let length = try parser.number(child, "d", .mediaTime), length > 0 else {
                throw parser.error(.missingAttribute("d"), child)
            }
            if let last = runs.last, last.count == nil {
                let count = start > last.start ? (start - last.start - 1) / last.duration + 1 : 0
                runs[runs.count - 1].count = count
                index = last.index + count
            }
            let isOpen = child["r"]?.hasPrefix("-") ?? false
            let count = isOpen ? nil : (try parser.number(child, "r", .repeatCount) ?? 0) + 1
            runs.append(TimelineRun(start: start, duration: length, count: count, index: index))
            next = try count.map { count throws(PlaylistError) in
                let (span, overflows) = length.multipliedReportingOverflow(by: count)
                guard !overflows, span <= ManifestNumber.mediaTime.range.upperBound else {
                    throw parser.error(.badValue("\(length)"), child, "d")
                }
                return start + span
            }
            index += count ?? 0
        }
        return runs
    }

    // MARK: - Result

    /// - Throws: if the elements do not say where the segments are.
    func addressing(of element: XMLElement, _ parser: DASHManifestParser) throws(PlaylistError) -> SegmentAddressing {
        var addressing = known
        switch kind {
        case .template:
            guard let media else { throw parser.error(.missingAttribute("SegmentTemplate@media"), element) }
            addressing.segments = .template(media)
        case .list:
            guard let references else { throw parser.error(.missingAttribute("SegmentURL"), element) }
            addressing.segments = .list(references)
        case .base, nil:
            guard let indexRange else { throw parser.error(.missingAttribute("SegmentBase@indexRange"), element) }
            addressing.segments = .index(indexRange)
        }
        if case .index(let range) = addressing.segments {
            if addressing.initialization == nil, range.offset > 0 {
                addressing.initialization = .reference(.init(byteRange: ByteRange(offset: 0, length: range.offset)))
            }
        } else if let timeline {
            addressing.times = .timeline(timeline)
        } else if let duration {
            addressing.times = .constant(duration)
        } else if parser.isDynamic, case .template(let media) = addressing.segments, media.namesSegments {
            // Shaka Packager lists a representation so before its first segment is complete.
            addressing.times = .timeline([])
        } else {
            throw parser.error(.missingAttribute("duration"), element)
        }
        addressing.availabilityTimeOffset = availability.offset
        return addressing
    }
}

/// How much earlier than its end a segment may be requested (ISO/IEC 23009-1 §5.3.9.5.3).
private struct SegmentAvailability {
    /// Zero if the manifest does not say it, or says that there is no bound.
    private var earliest = Duration.zero
    private var isWhole = true

    /// A segment that is still being made is not requested.
    var offset: Duration { isWhole ? earliest : .zero }

    /// - Parameter element: BaseURL, or one that describes segments.
    mutating func apply(_ element: XMLElement, _ parser: inout DASHManifestParser) {
        if element["availabilityTimeComplete"] == "false" { isWhole = false }
        guard let text = element["availabilityTimeOffset"] else { return }
        // Requests are allowed at any time. It does not say what is live, so the clock decides that alone.
        guard text != "INF" else {
            earliest = .zero
            return
        }
        guard let offset = DecimalSeconds.duration(text) else {
            return parser.leaveOut(.badValue(text), element, "availabilityTimeOffset")
        }
        earliest = offset
    }
}
