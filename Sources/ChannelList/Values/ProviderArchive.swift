import Support

/// The archive of a provider: how far back it reaches, and the URL of a range of it.
///
/// Lists name it by `catchup`, `catchup-source` and `catchup-days`, panels by `tv_archive`. The modes and the placeholders
/// are those that pvr.iptvsimple documents.
package struct ProviderArchive: Hashable, Sendable {
    enum Mode: Hashable, Sendable {
        /// A template of the whole URL, or of what follows the URL of the channel.
        case template(String)
        case suffix(String)
        /// The URL of the channel with `utc` and `lutc` in its query.
        case shift
        case flussonic, flussonicTransportStream
        case xtream
    }

    private static let permittedDays = 1...366

    private let mode: Mode
    package let days: Int
    /// Seconds by which the provider's clock is ahead of UTC.
    private let correction: Int64

    init(_ mode: Mode, days: Int, correction: Int64 = 0) {
        (self.mode, self.correction) = (mode, correction)
        self.days = min(max(days, Self.permittedDays.lowerBound), Self.permittedDays.upperBound)
    }

    /// Reads the attributes of a channel; nil if they name no archive, or one of a mode that is not known.
    /// - Parameter value: returns the value of the first of some attributes.
    init?(attributes value: (String...) -> String?) {
        guard let name = value("catchup", "catchup-type")?.lowercased() else { return nil }
        let source = value("catchup-source") ?? ""
        switch name {
        case "default" where Self.isWhole(source): mode = .template(source)
        case "default", "append": mode = .suffix(source)
        case "shift", "timeshift": mode = .shift
        case "flussonic", "flussonic-hls": mode = .flussonic
        case "flussonic-ts", "fs": mode = .flussonicTransportStream
        case "xc": mode = .xtream
        default: return nil
        }
        if case .suffix("") = mode { return nil }
        let days = value("catchup-days", "tvg-rec", "timeshift").flatMap { Int($0) } ?? Self.permittedDays.lowerBound
        let hours = value("catchup-correction").flatMap { Double($0) } ?? 0
        guard Self.permittedDays.contains(days), abs(hours) <= 24 else { return nil }
        (self.days, correction) = (days, Int64(hours * 3600))
    }

    /// The URL of a range; nil if the URL of the channel does not have the form that the mode needs.
    /// - Parameters:
    ///   - live: the URL of the channel.
    ///   - start: seconds since 1970, as is `now`.
    ///   - duration: seconds.
    package func url(of live: String, from start: Int64, lasting duration: Int64, at now: Int64) -> String? {
        let moment = ArchiveTemplate(start: start + correction, duration: duration, now: now + correction)
        let text: String? =
            switch mode {
            case .template(let template): template
            case .suffix(let suffix): live + suffix
            case .shift: live + (live.contains("?") ? "&" : "?") + "utc={utc}&lutc={lutc}"
            case .flussonic: Self.flussonic(live, isTransportStream: false)
            case .flussonicTransportStream: Self.flussonic(live, isTransportStream: true)
            case .xtream: Self.xtream(live)
            }
        return text.map(moment.filled).flatMap { Self.isWhole($0) ? $0 : nil }
    }

    private static func isWhole(_ url: String) -> Bool { ["http", "https"].contains(URIReference.scheme(of: url)) }

    /// `http://host/CHANNEL/index.m3u8` and `http://host/CHANNEL/mpegts` with a range in the name.
    private static func flussonic(_ live: String, isTransportStream: Bool) -> String? {
        let path = URIReference.withoutQuery(live)
        guard let slash = path.lastIndex(of: "/"), path[..<slash].split(separator: "/").count > 2 else { return nil }
        let (folder, name, query) = (path[...slash], path[slash...].dropFirst(), live.dropFirst(path.count))
        if isTransportStream || name == "mpegts" || name.hasSuffix(".ts") {
            return "\(folder)archive-{utc}-{duration}.ts\(query)"
        }
        guard name.hasSuffix(".m3u8") else { return nil }
        return "\(folder)\(name.dropLast(5))-{utc}-{duration}.m3u8\(query)"
    }

    /// `http://host/live/USER/PASSWORD/ID.ts`, also without `live` and with another extension or none.
    private static func xtream(_ live: String) -> String? {
        var parts = URIReference.withoutQuery(live).split(separator: "/", omittingEmptySubsequences: false)
        if parts.count == 7, parts[3] == "live" { parts.remove(at: 3) }
        guard parts.count == 6, parts[3...].allSatisfy({ !$0.isEmpty }) else { return nil }
        let name = parts[5].split(separator: ".", maxSplits: 1)
        let suffix = name.count > 1 && name[1].hasPrefix("m3u") ? "m3u8" : "ts"
        return parts[..<3].joined(separator: "/")
            + "/timeshift/\(parts[3])/\(parts[4])/{duration:60}/{Y}-{m}-{d}:{H}-{M}/\(name[0]).\(suffix)"
    }
}

/// The values of the placeholders in a provider's template, for one range.
private struct ArchiveTemplate {
    let start: Int64
    let duration: Int64
    let now: Int64

    /// The text with a value for each placeholder that is known: `{name}`, `${name}` and `{name:argument}`.
    func filled(_ template: String) -> String {
        var (text, rest) = ("", template[...])
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            guard let value = value(of: rest[rest.index(after: open)..<close]) else {
                text += rest[...open]
                rest = rest[rest.index(after: open)...]
                continue
            }
            let before = rest[..<open]
            text += (before.last == "$" ? before.dropLast() : before) + value
            rest = rest[rest.index(after: close)...]
        }
        return text + rest
    }

    /// nil: the placeholder is not known.
    private func value(of placeholder: Substring) -> String? {
        if placeholder.hasPrefix("(b)") { return written(start, placeholder.dropFirst(3)) }
        if placeholder.hasPrefix("(e)") { return written(start + duration, placeholder.dropFirst(3)) }
        let words = placeholder.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let argument = words.count > 1 ? words[1] : nil
        return switch words[0] {
        case "utc", "start": date(start, argument)
        case "utcend", "end": date(start + duration, argument)
        case "lutc", "now", "timestamp": date(now, argument)
        case "duration": quotient(duration, argument)
        case "offset": quotient(now - start, argument)
        case "Y", "m", "d", "H", "M", "S": argument == nil ? letters(placeholder, of: start) : nil
        default: nil
        }
    }

    /// The moment in a format such as `yyyyMMddHHmmss`, or as `timestamp`.
    private func written(_ seconds: Int64, _ format: Substring) -> String {
        if format == "timestamp" { return String(seconds) }
        return [("yyyy", "Y"), ("MM", "m"), ("dd", "d"), ("HH", "H"), ("mm", "M"), ("ss", "S")].reduce(String(format)) {
            $0.replacing($1.0, with: letters($1.1, of: seconds))
        }
    }

    /// Rounded up, so that a range in minutes is no shorter.
    private func quotient(_ seconds: Int64, _ unit: Substring?) -> String? {
        guard let unit else { return String(seconds) }
        guard let unit = Int64(unit), (1...86_400).contains(unit) else { return nil }
        return String((seconds + unit - 1) / unit)
    }

    private func date(_ seconds: Int64, _ format: Substring?) -> String {
        format.map { letters($0, of: seconds) } ?? String(seconds)
    }

    /// The format with the numbers of a moment in UTC for the letters `Y`, `m`, `d`, `H`, `M` and `S`.
    private func letters(_ format: Substring, of seconds: Int64) -> String {
        let (days, time) = (seconds >= 0 ? seconds : 0).quotientAndRemainder(dividingBy: 86_400)
        let date = CivilDate(daysSince1970: days)
        return format.map { letter in
            switch letter {
            case "Y": String(date.year)
            case "m": Self.two(date.month)
            case "d": Self.two(date.day)
            case "H": Self.two(time / 3600)
            case "M": Self.two(time / 60 % 60)
            case "S": Self.two(time % 60)
            default: String(letter)
            }
        }.joined()
    }

    private static func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : String(number) }
}
