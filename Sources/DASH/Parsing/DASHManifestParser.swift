package import Playlist
import Support

/// A parser for DASH manifests (ISO/IEC 23009-1 §5.3).
///
/// What cannot be followed is left out with a word: a representation, an adaptation set, a period. Elements that are not
/// resolved (xlink) or not applied (PatchLocation) leave the rest as it is.
package struct DASHManifestParser {
    /// The number of elements of a manifest: a day of segments of 1 s in two timelines.
    package static let largestElementCount = 250_000
    /// Periods that are read, the last ones of a dynamic manifest and the first ones of a static one.
    package static let largestPeriodCount = 1024
    /// Representations of a period.
    package static let largestRepresentationCount = 512
    /// Base URLs with the same content that are tried.
    package static let largestBaseURLCount = 4
    /// Bytes of a URL, and of a template of one.
    static let longestURL = 16 << 10
    /// Bytes of an id, which stands in many URLs.
    static let longestID = 1024
    /// Bytes of all base URLs, which are resolved for each representation.
    static let baseURLBytes = PlaylistLimits.standard.expandedBytes
    /// Characters of a wrong value that are kept.
    private static let reportedLength = 200

    /// Whether bytes are a manifest, by their first element. Its prefix does not matter.
    package static func isManifest(_ bytes: [UInt8]) -> Bool {
        let beginning = bytes.prefix(4096).first { $0 > 0x20 && $0 != 0xEF && $0 != 0xBB && $0 != 0xBF }
        return beginning == UInt8(ascii: "<") && XMLElement.rootName(of: Array(bytes.prefix(64 << 10))) == "MPD"
    }

    /// - Parameter url: the URL of the manifest after redirects.
    package static func parse(_ bytes: [UInt8], url: String) throws(PlaylistError) -> DASHManifest {
        let root: XMLElement
        do throws(XMLElement.Failure) { root = try XMLElement.parse(bytes, limit: largestElementCount) } catch {
            throw PlaylistError(reason: reason(error), tag: "MPD", line: 1, section: section)
        }
        var parser = DASHManifestParser()
        return try parser.manifest(root, url: url)
    }

    private static func reason(_ failure: XMLElement.Failure) -> PlaylistError.Reason {
        switch failure {
        case .noElement: .missing
        case .truncated: .missingAttribute("/MPD")
        case .tooManyElements: .exceeds(.lines)
        case .canceled: .canceled
        }
    }

    private static let section = "ISO/IEC 23009-1 §5.3"

    /// Whether media is added while time passes.
    private(set) var isDynamic = false
    private var irregularities: [PlaylistError] = []
    /// Why the first representation was left out.
    private var mediaFault: PlaylistError?
    /// Bytes that the base URLs that follow may have.
    var baseURLBytesLeft = baseURLBytes
    /// Adaptation sets and representations are not read once a period has too many.
    private var representationsLeft = 0

    func error(_ reason: PlaylistError.Reason, _ element: XMLElement, _ attribute: String? = nil) -> PlaylistError {
        let tag = attribute.map { "\(element.name)@\($0)" } ?? element.name
        var reason = reason
        if case .badValue(let text) = reason { reason = .badValue(String(text.prefix(Self.reportedLength))) }
        return PlaylistError(reason: reason, tag: tag, line: element.line, section: Self.section)
    }

    mutating func leaveOut(_ reason: PlaylistError.Reason, _ element: XMLElement, _ attribute: String? = nil) {
        irregularities.append(limited: error(reason, element, attribute))
    }

    private mutating func leaveOutMedia(_ error: PlaylistError) {
        mediaFault = mediaFault ?? error
        irregularities.append(limited: error)
    }

    mutating func manifest(_ root: XMLElement, url: String) throws(PlaylistError) -> DASHManifest {
        var manifest = DASHManifest()
        isDynamic = root["type"] == "dynamic"
        manifest.isDynamic = isDynamic
        manifest.availabilityStartTime = date(root, "availabilityStartTime")
        manifest.publishTime = date(root, "publishTime")
        manifest.minimumUpdatePeriod = manifest.isDynamic ? duration(root, "minimumUpdatePeriod") : nil
        manifest.timeShiftBufferDepth = duration(root, "timeShiftBufferDepth")
        manifest.presentationDuration = duration(root, "mediaPresentationDuration")
        manifest.location = root.first("Location").flatMap { Self.webURL($0.text, base: url) }
        for timing in root.all("UTCTiming") {
            if let clock = clock(timing, base: url) { manifest.clocks.append(clock) }
        }
        if manifest.isDynamic, manifest.availabilityStartTime == nil {
            guard let text = root["availabilityStartTime"] else {
                throw error(.missingAttribute("availabilityStartTime"), root)
            }
            throw error(.badValue(text), root, "availabilityStartTime")
        }
        var inherited = InheritedElements(baseURLs: [url])
        try inherited.apply(root, &self)
        manifest.periods = periods(root, manifest, inherited)
        manifest.irregularities = irregularities
        manifest.mediaFault = mediaFault
        guard !manifest.periods.isEmpty else { throw irregularities.first ?? error(.missingAttribute("Period"), root) }
        return manifest
    }

    private mutating func clock(_ element: XMLElement, base: String) -> DASHManifest.ClockSource? {
        guard let scheme = element["schemeIdUri"], let value = element["value"] else { return nil }
        let first = value.split(separator: " ").first.map(String.init) ?? value
        if scheme.contains(":utc:direct:") {
            guard let date = ProgramDateTime(parsing: first) else {
                leaveOut(.badValue(first), element, "value")
                return nil
            }
            return .date(date)
        }
        guard let url = Self.webURL(first, base: base) else { return nil }
        if scheme.contains(":utc:http-head:") { return .header(url: url) }
        let isBody = scheme.contains(":utc:http-iso:") || scheme.contains(":utc:http-xsdate:")
        return isBody ? .body(url: url) : nil
    }

    private static func webURL(_ text: String, base: String) -> String? {
        let url = URIReference.resolve(text, against: base)
        return ["http", "https"].contains(URIReference.scheme(of: url)) ? url : nil
    }

    private mutating func date(_ element: XMLElement, _ attribute: StaticString) -> ProgramDateTime? {
        guard let text = element[attribute] else { return nil }
        let date = ProgramDateTime(parsing: text)
        if date == nil { leaveOut(.badValue(text), element, "\(attribute)") }
        return date
    }

    private mutating func duration(_ element: XMLElement, _ attribute: StaticString) -> Duration? {
        guard let text = element[attribute] else { return nil }
        let duration = Duration(isoText: text)
        if duration == nil { leaveOut(.badValue(text), element, "\(attribute)") }
        return duration
    }

    // MARK: - Periods

    private mutating func periods(
        _ root: XMLElement, _ manifest: DASHManifest, _ inherited: InheritedElements
    ) -> [DASHManifest.Period] {
        var elements = root.all("Period")[...]
        var next: Duration? = .zero
        let excess = elements.count - Self.largestPeriodCount
        if excess > 0 {
            leaveOut(.exceeds(.segments), root, "Period")
            // The starts of the others follow from the durations of these.
            for element in elements.prefix(excess) where manifest.isDynamic { next = end(element, after: next) }
            elements = manifest.isDynamic ? elements.dropFirst(excess) : elements.dropLast(excess)
        }
        var periods: [DASHManifest.Period] = []
        for element in elements {
            guard let start = duration(element, "start") ?? next else {
                leaveOut(.missingAttribute("start"), element)
                continue
            }
            next = end(element, after: start)
            do throws(PlaylistError) {
                if let period = try period(element, start: start, inherited) { periods.append(period) }
            } catch { leaveOutMedia(error) }
        }
        // A static presentation begins with its first period, whatever its start.
        let begin = manifest.isDynamic ? .zero : periods.map(\.start).min() ?? .zero
        return Self.closed(periods, at: manifest.presentationDuration.map { begin + $0 })
    }

    private mutating func end(_ element: XMLElement, after start: Duration?) -> Duration? {
        guard let start = duration(element, "start") ?? start, let length = duration(element, "duration") else {
            return nil
        }
        return start + length
    }

    /// Ends each period at the start of the next one, if it does not end before, and the last one with the presentation.
    private static func closed(_ periods: [DASHManifest.Period], at end: Duration?) -> [DASHManifest.Period] {
        var periods = periods
        // The sort is stable, and the starts of nearly all manifests are in order.
        periods.sort { $0.start < $1.start }
        for index in periods.indices {
            let next = index + 1 < periods.count ? periods[index + 1].start : end
            periods[index].end = [periods[index].end, next].compactMap { $0 }.min()
        }
        return periods
    }

    /// - Returns: nil for a period that stands for nothing (§5.5.3: resolve-to-zero).
    private mutating func period(
        _ element: XMLElement, start: Duration, _ inherited: InheritedElements
    ) throws(PlaylistError) -> DASHManifest.Period? {
        if let href = element["href"] {
            if href == "urn:mpeg:dash:resolve-to-zero:2013" { return nil }
            leaveOut(.badValue(href), element, "xlink:href")
        }
        var inherited = inherited
        try inherited.apply(element, &self)
        var period = DASHManifest.Period(
            key: id(of: element) ?? DecimalSeconds.text(start), start: start, end: end(element, after: start))
        representationsLeft = Self.largestRepresentationCount
        for set in element.all("AdaptationSet") { read(set, into: &period, inherited) }
        for stream in element.all("EventStream") { read(events: stream, into: &period) }
        return period
    }

    private mutating func id(of element: XMLElement) -> String? {
        guard let id = element["id"] else { return nil }
        guard id.utf8.count <= Self.longestID else {
            leaveOut(.badValue(id), element, "id")
            return nil
        }
        return id
    }

    // MARK: - Adaptation sets

    /// The attributes of an adaptation set that its representations have, if they have none of their own. They are read
    /// once: the tag may be long, and the representations many.
    private struct SetAttributes {
        let mimeType: String?
        let codecs: String?
        let frameRate: String?
        let resolution: Result<Variant.Resolution?, PlaylistError>
        let protection: SegmentKey?

        init(_ element: XMLElement, _ parser: DASHManifestParser) {
            (mimeType, codecs, frameRate) = (element["mimeType"], element["codecs"], element["frameRate"])
            resolution = Result { () throws(PlaylistError) in try parser.size(element) }
            protection = ContentProtection.key(of: element)
        }
    }

    private mutating func read(
        _ element: XMLElement, into period: inout DASHManifest.Period, _ parent: InheritedElements
    ) {
        if let href = element["href"] { leaveOut(.badValue(href), element, "xlink:href") }
        guard isEssential(element) else { return }
        var inherited = parent
        var set = DASHManifest.AdaptationSet()
        set.language = element["lang"].flatMap { $0.isEmpty || $0 == "und" ? nil : $0 }
        set.label = element.first("Label")?.text ?? element["label"]
        set.isMain = element.all("Role").contains { $0["value"] == "main" }
        do throws(PlaylistError) { try inherited.apply(element, &self) } catch { return leaveOutMedia(error) }
        let attributes = SetAttributes(element, self)
        var kind = Self.kind(element["contentType"]) ?? Self.kind(attributes.mimeType)
        let channels = channels(element)
        for child in element.all("Representation") {
            let childKind =
                kind ?? Self.kind(child["mimeType"]) ?? Self.kind(codecs: child["codecs"] ?? attributes.codecs)
            guard let childKind else {
                leaveOutMedia(error(.missingAttribute("mimeType"), child))
                continue
            }
            guard childKind != .other, isEssential(child) else { continue }
            guard representationsLeft > 0 else {
                leaveOut(.exceeds(.renditions), element, "Representation")
                break
            }
            representationsLeft -= 1
            kind = childKind
            set.channels = set.channels ?? self.channels(child) ?? channels
            do throws(PlaylistError) {
                set.representations.append(try representation(child, attributes, inherited))
            } catch { leaveOutMedia(error) }
        }
        if Self.isText(element) { leaveOut(.badValue("text"), element, "contentType") }
        guard !set.representations.isEmpty else { return }
        if kind == .video { period.video.append(set) } else { period.audio.append(set) }
    }

    /// Whether a set has subtitles, which are not followed.
    private static func isText(_ set: XMLElement) -> Bool {
        let elements = [set] + set.all("Representation").prefix(1)
        let types = elements.flatMap { [$0["contentType"], $0["mimeType"]] }.compactMap { $0?.lowercased() }
        return types.contains { $0.hasPrefix("text") || $0.contains("ttml") }
            || elements.contains { element in
                ["wvtt", "stpp"].contains { element["codecs"]?.hasPrefix($0) ?? false }
            }
    }

    private enum Kind { case video, audio, other }

    private static func kind(_ type: String?) -> Kind? {
        switch type?.split(separator: "/").first {
        case "video": .video
        case "audio": .audio
        case nil: nil
        default: .other
        }
    }

    private static func kind(codecs: String?) -> Kind? {
        switch CodecName.list(codecs ?? "").first?.content {
        case .video: .video
        case .audio: .audio
        case .text: .other
        case nil: nil
        }
    }

    /// Whether the media is that of the presentation: no trick mode, and nothing that only some clients understand.
    private mutating func isEssential(_ element: XMLElement) -> Bool {
        for property in element.elements where ["EssentialProperty", "SupplementalProperty"].contains(property.name) {
            let scheme = property["schemeIdUri"] ?? ""
            if scheme.hasPrefix("http://dashif.org/guidelines/trickmode") { return false }
            if property.name == "EssentialProperty", !scheme.hasPrefix("urn:mpeg:mpegB:cicp:") {
                leaveOut(.badValue(scheme), property, "schemeIdUri")
                return false
            }
        }
        return true
    }

    private func channels(_ element: XMLElement) -> String? {
        element.all("AudioChannelConfiguration").compactMap { $0["value"] }.first {
            ManifestNumber.pixels.value($0) != nil
        }
    }

    private static let containers: Set = ["video/mp4", "audio/mp4", "video/mp2t", "audio/mp2t"]

    private mutating func representation(
        _ element: XMLElement, _ set: SetAttributes, _ inherited: InheritedElements
    ) throws(PlaylistError) -> DASHManifest.Representation {
        if let mimeType = element["mimeType"] ?? set.mimeType, !Self.containers.contains(mimeType.lowercased()) {
            throw error(.badValue(mimeType), element, "mimeType")
        }
        let id = element["id"] ?? ""
        guard id.utf8.count <= Self.longestID else { throw error(.badValue(id), element, "id") }
        var inherited = inherited
        try inherited.apply(element, &self)
        var representation = DASHManifest.Representation(
            id: id, bandwidth: try number(element, "bandwidth", .bitRate).map { Int($0) } ?? 0,
            codecs: element["codecs"] ?? set.codecs ?? "", baseURLs: inherited.baseURLs,
            addressing: try inherited.addressing(of: element, self))
        guard representation.longestURL <= Self.longestURL else { throw error(.exceeds(.expandedBytes), element) }
        representation.resolution = try size(element)
        if representation.resolution == nil { representation.resolution = try set.resolution.get() }
        representation.frameRate = Self.frameRate(element["frameRate"] ?? set.frameRate)
        representation.protection = ContentProtection.key(of: element) ?? set.protection
        return representation
    }

    private func size(_ element: XMLElement) throws(PlaylistError) -> Variant.Resolution? {
        guard let width = try number(element, "width", .pixels), let height = try number(element, "height", .pixels)
        else { return nil }
        return Variant.Resolution(width: Int(width), height: Int(height))
    }

    func number(
        _ element: XMLElement, _ attribute: StaticString, _ number: ManifestNumber
    ) throws(PlaylistError) -> UInt64? {
        guard let text = element[attribute] else { return nil }
        guard let value = number.value(text) else { throw error(.badValue(text), element, "\(attribute)") }
        return value
    }

    /// Reads `25` or `30000/1001`.
    private static func frameRate(_ text: String?) -> String? {
        let parts = (text ?? "").split(separator: "/").map { decimalInteger($0.utf8) ?? 0 }
        guard let count = parts.first, count > 0, count <= 1_000_000, parts.count == 1 || parts[1] > 0 else {
            return nil
        }
        return DecimalSeconds.text(.milliseconds(Int64(count * 1000 / (parts.count > 1 ? parts[1] : 1))), decimals: 3)
    }

    // MARK: - Events

    private static let (largestEventCount, largestSection) = (1024, 4096)
    private static let binarySchemes: Set = ["urn:scte:scte35:2014:xml+bin", "urn:scte:scte35:2013:bin"]

    private mutating func read(events stream: XMLElement, into period: inout DASHManifest.Period) {
        guard let scheme = stream["schemeIdUri"], scheme.hasPrefix("urn:scte:scte35:") else { return }
        guard Self.binarySchemes.contains(scheme) else { return leaveOut(.badValue(scheme), stream, "schemeIdUri") }
        let clock: SegmentAddressing
        do throws(PlaylistError) {
            // Read once: the tag may be long, and the events many.
            clock = SegmentAddressing(
                segments: .list([]), times: .indexed, timescale: try number(stream, "timescale", .timescale) ?? 1,
                presentationTimeOffset: try number(stream, "presentationTimeOffset", .mediaTime) ?? 0)
        } catch { return irregularities.append(limited: error) }
        for element in stream.all("Event") {
            guard period.events.count < Self.largestEventCount else {
                return leaveOut(.exceeds(.dateRanges), stream, "Event")
            }
            do throws(PlaylistError) {
                period.events.append(try event(element, clock, period))
            } catch {
                irregularities.append(limited: error)
            }
        }
    }

    private func event(
        _ element: XMLElement, _ clock: SegmentAddressing, _ period: DASHManifest.Period
    ) throws(PlaylistError) -> DASHManifest.SpliceEvent {
        let text = element.firstDescendant("Binary")?.text ?? element["messageData"] ?? element.text
        guard let section = SpliceSectionText.decodeBase64(text.filter { !$0.isWhitespace }),
            section.count <= Self.largestSection
        else { throw error(.badValue(String(text.prefix(64))), element) }
        let time = period.start + clock.offset(try number(element, "presentationTime", .mediaTime) ?? 0)
        let length = try number(element, "duration", .mediaTime).map { clock.duration($0) }
        return DASHManifest.SpliceEvent(time: time, duration: length, section: section)
    }
}

/// The key that a ContentProtection asks for (ISO/IEC 23009-1 §5.8.4.1). No media of that kind is republished; the names are
/// for the message that says so.
private enum ContentProtection {
    private static let commonScheme = "urn:mpeg:dash:mp4protection:2011"

    /// The systems by their UUID (dashif.org/identifiers/content_protection).
    private static let systems = [
        "edef8ba9-79d6-4ace-a3c8-27dcd51d21ed": "Widevine", "9a04f079-9840-4286-ab92-e65be0885f95": "PlayReady",
        "94ce86fb-07ff-4f43-adb8-93d2fa968ca2": "FairPlay", "e2719d58-a985-b3c9-781a-b030af78d30e": "ClearKey",
        "1077efec-c0b2-4d02-ace3-3c1e52e2fb4b": "ClearKey", "5e629af5-38da-4063-8977-97ffbd9902d4": "Marlin",
    ]

    /// nil for media that is clear.
    static func key(of element: XMLElement) -> SegmentKey? {
        let protections = element.all("ContentProtection")
        guard !protections.isEmpty else { return nil }
        let schemes = protections.map { $0["schemeIdUri"]?.lowercased() ?? "" }
        let method = zip(protections, schemes).first { $0.1 == commonScheme }?.0["value"] ?? "cenc"
        let system = schemes.first { $0 != commonScheme } ?? commonScheme
        let name = systems.first { system.hasSuffix($0.key) }?.value ?? system
        return SegmentKey(method: .other(method), uri: "", keyFormat: name)
    }
}
