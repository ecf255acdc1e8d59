import Support

/// The archive of a provider: how far back it reaches, and the URL of a range of it.
///
/// Lists describe it by `catchup`, `catchup-source` and `catchup-days`, panels by `tv_archive`. The modes and
/// placeholders are those documented by pvr.iptvsimple.
package struct ProviderArchive: Hashable, Sendable {
    /// The attribute that prevents requests for the archive.
    package enum Fault: Error, Hashable, Sendable {
        /// `catchup` has an unknown value.
        case mode(String)
        case missingSource
        /// `catchup-source` is a URL of another scheme than http and https.
        case scheme(String)
        /// `catchup-source` contains an unknown placeholder, given with its braces.
        case placeholder(String)
        case days(String)
        case correction(String)
        /// The URL of the channel does not have the form that the mode needs.
        case liveURL(mode: String)
    }

    enum Mode: Hashable, Sendable {
        /// A template of the whole URL, or of the part after the URL of the channel.
        case template(ArchiveTemplate)
        case suffix(ArchiveTemplate)
        /// The URL of the channel with `utc` and `lutc` in its query.
        case shift
        case flussonic, flussonicTransportStream
        case xtream
    }

    private static let permittedDays = 1...366
    /// Values of `catchup` for a channel without an archive.
    private static let absences: Set = ["", "0", "none", "no", "false", "disabled"]

    private let mode: Mode
    /// How far back the archive reaches, within `permittedDays`.
    package let days: Int
    /// Seconds that are added to each moment.
    private let correction: Int64
    /// The clock that the provider reads dates by; nil: UTC, as far as is known.
    var clock: LocalClock?

    init(_ mode: Mode, days: Int, clock: LocalClock?) {
        (self.mode, self.clock, correction) = (mode, clock, 0)
        self.days = min(max(days, Self.permittedDays.lowerBound), Self.permittedDays.upperBound)
    }

    /// Reads the attributes of a channel; nil if they name no archive.
    /// - Parameters:
    ///   - live: the URL of the channel.
    ///   - value: returns the value of the first present attribute.
    init?(of live: String, attributes value: (String...) -> String?) throws(Fault) {
        guard let name = value("catchup", "catchup-type")?.lowercased(), !Self.absences.contains(name) else {
            return nil
        }
        let days = value("catchup-days", "tvg-rec", "timeshift").flatMap { Int($0) } ?? Self.permittedDays.lowerBound
        if days == 0 { return nil }
        guard Self.permittedDays.contains(days) else { throw .days(String(days)) }
        let hours = value("catchup-correction") ?? "0"
        guard let correction = Double(hours), abs(correction) <= 24 else { throw .correction(String(hours.prefix(20))) }
        (self.days, self.correction, clock) = (days, Int64(correction * 3600), nil)
        mode = try Self.mode(name, source: value("catchup-source") ?? "")
        if url(of: live, from: 0, lasting: 1, at: 1) == nil { throw .liveURL(mode: name) }
    }

    private static func mode(_ name: String, source: String) throws(Fault) -> Mode {
        switch name {
        case "default", "append":
            guard !source.isEmpty else { throw .missingSource }
            let template: ArchiveTemplate
            do throws(ArchiveTemplate.UnknownPlaceholder) { template = try ArchiveTemplate(source) } catch {
                throw .placeholder(error.text)
            }
            guard name == "default", let scheme = URIReference.scheme(of: source) else { return .suffix(template) }
            guard isWhole(source) else { throw .scheme(String(scheme.prefix(20))) }
            return .template(template)
        case "shift", "timeshift": return .shift
        case "flussonic", "flussonic-hls": return .flussonic
        case "flussonic-ts", "fs": return .flussonicTransportStream
        case "xc": return .xtream
        default: throw .mode(String(name.prefix(20)))
        }
    }

    /// The URL of a range; nil if the URL of the channel does not have the form that the mode needs.
    /// - Parameters:
    ///   - live: the URL of the channel.
    ///   - start: seconds since 1970, as is `now`.
    ///   - duration: seconds.
    package func url(
        of live: String, from start: Int64, lasting duration: Int64, at now: Int64
    ) -> String? {
        let template: ArchiveTemplate? =
            switch mode {
            case .template(let template): template
            case .suffix(let suffix): ArchiveTemplate(literal: live) + suffix
            case .shift: Self.template(live + (live.contains("?") ? "&" : "?"), "utc={utc}&lutc={lutc}")
            case .flussonic: Self.flussonic(live, isTransportStream: false)
            case .flussonicTransportStream: Self.flussonic(live, isTransportStream: true)
            case .xtream: Self.xtream(live)
            }
        let range = ArchiveTemplate.Range(
            start: start, duration: duration, now: now, clock: clock ?? .utc, correction: correction)
        return template.map { $0.filled(for: range) }.flatMap { Self.isWhole($0) ? $0 : nil }
    }

    private static func isWhole(_ url: String) -> Bool { ["http", "https"].contains(URIReference.scheme(of: url)) }

    /// A template with a literal beginning and end, in which braces have no meaning.
    private static func template(_ beginning: String, _ range: String, _ end: String = "") -> ArchiveTemplate? {
        (try? ArchiveTemplate(range)).map {
            ArchiveTemplate(literal: beginning) + $0 + ArchiveTemplate(literal: end)
        }
    }

    /// `http://host/CHANNEL/index.m3u8` and `http://host/CHANNEL/mpegts` with a range in the name.
    private static func flussonic(_ live: String, isTransportStream: Bool) -> ArchiveTemplate? {
        let path = URIReference.withoutQuery(live)
        guard let slash = path.lastIndex(of: "/"), path[..<slash].split(separator: "/").count > 2 else { return nil }
        let (folder, name, query) = (path[...slash], path[slash...].dropFirst(), live.dropFirst(path.count))
        if isTransportStream || name == "mpegts" || name.hasSuffix(".ts") {
            return template(String(folder), "archive-{utc}-{duration}.ts", String(query))
        }
        guard name.hasSuffix(".m3u8") else { return nil }
        return template("\(folder)\(name.dropLast(5))", "-{utc}-{duration}.m3u8", String(query))
    }

    /// `http://host/live/USER/PASSWORD/ID.ts`, also without `live` and with another extension or none.
    private static func xtream(_ live: String) -> ArchiveTemplate? {
        var parts = URIReference.withoutQuery(live).split(separator: "/", omittingEmptySubsequences: false)
        if parts.count == 7, parts[3] == "live" { parts.remove(at: 3) }
        guard parts.count == 6, parts[3...].allSatisfy({ !$0.isEmpty }) else { return nil }
        let name = parts[5].split(separator: ".", maxSplits: 1)
        let suffix = name.count > 1 && name[1].hasPrefix("m3u") ? "m3u8" : "ts"
        return template(
            parts[..<3].joined(separator: "/") + "/timeshift/\(parts[3])/\(parts[4])/",
            "{duration:60}/{Y}-{m}-{d}:{H}-{M}", "/\(name[0]).\(suffix)")
    }
}
