import Support

/// The URL of a range of a provider's archive, with placeholders for the moments of the range.
///
/// A placeholder is `{name}`, `${name}` or `{name:argument}`. docs/catchup.md lists all of them.
struct ArchiveTemplate: Hashable, Sendable {
    /// The requested range.
    struct Range {
        /// Seconds since 1970, as is `now`.
        let start: Int64
        /// Seconds.
        let duration: Int64
        let now: Int64
        let clock: LocalClock
        /// Seconds that are added to each moment.
        let correction: Int64
    }

    /// An unknown placeholder, as written.
    struct UnknownPlaceholder: Error, Hashable {
        let text: String
    }

    private enum Moment { case start, end, now }
    private enum Length { case duration, offset }

    private enum Field: Hashable {
        case year, month, day, hour, minute, second
        case text(Character)
    }

    private enum Part: Hashable {
        case text(String)
        case seconds(Moment)
        case date(Moment, [Field], isUTC: Bool)
        case quotient(Length, unit: Int64)
    }

    private var parts: [Part]

    /// A text without placeholders.
    init(literal text: String) { parts = [.text(text)] }

    /// - Throws: the first unknown placeholder, or a brace that is not closed.
    init(_ text: some StringProtocol) throws(UnknownPlaceholder) {
        parts = []
        var rest = Substring(text)
        while let open = rest.firstIndex(of: "{") {
            guard let close = rest[open...].firstIndex(of: "}") else {
                // The rest may hold a secret.
                let word = rest[open...].dropFirst().prefix { $0.isASCII && ($0.isLetter || $0 == ":") }
                throw UnknownPlaceholder(text: String("{\(word)".prefix(Self.longestName)))
            }
            let placeholder = rest[rest.index(after: open)..<close]
            guard let part = Self.part(placeholder) else {
                throw UnknownPlaceholder(text: String("{\(placeholder)}".prefix(Self.longestName)))
            }
            let before = rest[..<open]
            parts += [.text(String(before.last == "$" ? before.dropLast() : before)), part]
            rest = rest[rest.index(after: close)...]
        }
        parts.append(.text(String(rest)))
    }

    private static let longestName = 40

    static func + (first: ArchiveTemplate, second: ArchiveTemplate) -> ArchiveTemplate {
        var template = first
        template.parts += second.parts
        return template
    }

    func filled(for range: Range) -> String { parts.map { text(of: $0, for: range) }.joined() }
}

// MARK: - Reading

extension ArchiveTemplate {
    private static let moments: [Substring: Moment] = [
        "utc": .start, "start": .start, "utcend": .end, "end": .end, "lutc": .now, "now": .now, "timestamp": .now,
    ]
    private static let lengths: [Substring: Length] = ["duration": .duration, "offset": .offset]
    private static let units: ClosedRange<Int64> = 1...86_400
    private static let shortFields: [Character: Field] = [
        "Y": .year, "m": .month, "d": .day, "H": .hour, "M": .minute, "S": .second,
    ]
    private static let longFields: [(name: String, field: Field)] = [
        ("yyyy", .year), ("MM", .month), ("dd", .day), ("HH", .hour), ("mm", .minute), ("ss", .second),
    ]

    /// nil: the placeholder is not known.
    private static func part(_ placeholder: Substring) -> Part? {
        for (prefix, moment) in [("(b)", Moment.start), ("(e)", .end)] where placeholder.hasPrefix(prefix) {
            let format = placeholder.dropFirst(3)
            return format == "timestamp" ? .seconds(moment) : date(moment, format)
        }
        let words = placeholder.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let argument = words.count > 1 ? words[1] : nil
        if let moment = moments[words[0]] {
            guard let argument else { return .seconds(moment) }
            return date(moment, argument)
        }
        if let length = lengths[words[0]] {
            guard let argument else { return .quotient(length, unit: 1) }
            return Int64(argument).flatMap { units.contains($0) ? .quotient(length, unit: $0) : nil }
        }
        let isField =
            words[0].count == 1
            ? shortFields[Character(String(words[0]))] != nil
            : longFields.contains { $0.name == words[0] }
        return isField ? date(.start, placeholder) : nil
    }

    /// A date in a format such as `YmdHMS` or `yyyyMMddHHmmss`, in UTC if it ends with `|UTC` or `:UTC`.
    private static func date(_ moment: Moment, _ format: Substring) -> Part? {
        let isUTC = format.hasSuffix("|UTC") || format.hasSuffix(":UTC")
        return fields(isUTC ? format.dropLast(4) : format).map { .date(moment, $0, isUTC: isUTC) }
    }

    /// nil if the format contains an unknown letter, or no field. T and Z are permitted as in ISO 8601.
    private static func fields(_ format: Substring) -> [Field]? {
        let isLong = longFields.contains { format.contains($0.name) }
        var (fields, rest): ([Field], Substring) = ([], format)
        while let letter = rest.first {
            if isLong, let (name, field) = longFields.first(where: { rest.hasPrefix($0.name) }) {
                fields.append(field)
                rest = rest.dropFirst(name.count)
                continue
            }
            rest = rest.dropFirst()
            if !isLong, let field = shortFields[letter] {
                fields.append(field)
            } else if !letter.isLetter || "TZ".contains(letter) {
                // The quotes of 'T' are no part of the date.
                if letter != "'" { fields.append(.text(letter)) }
            } else {
                return nil
            }
        }
        return fields.contains { if case .text = $0 { false } else { true } } ? fields : nil
    }
}

// MARK: - Filling

extension ArchiveTemplate {
    private func text(of part: Part, for range: Range) -> String {
        func seconds(_ moment: Moment) -> Int64 {
            switch moment {
            case .start: range.start
            case .end: range.start + range.duration
            case .now: range.now
            }
        }
        switch part {
        case .text(let text): return text
        case .seconds(let moment): return String(seconds(moment) + range.correction)
        case .date(let moment, let fields, let isUTC):
            let instant = seconds(moment)
            let ahead = isUTC ? 0 : range.clock.secondsAhead(at: instant)
            return Self.date(instant + ahead + range.correction, fields)
        case .quotient(let length, let unit):
            let count = length == .duration ? range.duration : range.now - range.start
            return String((count + unit - 1) / unit)
        }
    }

    /// - Parameter local: the local time of the clock that the date is written by, as seconds since 1970.
    private static func date(_ local: Int64, _ fields: [Field]) -> String {
        let (days, time) = max(local, 0).quotientAndRemainder(dividingBy: 86_400)
        let date = CivilDate(daysSince1970: days)
        return fields.map { field in
            switch field {
            case .year: String(date.year)
            case .month: two(date.month)
            case .day: two(date.day)
            case .hour: two(time / 3600)
            case .minute: two(time / 60 % 60)
            case .second: two(time % 60)
            case .text(let letter): String(letter)
            }
        }.joined()
    }

    private static func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : String(number) }
}
