/// The container of a recording that is closed.
package enum RecordingFormat: String, Sendable {
    case ts, mp4, mkv
}

/// The path of a channel's recordings, with the parts that change between recordings in braces: `{channel}`, `{title}`
/// and `{start:FORMAT}`.
package struct RecordingPattern: Hashable, Sendable {
    package enum Fault: Error, Equatable, Sendable {
        /// The path does not end with `.ts`, `.mp4` or `.mkv`.
        case format
        /// Braces that contain something else, or that do not close.
        case field(String)
        /// A letter after `%` that is not a known conversion.
        case conversion(Character)
    }

    private enum Part: Hashable, Sendable {
        case text(String)
        case channel, title
        case start(format: String)
    }

    package let format: RecordingFormat
    /// The path as it was written.
    package let text: String
    private let parts: [Part]

    /// The time format of `{start}` without a FORMAT.
    private static let defaultTime = "%Y-%m-%d_%H-%M-%S"

    package init(_ text: String) throws(Fault) {
        guard let dot = text.lastIndex(of: "."),
            let format = RecordingFormat(rawValue: text[text.index(after: dot)...].lowercased())
        else { throw .format }
        (self.format, self.text) = (format, text)
        var (parts, rest): ([Part], Substring) = ([], text[..<dot])
        while let open = rest.firstIndex(of: "{") {
            guard let close = rest[open...].firstIndex(of: "}") else { throw .field(String(rest[open...])) }
            if open > rest.startIndex { parts.append(.text(String(rest[..<open]))) }
            parts.append(try Self.part(rest[rest.index(after: open)..<close]))
            rest = rest[rest.index(after: close)...]
        }
        if !rest.isEmpty { parts.append(.text(String(rest))) }
        self.parts = parts
    }

    /// Whether a path is a pattern for several recordings, not one file that is written as a stream.
    package static func isPattern(_ path: String) -> Bool {
        path.contains("{") || [".mp4", ".mkv"].contains { path.lowercased().hasSuffix($0) }
    }

    private static func part(_ field: Substring) throws(Fault) -> Part {
        switch field {
        case "channel": return .channel
        case "title": return .title
        case "start": return .start(format: defaultTime)
        case _ where field.hasPrefix("start:"):
            let format = String(field.dropFirst(6))
            _ = try time(format, of: ProgramDateTime(millisecondsSince1970: 0), by: .utc)
            return .start(format: format)
        default: throw .field("{\(field)}")
        }
    }

    /// The directory that contains all recordings: the part of the path before the first field.
    package var root: String {
        let fixed = text.prefix { $0 != "{" }
        guard let slash = fixed.lastIndex(of: "/") else { return "." }
        return slash == fixed.startIndex ? "/" : String(fixed[..<slash])
    }

    /// The place of a channel's recordings: the prefix of their paths, the folder part of that prefix with its slash,
    /// and the number of folders between that folder and a recording. Field values contain no folders.
    package func place(of channel: String?) -> (prefix: String, folder: String, depth: Int) {
        let fixed = parts.prefix { part in
            switch part {
            case .text, .channel: true
            case .title, .start: false
            }
        }
        let prefix = fixed.map { part in
            if case .text(let text) = part { text } else { Self.component(channel ?? "liverelay") }
        }.joined()
        let folder = prefix.lastIndex(of: "/").map { String(prefix[...$0]) } ?? ""
        let count = { (path: String) in path.split(separator: "/").count }
        return (prefix, folder, count(text) - 1 - count(folder))
    }

    /// The path of a recording's files. `base` is the path relative to the root.
    package func path(ofBase base: String) -> String {
        switch root {
        case ".": base
        case "/": "/" + base
        case let root: root + "/" + base
        }
    }

    /// Whether a path is inside the root, without `..` after it.
    package func isBelowRoot(_ path: String) -> Bool {
        let rest =
            switch root {
            case ".": path.hasPrefix("/") ? nil : path[...]
            case "/": path.hasPrefix("/") ? path.dropFirst() : nil
            default: path.hasPrefix(root + "/") ? path.dropFirst(root.count) : nil
            }
        return rest.map { !$0.split(separator: "/").contains("..") } ?? false
    }

    /// The path of a recording without its suffix. Values cannot lead out of the directory.
    /// - Parameter clock: that of `{start}`.
    package func path(
        channel: String?, title: String?, start: ProgramDateTime, by clock: LocalClock = .utc
    ) -> String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .channel: Self.component(channel ?? "liverelay")
            case .title: Self.component(title ?? channel ?? "liverelay")
            case .start(let format): Self.component((try? Self.time(format, of: start, by: clock)) ?? "")
            }
        }.joined()
    }

    /// Bytes of a component of a file name; file systems take 255, and suffixes follow.
    private static let longestComponent = 120

    /// The text made fit for a component of a file name.
    package static func component(_ text: String) -> String {
        let name = text.unicodeScalars.map { scalar in
            scalar.value < 0x20 || scalar.value == 0x7F || "/\\:*?\"<>|".unicodeScalars.contains(scalar)
                ? "_" : String(scalar)
        }.joined()
        var bounded = name
        while bounded.utf8.count > longestComponent { bounded.removeLast() }
        return bounded.hasPrefix(".") ? "_" + bounded.dropFirst() : bounded
    }

    /// A time by the conversions of strftime(3) that have one meaning everywhere.
    private static func time(
        _ format: String, of date: ProgramDateTime, by clock: LocalClock
    ) throws(Fault) -> String {
        let text = Array(clock.reading(at: date).text)
        var (result, isConversion) = ("", false)
        for character in format {
            guard isConversion else {
                if character == "%" { isConversion = true } else { result.append(character) }
                continue
            }
            isConversion = false
            switch character {
            case "Y": result += String(text[0..<4])
            case "m": result += String(text[5..<7])
            case "d": result += String(text[8..<10])
            case "H": result += String(text[11..<13])
            case "M": result += String(text[14..<16])
            case "S": result += String(text[17..<19])
            case "F": result += String(text[0..<10])
            case "s": result += String(date.millisecondsSince1970 / 1000)
            case "%": result += "%"
            default: throw .conversion(character)
            }
        }
        if isConversion { throw .conversion("%") }
        return result
    }
}

extension RecordingPattern.Fault {
    /// The expected form, as a text for people.
    package var expectation: String {
        switch self {
        case .format: "a path that ends with .ts, .mp4 or .mkv"
        case .field(let field): "{channel}, {title} or {start:%Y-%m-%d_%H-%M} in place of \(field)"
        case .conversion(let letter): "one of %Y %m %d %H %M %S %F %s %% in place of %\(letter)"
        }
    }
}
