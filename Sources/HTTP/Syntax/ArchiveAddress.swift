package import LiveRing
import Support

/// The part of the timeline that the URL of a catch-up client names.
///
/// Clients fill in templates for Flussonic, Nimble or IPTV boxes with the same moments. docs/catchup.md lists the
/// forms. All moments are in UTC.
package struct ArchiveAddress: Equatable, Sendable {
    /// The form in which the range is served.
    package enum Form: Equatable, Sendable {
        case playlist, master, transportStream
    }

    package let form: Form
    package let range: RewindRange

    init(form: Form, range: RewindRange) { (self.form, self.range) = (form, range) }

    /// Names of the live playlist or stream before a moment, and before `?utc=` and `?playseek=`.
    private static let liveNames: Set<Substring> = [
        "live", "dvr", "index", "video", "mono", "archive", "master",
    ]

    /// Reads a name; nil if it names no range.
    /// - Parameters:
    ///   - name: the last component of the path.
    ///   - query: the decoded names and values.
    init?(name: Substring, query: [RequestTarget.QueryItem]) throws(RewindRange.BadQuery) {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else { return nil }
        var words = name[..<dot].utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
            .map { Substring($0) }
        let liveName = words.first.flatMap { Self.liveNames.contains($0) ? $0 : nil }
        switch name[dot...] {
        case ".m3u8": form = liveName == "master" ? .master : .playlist
        case ".ts": form = .transportStream
        default: return nil
        }
        if liveName != nil { words.removeFirst() }
        guard let range = try Self.range(words, hasLiveName: liveName != nil, query) else { return nil }
        self.range = range
    }

    /// - Parameter words: the words after the live name.
    private static func range(
        _ words: [Substring], hasLiveName: Bool, _ query: [RequestTarget.QueryItem]
    ) throws(RewindRange.BadQuery) -> RewindRange? {
        let first = words.first ?? ""
        switch (first, words.count) {
        case ("", 0): return try range(query)
        case ("timeshift_abs", 2): return try .between(start: moment(words[1]), end: nil)
        case ("timeshift_rel", 2): return try .delayed(milliseconds: seconds(words[1], atLeast: 0) * 1000)
        case ("playlist_dvr_range", 3) where !hasLiveName: return try range(from: words[1], lasting: words[2])
        case (_, 1) where !hasLiveName && ArchiveStamp.isNumber(first):
            return try .between(start: moment(first), end: nil)
        case (_, 2) where hasLiveName && ArchiveStamp.isNumber(first):
            if words[1] == "now" { return try .between(start: moment(first), end: nil) }
            return try range(from: first, lasting: words[1])
        default: return nil
        }
    }

    /// The range that a query of a live name asks for. `lutc` is ignored, because in some clients it is the present
    /// moment, and in others the end of the program.
    private static func range(_ query: [RequestTarget.QueryItem]) throws(RewindRange.BadQuery) -> RewindRange? {
        if let text = query.value(of: "utc") {
            guard let start = ArchiveStamp.moment(text[...]) else { throw .value(name: "utc", value: text) }
            return .between(start: start, end: nil)
        }
        guard let text = query.value(of: "playseek") else { return nil }
        let stamps = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard let start = stamps.first.flatMap(ArchiveStamp.date) else { throw .value(name: "playseek", value: text) }
        guard stamps.count == 2, !stamps[1].isEmpty else { return .between(start: start, end: nil) }
        guard let end = ArchiveStamp.date(stamps[1]) else { throw .value(name: "playseek", value: text) }
        guard start < end else { throw .emptyRange }
        return .between(start: start, end: end)
    }

    private static func range(
        from start: Substring, lasting length: Substring
    ) throws(RewindRange.BadQuery) -> RewindRange {
        try range(from: moment(start), seconds: seconds(length, atLeast: 1))
    }

    static func range(from start: ProgramDateTime, seconds: Int64) -> RewindRange {
        .between(start: start, end: start.advanced(byMilliseconds: seconds * 1000))
    }

    private static func moment(_ text: Substring) throws(RewindRange.BadQuery) -> ProgramDateTime {
        guard let moment = ArchiveStamp.moment(text) else { throw .value(name: "start", value: String(text)) }
        return moment
    }

    private static func seconds(_ text: Substring, atLeast minimum: Int64) throws(RewindRange.BadQuery) -> Int64 {
        let longest = RewindRange.longest / 1000
        guard ArchiveStamp.isNumber(text), let value = Int64(text), (minimum...longest).contains(value) else {
            throw .value(name: "duration", value: String(text))
        }
        return value
    }
}

/// Reads the moments in the URLs of catch-up clients. Moments without a zone are in UTC.
enum ArchiveStamp {
    /// Seconds since 1970; 13 digits are milliseconds. nil for other text.
    static func moment(_ text: Substring) -> ProgramDateTime? {
        guard isNumber(text), text.utf8.count <= 13, let number = Int64(text) else { return nil }
        return ProgramDateTime(millisecondsSince1970: text.utf8.count == 13 ? number : number * 1000)
    }

    static func isNumber(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { ASCII.zero...ASCII.nine ~= $0 }
    }

    /// A date in one of the forms in use; nil for other text.
    ///
    /// `2026-01-02:03-04`, also with seconds, with a colon, an underscore, a space, a plus or T after the day, and with
    /// colons in the time; ISO 8601; `20260102030405`; 10 or 13 digits as `moment` reads them.
    static func date(_ text: Substring) -> ProgramDateTime? {
        if isNumber(text) { return text.utf8.count == 14 ? compactDate(text) : moment(text) }
        let bytes = Array(text.utf8)
        guard bytes.count >= 16, separators.contains(bytes[10]), bytes[13] == ASCII.minus || bytes[13] == ASCII.colon
        else { return nil }
        var (time, rest) = ([bytes[11..<13], bytes[14..<16]], bytes[16...])
        if let first = rest.first, first == bytes[13], rest.count >= 3 {
            time.append(rest.dropFirst().prefix(2))
            rest = rest.dropFirst(3)
        } else {
            time.append("00".utf8.map(\.self)[...])
        }
        let joined = bytes[..<10] + [UInt8(ascii: "T")] + time.joined(separator: [ASCII.colon])
        // A plus that no client has escaped arrives as a space.
        return ProgramDateTime(parsing: joined + rest.map { $0 == ASCII.space ? UInt8(ascii: "+") : $0 })
    }

    /// After the day.
    private static let separators = Set(":_ +Tt".utf8)

    private static func compactDate(_ digits: Substring) -> ProgramDateTime? {
        let text = Array(digits.utf8)
        let day = [text[0..<4], text[4..<6], text[6..<8]].joined(separator: [ASCII.minus])
        let time = [text[8..<10], text[10..<12], text[12..<14]].joined(separator: [ASCII.colon])
        return ProgramDateTime(parsing: Array(day) + [UInt8(ascii: "T")] + Array(time))
    }
}
