import Playlist
package import Support

/// The part of the ring that a request for `dvr.m3u8` names.
package enum RewindRange: Hashable, Sendable {
    /// The entries that `dvr.m3u8` lists without a query: all listed ones, without those that only an archive keeps.
    /// The range slides.
    case whole
    /// The time from `start`, or the oldest segment, to `end`, or without an end. At least one is given; `start < end`.
    case between(start: ProgramDateTime?, end: ProgramDateTime?)
    /// The newest milliseconds, more than 0. The range slides.
    case last(milliseconds: Int64)
    /// The live window as it was this many milliseconds of media ago, 0 or more.
    case delayed(milliseconds: Int64)

    /// The reason why a query names no range.
    package enum BadQuery: Error, Equatable, Sendable {
        /// A value cannot be read.
        case value(name: String, value: String)
        /// `end` is not after `start`.
        case emptyRange
    }

    /// The maximum length in milliseconds, longer than any ring. Larger values are refused.
    package static let longest: Int64 = 366 * 24 * 3600 * 1000

    /// Reads the range from the query of a request.
    ///
    /// `start` and `end` are ISO 8601 or seconds since 1970, `last` and `delay` are seconds. Other names are ignored,
    /// because caches and players add their own.
    /// - Parameter query: the decoded names and values.
    package init(query: [(name: String, value: String)]) throws(BadQuery) {
        let values = Dictionary(query.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        let start = try values["start"].map { text throws(BadQuery) in try Self.date(text, "start") }
        let end = try values["end"].map { text throws(BadQuery) in try Self.date(text, "end") }
        if let start, let end, start >= end { throw .emptyRange }
        if let last = values["last"] {
            self = .last(milliseconds: try Self.length(last, "last", minimum: 1))
        } else if let delay = values["delay"] {
            self = .delayed(milliseconds: try Self.length(delay, "delay", minimum: 0))
        } else {
            self = start == nil && end == nil ? .whole : .between(start: start, end: end)
        }
    }

    /// The query of the range, which `init(query:)` reads back.
    package var query: String {
        switch self {
        case .whole: ""
        case .between(let start, let end):
            [("start", start), ("end", end)].compactMap { name, date in
                date.map { "\(name)=\(Self.seconds($0.millisecondsSince1970))" }
            }.joined(separator: "&")
        case .last(let milliseconds): "last=\(Self.seconds(milliseconds))"
        case .delayed(let milliseconds): "delay=\(Self.seconds(milliseconds))"
        }
    }

    private static func seconds(_ milliseconds: Int64) -> String {
        DecimalSeconds.text(.milliseconds(milliseconds), decimals: 3)
    }

    /// Reads a moment. `name` is its name in the query, for errors.
    package static func date(_ text: String, _ name: String) throws(BadQuery) -> ProgramDateTime {
        if let milliseconds = milliseconds(text) { return ProgramDateTime(millisecondsSince1970: milliseconds) }
        if text.hasPrefix("-"), let milliseconds = milliseconds(String(text.dropFirst())) {
            return ProgramDateTime(millisecondsSince1970: -milliseconds)
        }
        // "+01:00" typed into a URL arrives as " 01:00".
        let restored = String(text.map { $0 == " " ? "+" : $0 })
        guard let date = ProgramDateTime(parsing: restored) else { throw .value(name: name, value: text) }
        return date
    }

    private static func length(_ text: String, _ name: String, minimum: Int64) throws(BadQuery) -> Int64 {
        guard let value = milliseconds(text), (minimum...longest).contains(value) else {
            throw .value(name: name, value: text)
        }
        return value
    }

    /// The milliseconds of decimal seconds; further digits are dropped. nil for text that is not a number.
    private static func milliseconds(_ text: String) -> Int64? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first, !whole.isEmpty, whole.utf8.count <= 12, whole.utf8.allSatisfy(ASCII.isDigit),
            let seconds = Int64(whole)
        else { return nil }
        guard parts.count == 2 else { return seconds * 1000 }
        guard !parts[1].isEmpty, parts[1].utf8.allSatisfy(ASCII.isDigit) else { return nil }
        return seconds * 1000 + (Int64((parts[1] + "00").prefix(3)) ?? 0)
    }
}
