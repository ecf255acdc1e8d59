package import Playlist

/// Which part of the ring `dvr.m3u8` is asked for.
package enum RewindRange: Equatable, Sendable {
    /// Everything listed; it slides.
    case whole
    /// From `start`, or from the oldest segment, to `end`, or on for ever. One of them is given; `start < end`.
    case between(start: ProgramDateTime?, end: ProgramDateTime?)
    /// The newest so many milliseconds; it slides. More than 0.
    case last(milliseconds: Int64)
    /// The live window as it was so much media ago. 0 or more.
    case delayed(milliseconds: Int64)

    /// Longer than any ring keeps; larger numbers in a request are taken for a mistake.
    private static let longest: Int64 = 366 * 24 * 3600 * 1000

    /// - Parameter query: names and values, decoded. `start`, `end`: ISO 8601 or seconds since 1970. `last`, `delay`:
    ///   seconds. Names that are not ours are passed over: caches and players add their own.
    package init(query: [(name: String, value: String)]) throws(ResourceRequest.Refusal) {
        let values = Dictionary(query.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        let start = try values["start"].map { text throws(ResourceRequest.Refusal) in try Self.moment(text, "start") }
        let end = try values["end"].map { text throws(ResourceRequest.Refusal) in try Self.moment(text, "end") }
        if let start, let end, start >= end { throw .emptyRange }
        if let last = values["last"] {
            self = .last(milliseconds: try Self.length(last, "last", from: 1))
        } else if let delay = values["delay"] {
            self = .delayed(milliseconds: try Self.length(delay, "delay", from: 0))
        } else {
            self = start == nil && end == nil ? .whole : .between(start: start, end: end)
        }
    }

    /// The query that asks for it: `init(query:)` reads it back.
    package var query: String {
        switch self {
        case .whole: ""
        case .between(let start, let end):
            [("start", start), ("end", end)].compactMap { name, moment in
                moment.map { "\(name)=\(Self.seconds($0.millisecondsSince1970))" }
            }.joined(separator: "&")
        case .last(let milliseconds): "last=\(Self.seconds(milliseconds))"
        case .delayed(let milliseconds): "delay=\(Self.seconds(milliseconds))"
        }
    }

    private static func seconds(_ milliseconds: Int64) -> String {
        let fraction = String(1000 + milliseconds.magnitude % 1000).dropFirst()
        return "\(milliseconds < 0 ? "-" : "")\(milliseconds.magnitude / 1000).\(fraction)"
    }

    private static func moment(_ text: String, _ name: String) throws(ResourceRequest.Refusal) -> ProgramDateTime {
        if let milliseconds = milliseconds(text) { return ProgramDateTime(millisecondsSince1970: milliseconds) }
        if text.hasPrefix("-"), let milliseconds = milliseconds(String(text.dropFirst())) {
            return ProgramDateTime(millisecondsSince1970: -milliseconds)
        }
        // "+01:00" typed into an address arrives as " 01:00".
        let restored = String(text.map { $0 == " " ? "+" : $0 })
        guard let moment = ProgramDateTime(parsing: restored) else { throw .badQuery(name: name, value: text) }
        return moment
    }

    private static func length(
        _ text: String, _ name: String, from least: Int64
    ) throws(ResourceRequest.Refusal) -> Int64 {
        guard let value = milliseconds(text), (least...longest).contains(value) else {
            throw .badQuery(name: name, value: text)
        }
        return value
    }

    /// Decimal seconds, digits beyond milliseconds dropped; nil when it is not a number.
    private static func milliseconds(_ text: String) -> Int64? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first, !whole.isEmpty, whole.utf8.count <= 12, whole.utf8.allSatisfy(isDigit),
            let seconds = Int64(whole)
        else { return nil }
        guard parts.count == 2 else { return seconds * 1000 }
        guard !parts[1].isEmpty, parts[1].utf8.allSatisfy(isDigit) else { return nil }
        return seconds * 1000 + (Int64((parts[1] + "00").prefix(3)) ?? 0)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
