import Support

/// One `#EXTINF` of a list with the URLs that follow it.
struct ListEntry {
    /// The line of `#EXTINF`, or of the URL if `#EXTINF` is missing.
    let line: Int
    /// The text after the comma, trimmed.
    let name: String
    let attributes: [String: String]
    let stationAttributes: [ListedAttribute]
    /// nil unless `#EXTGRP` stands between `#EXTINF` and the URL.
    var groups: [String]?
    /// Whether an issue already explains why the entry has no source.
    var isExplained = false
    var sources: [ListedSource] = []
    /// The sources of commented URLs. They follow the other sources, even if they are written before them.
    var backups: [ListedSource] = []
    /// The options of the first source. They apply to the other sources where these have no options of their own.
    var options = RequestOptions()

    /// Whether no URL has followed yet.
    var isOpen: Bool { sources.isEmpty }
    var sourceCount: Int { sources.count + backups.count }

    init(line: Int, name: String, attributes: [ListedAttribute] = []) {
        self.line = line
        self.name = name
        self.attributes = Dictionary(attributes.map { ($0.name, $0.value) }) { first, _ in first }
        stationAttributes = attributes.filter { $0.name.hasPrefix("tvc-") }
    }

    /// The value of the first attribute of `names` that is present.
    func value(of names: String...) -> String? { names.lazy.compactMap { attributes[$0] }.first }

    /// The channel without its slug; nil without a source.
    /// - Parameters:
    ///   - defaults: the attributes of `#EXTM3U`.
    ///   - standingGroups: the groups of an `#EXTGRP` before the entry.
    func channel(defaults: [String: String], standingGroups: [String], base: String) -> ListedChannel? {
        guard !sources.isEmpty else { return nil }
        let listed = value(of: "group-title").map(Self.groupNames) ?? []
        return ListedChannel(
            name: String((displayName ?? "").prefix(Self.longestName)), number: number,
            logo: value(of: "tvg-logo", "logo", "tvg-logo-small").map { Self.logo($0, base: base) },
            groups: listed.isEmpty ? groups ?? standingGroups : listed,
            guideID: value(of: "tvg-id", "channel-id", "channelid", "cuid"),
            // A URL may contain secrets.
            guideName: (value(of: "tvg-name")?.decodingEntities).flatMap { SourceURL.isAbsolute($0) ? nil : $0 },
            guideShift: (value(of: "tvg-shift") ?? defaults["tvg-shift"]).flatMap { $0.count <= 8 ? $0 : nil },
            isRadio: attributes["radio"] == "true",
            stationAttributes: stationAttributes, sources: sources + backups)
    }

    /// The archive of the provider; nil if the attributes name none.
    /// - Parameters:
    ///   - live: the URL of the channel's first source.
    ///   - defaults: the attributes of `#EXTM3U`.
    func archive(of live: String, defaults: [String: String]) throws(ProviderArchive.Fault) -> ProviderArchive? {
        try ProviderArchive(of: live) { (names: String...) in
            names.lazy.compactMap { attributes[$0] ?? defaults[$0] }.first
        }
    }

    static let longestName = 256

    /// The name, or another property that names the entry. A URL is not used, because it may contain secrets.
    private var displayName: String? {
        let text = name.isEmpty ? value(of: "tvg-name", "tvc-guide-title", "tvg-id") : name
        let name = text?.decodingEntities ?? sources.first?.url
        return name.map { SourceURL.isAbsolute($0) ? Self.name(ofURL: $0) : $0 }
    }

    /// The number as written, if it is one.
    var number: String? { writtenNumber.flatMap { Self.isNumber($0) ? $0 : nil } }
    var writtenNumber: String? {
        value(of: "tvg-chno", "ch-number", "channel-number", "tvh-chnum", "tvg-num")
    }

    static func isNumber(_ text: String) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return (1...2).contains(parts.count)
            && parts.allSatisfy { (1...6).contains($0.utf8.count) && $0.utf8.allSatisfy { 48...57 ~= $0 } }
    }

    /// The groups of `group-title` or `#EXTGRP`, separated by semicolons.
    static func groupNames(_ text: some StringProtocol) -> [String] {
        var names: [String] = []
        for name in String(text).decodingEntities.split(separator: ";").map({ String($0.trimmingWhiteSpace) })
        where !name.isEmpty {
            if !names.contains(name), names.count < mostGroups { names.append(name) }
        }
        return names
    }

    static let mostGroups = 16

    /// The last meaningful component of the URL's path, without its extension; else the host. User information, the
    /// query and components that look like credentials are never used.
    static func name(ofURL url: String) -> String {
        let path = URIReference.withoutQuery(url.redacted).split(separator: "/").dropFirst(2)
        let words = path.map { component in
            let name = component.split(separator: ".").first.map(String.init) ?? ""
            return PercentEncoding.decode(name[...]) ?? name
        }
        let plain: Set = ["index", "playlist", "master", "live", "chunklist", "video", "stream", "hls", "mono", ""]
        return words.last { !plain.contains($0.lowercased()) && !URIRedaction.mayBeSecret(component: $0) }
            ?? URIReference.host(of: url) ?? "channel"
    }

    /// An absolute URL without spaces.
    private static func logo(_ text: String, base: String) -> String {
        let encoded = text.map { $0 == " " ? "%20" : String($0) }.joined()
        if SourceURL.isAbsolute(encoded) || encoded.hasPrefix("data:") || base.isEmpty { return encoded }
        return URIReference.resolve(encoded, against: base)
    }
}
