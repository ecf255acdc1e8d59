import Playlist
import Support

/// Reads M3U lists of channels in all the spellings that people and programs write.
///
/// A line that is not understood becomes an issue and affects no other line. docs/lists.md has the table of spellings.
package struct M3UChannelListParser {
    private let base: String
    private let limits: ChannelListLimits
    private var issues: IssueLog
    private var collector: ChannelMerger
    /// The attributes of `#EXTM3U` by name, except the guides.
    private var defaults: [String: String] = [:]
    private var guides: [String] = []
    private var entry: ListEntry?
    private var pending = RequestOptions()
    private var standingGroups: [String] = []
    private var hasHeader = false
    private var hasListAttributes = false

    /// - Parameters:
    ///   - bytes: the list as received, not compressed.
    ///   - url: the list's URL after redirects, against which relative URLs are resolved; empty for a file.
    ///   - previous: the channels before a reload, whose slugs are kept.
    package static func parse(
        _ bytes: [UInt8], url: String = "", keeping previous: [ListedChannel] = [],
        limits: ChannelListLimits = ChannelListLimits()
    ) throws(ChannelListError) -> M3UChannelList {
        guard bytes.count <= limits.bytes else { throw .tooLarge(bytes: bytes.count, limit: limits.bytes) }
        if let kind = DocumentKind(foreign: bytes) { throw .notAList(kind, line: 1) }
        var parser = M3UChannelListParser(base: url, limits: limits)
        for line in ListLines(bytes) { try parser.read(line) }
        return try parser.finish(keeping: previous, bytes: bytes)
    }

    private init(base: String, limits: ChannelListLimits) {
        self.base = base
        self.limits = limits
        issues = IssueLog(capacity: limits.issues)
        collector = ChannelMerger(limits: limits)
    }

    private mutating func read(_ line: ListLines.Line) throws(ChannelListError) {
        guard !line.bytes.isEmpty else { return }
        guard line.bytes.count <= limits.lineBytes else {
            return issues.record(.longLine(bytes: line.bytes.count), line: line.number)
        }
        let (text, isForeign) = line.decoded()
        if isForeign { issues.record(.foreignEncoding, line: line.number) }
        guard let directive = ListDirective(text) else { return readURL(text, line: line.number) }
        if let kind = directive.playlistKind, !hasListAttributes { throw .notAList(kind, line: line.number) }
        if directive.isMissingNumberSign { issues.record(.missingNumberSign, line: line.number) }
        read(directive, line: line.number)
    }

    private mutating func read(_ directive: ListDirective, line: Int) {
        requireHeader(line: line, isHeader: directive.name == "#EXTM3U")
        switch directive.name {
        case "#EXTM3U": readHeader(directive.value, line: line)
        case "#EXTINF": readEntry(directive.value, line: line)
        case "#EXTGRP": readGroups(directive.value)
        case "#HTTP", "#HTTPS": readBackup(directive.value, line: line)
        case "#": break
        default: readOptions(directive, line: line)
        }
    }

    private mutating func requireHeader(line: Int, isHeader: Bool) {
        if !hasHeader, !isHeader { issues.record(.missingHeader, line: line) }
        hasHeader = true
    }

    private mutating func finish(
        keeping previous: [ListedChannel], bytes: [UInt8]
    ) throws(ChannelListError) -> M3UChannelList {
        closeEntry()
        guard !collector.channels.isEmpty else {
            if !hasListAttributes, let kind = DocumentKind(unreadable: bytes) { throw .notAList(kind, line: 1) }
            throw .noChannels(firstIssue: issues.issues.first { $0.kind != .missingHeader })
        }
        let channels = ChannelSlug.assign(to: collector.channels, keeping: previous)
        var names: Set<String> = []
        for (channel, line) in zip(channels, collector.lines) where !names.insert(channel.name).inserted {
            issues.record(.repeatedName(channel.name, slug: channel.slug), line: line)
        }
        return M3UChannelList(
            guides: guides, channels: channels, issues: issues.issues.sorted { $0.line < $1.line },
            issueCount: issues.count)
    }
}

extension M3UChannelListParser {
    private mutating func readHeader(_ text: Substring, line: Int) {
        let found = ListAttributeScanner.scan(text, hasName: false)
        for issue in found.issues { issues.record(issue, line: line) }
        for attribute in found.attributes {
            switch attribute.name {
            case "x-tvg-url", "url-tvg", "tvg-url": appendGuides(attribute.value, line: line)
            case _ where attribute.value.utf8.count > limits.valueBytes:
                issues.record(.longValue(attribute: String(attribute.name.prefix(40))), line: line)
            default: defaults[attribute.name] = attribute.value
            }
        }
    }

    private mutating func appendGuides(_ list: String, line: Int) {
        for reference in list.split(separator: ",").map({ String($0.trimmingWhiteSpace) }) where !reference.isEmpty {
            let url: String
            do throws(SourceURLError) { url = try SourceURL.absolute(reference, base: base) } catch {
                issues.record(Self.issue(error, reference), line: line)
                continue
            }
            guard !guides.contains(url) else { continue }
            guard guides.count < limits.guides else { return issues.record(.limit(.guides), line: line) }
            guides.append(url)
        }
    }

    private mutating func readEntry(_ text: Substring, line: Int) {
        closeEntry()
        let found = ListAttributeScanner.scan(Self.afterDuration(text), hasName: true)
        for issue in found.issues { issues.record(issue, line: line) }
        if found.name == nil { issues.record(.missingComma, line: line) }
        let name = found.name ?? found.remainder
        if name.isEmpty { issues.record(.missingName, line: line) }
        let attributes = found.attributes.filter { attribute in
            guard attribute.value.utf8.count > limits.valueBytes else { return true }
            issues.record(.longValue(attribute: String(attribute.name.prefix(40))), line: line)
            return false
        }
        hasListAttributes = hasListAttributes || !attributes.isEmpty
        let entry = ListEntry(line: line, name: name, attributes: attributes)
        if let number = entry.writtenNumber, entry.number == nil {
            issues.record(.malformedNumber(String(number.prefix(40))), line: line)
        }
        self.entry = entry
    }

    /// The text after `-1`, `0` or another duration.
    private static func afterDuration(_ text: Substring) -> Substring {
        var rest = text.trimmingWhiteSpace
        if let sign = rest.first, sign == "-" || sign == "+" { rest = rest.dropFirst() }
        return rest.drop { $0.isASCII && $0.isNumber || $0 == "." }
    }

    private mutating func readGroups(_ text: Substring) {
        let groups = ListEntry.groupNames(text)
        if entry?.isOpen == true {
            entry?.groups = groups
        } else {
            closeEntry()
            standingGroups = groups
        }
    }

    private mutating func closeEntry() {
        defer { entry = nil }
        guard let entry else { return }
        guard var channel = entry.channel(defaults: defaults, standingGroups: standingGroups, base: base) else {
            if !entry.isExplained { issues.record(.missingURL(name: String(entry.name.prefix(40))), line: entry.line) }
            return
        }
        do throws(ProviderArchive.Fault) {
            channel.providerArchive = try entry.archive(of: channel.sources.first?.url ?? "", defaults: defaults)
        } catch { issues.record(.unusableArchive(error), line: entry.line) }
        if entry.attributes["group-title"] != nil { standingGroups = [] }
        if let limit = collector.append(channel, line: entry.line) { issues.record(.limit(limit), line: entry.line) }
    }
}

extension M3UChannelListParser {
    private mutating func readURL(_ text: String, line: Int) {
        requireHeader(line: line, isHeader: false)
        let isOpen = entry?.isOpen == true
        guard SourceURL.isAbsolute(text.removingQuotes) || isOpen && Self.mayBeRelative(text) else {
            return issues.record(.unexpectedText(URIReference.redacted(String(text.prefix(40)))), line: line)
        }
        let options = pending
        pending = RequestOptions()
        guard let (source, own) = readSource(text, options: options, line: line) else { return }
        if entry == nil {
            issues.record(.missingEntry, line: line)
            entry = ListEntry(line: line, name: "")
        }
        if isOpen || entry?.isOpen == true { entry?.options = own }
        append(source, line: line, isBackup: false)
        if entry?.name.isEmpty == true, entry?.attributes.isEmpty == true, !isOpen { closeEntry() }
    }

    /// Reads a commented URL. Below a channel, or between its `#EXTINF` and its URL, it is a backup; elsewhere it is a
    /// comment.
    private mutating func readBackup(_ text: Substring, line: Int) {
        if entry != nil, let (source, _) = readSource(String(text), options: RequestOptions(), line: line) {
            append(source, line: line, isBackup: true)
        }
    }

    private mutating func append(_ source: ListedSource, line: Int, isBackup: Bool) {
        guard let count = entry?.sourceCount, count < limits.sourcesPerChannel else {
            return issues.record(.limit(.sources), line: line)
        }
        if isBackup { entry?.backups.append(source) } else { entry?.sources.append(source) }
    }

    /// - Returns: the source, and its options without those of the entry's first source; nil for a line that an issue
    ///   names.
    private mutating func readSource(
        _ text: String, options: RequestOptions, line: Int
    ) -> (ListedSource, RequestOptions)? {
        let url: SourceURL
        do throws(SourceURLError) { url = try SourceURL(line: text, base: base) } catch {
            entry?.isExplained = true
            issues.record(Self.issue(error, text), line: line)
            return nil
        }
        for issue in url.issues { issues.record(issue, line: line) }
        let own = url.options.filled(from: options)
        let all = own.filled(from: entry?.options ?? RequestOptions())
        if all.headers.count > limits.headersPerSource { issues.record(.limit(.headers), line: line) }
        var source = url.source
        source.headers = Array(all.headers.prefix(limits.headersPerSource))
        source.proxy = all.proxy
        return (source, own)
    }

    private static func issue(_ error: SourceURLError, _ text: String) -> ListIssue.Kind {
        switch error {
        case .unsupportedScheme(let scheme): .unsupportedScheme(String(scheme.prefix(20)))
        case .malformed: .malformedURL(URIReference.redacted(String(text.prefix(200))))
        }
    }

    private static func mayBeRelative(_ text: String) -> Bool {
        !text.contains(where: \.isWhitespace) && text.contains { $0 == "/" || $0 == "." }
    }
}

extension M3UChannelListParser {
    /// Reads a directive with options for the requests of the next source.
    private mutating func readOptions(_ directive: ListDirective, line: Int) {
        switch directive.name {
        case "#EXTVLCOPT": readPlayerOption(directive.value, line: line)
        case "#KODIPROP": readProperty(directive.value, line: line)
        case "#EXTHTTP": readJSON(directive.value, line: line)
        case "#EXTENC", "#EXTIMG", "#EXTALB", "#EXTART", "#EXTGENRE", "#EXTBYT", "#EXTBIN", "#EXT-X-VERSION": break
        default: issues.record(.unknownDirective(String(directive.name.prefix(40))), line: line)
        }
    }

    private mutating func readPlayerOption(_ text: Substring, line: Int) {
        let (key, value) = Self.pair(text)
        switch key {
        case "http-user-agent": set("User-Agent", to: value, line: line)
        case "http-referrer", "http-referer": set("Referer", to: value, line: line)
        case "http-origin": set("Origin", to: value, line: line)
        case "http-cookie", "http-cookies": set("Cookie", to: value, line: line)
        case "http-header", "http-headers": setField(value, line: line)
        case "http-proxy": setProxy(value, line: line)
        default: issues.record(.unknownOption(String(key.prefix(40))), line: line)
        }
    }

    private mutating func readProperty(_ text: Substring, line: Int) {
        let (key, value) = Self.pair(text)
        switch key {
        case "inputstream.adaptive.stream_headers", "inputstream.adaptive.manifest_headers",
            "inputstream.adaptive.common_headers":
            for issue in HeaderPairs.read(value).compactMap({ pending.set($0) }) { issues.record(issue, line: line) }
        case "inputstream", "inputstreamaddon", "inputstreamclass", "mimetype", "inputstream.adaptive.manifest_type":
            break
        default: issues.record(.unknownOption(String(key.prefix(60))), line: line)
        }
    }

    /// `{"User-Agent":"…"}`, whatever follows it.
    private mutating func readJSON(_ text: Substring, line: Int) {
        let object = text.lastIndex(of: "}").map { text[...$0] } ?? text
        guard case .object(let members)? = LooseJSON(Array(object.utf8)),
            case let fields = members.compactMap({ member in member.value.scalar.map { (member.name, $0) } }),
            fields.count == members.count
        else {
            return issues.record(.malformedHeader("#EXTHTTP"), line: line)
        }
        for (name, value) in fields { set(name, to: value, line: line) }
    }

    /// `Name: value` or `Name=value`.
    private mutating func setField(_ text: Substring, line: Int) {
        let field = text.removingQuotes
        let end = field.firstIndex { $0 == ":" || $0 == "=" } ?? field.endIndex
        set(field[..<end], to: field[end...].dropFirst(), line: line)
    }

    private mutating func set(_ name: some StringProtocol, to value: some StringProtocol, line: Int) {
        if !pending.set(name, to: value) { issues.record(.malformedHeader(String(name.prefix(40))), line: line) }
    }

    private mutating func setProxy(_ text: Substring, line: Int) {
        let proxy = String(text.removingQuotes)
        guard !proxy.isEmpty, !proxy.contains(where: \.isWhitespace) else {
            return issues.record(.malformedHeader("http-proxy"), line: line)
        }
        pending.proxy = proxy
    }

    /// `key=value`, the key in lower case.
    private static func pair(_ text: Substring) -> (key: String, value: Substring) {
        let equals = text.firstIndex(of: "=") ?? text.endIndex
        var key = text[..<equals].trimmingWhiteSpace
        if key.first == ":" { key = key.dropFirst() }
        return (key.lowercased(), text[equals...].dropFirst().trimmingWhiteSpace)
    }
}

/// A line of a list that begins with `#`, or that should.
struct ListDirective {
    /// `#EXTINF` and so on, in capitals; `#HTTP` or `#HTTPS` for a commented URL; `#` for any other comment.
    let name: String
    /// The text after the colon or the space that ends the name; for a commented URL, the URL.
    let value: Substring
    let isMissingNumberSign: Bool

    /// - Returns: nil for a line that should be a URL.
    init?(_ line: String) {
        if line.first != "#" {
            let start = line.prefix(8).uppercased()
            guard start == "EXTM3U" || start.hasPrefix("EXTM3U ") || start.hasPrefix("EXTINF:") else { return nil }
            (name, value) = ("#" + start.prefix(6), line.dropFirst(6).drop { $0 == ":" })
            isMissingNumberSign = true
            return
        }
        isMissingNumberSign = false
        let text = line.dropFirst().trimmingWhiteSpace
        let word = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
        let name = word.uppercased()
        let rest = text[word.endIndex...]
        if name == "HTTP" || name == "HTTPS", rest.hasPrefix("://") {
            (self.name, value) = ("#" + name, text)
        } else if name.hasPrefix("EXT") || name == "KODIPROP" || name == "WEBPROP" {
            self.name = "#" + name
            value = rest.first == ":" ? rest.dropFirst() : rest
        } else {
            (self.name, value) = ("#", text)
        }
    }

    /// The kind of HLS playlist that the tag is specific to; nil for any other line.
    var playlistKind: DocumentKind? {
        switch name {
        case "#EXT-X-TARGETDURATION", "#EXT-X-MEDIA-SEQUENCE": .mediaPlaylist
        case "#EXT-X-STREAM-INF", "#EXT-X-MEDIA", "#EXT-X-I-FRAME-STREAM-INF": .multivariantPlaylist
        default: nil
        }
    }
}
