package import Support

/// A requested recording, as the body of a request describes it.
package struct RecordingRequest: Equatable, Sendable {
    package enum Range: Equatable, Sendable {
        /// From a moment on; nil: from now on.
        case between(start: ProgramDateTime?, end: ProgramDateTime)
        /// The same, by its length.
        case lasting(Duration, start: ProgramDateTime?)
        /// A program of the guide: the program at a moment; nil: at present.
        case program(at: ProgramDateTime?, before: Duration, after: Duration)
    }

    /// The channel's slug.
    package let channel: String
    /// The name for people; nil: the title in the guide, or the channel's name.
    package let name: String?
    package let range: Range
    /// `daily`, `weekly` or `title`; nil: the recording is made once.
    package let repetition: String?
    /// Whether retention never removes the recording.
    package let isKept: Bool
    /// Whether the recording includes slate that fills outages.
    package let includesSlate: Bool
    /// The treatment of ad breaks; nil: that of the channel's recordings.
    package let ads: RecordingAds?

    private enum Key: String, CaseIterable {
        case channel, start, end, duration, name, before, after, keep, slate, ads
        case program = "programme"
        case repetition = "repeat"
    }

    /// The values of `repeat` for a range, and for a program.
    package static let repetitions = (ofRange: ["daily", "weekly"], ofProgram: ["daily", "weekly", "title"])

    /// Reads the body of a POST.
    package init(_ node: ConfigurationNode) throws(ConfigurationError) {
        var reader = ConfigurationReader(.request)
        var (channel, name, isKept, includesSlate): (String?, String?, Bool?, Bool?)
        var ads: RecordingAds?
        var (length, repetition): (Duration?, String?)
        var moments: [Key: ProgramDateTime] = [:]
        var margins: [Key: Duration] = [:]
        let entries =
            reader.entries(node, expected: "a map with the keys channel and end, duration or programme") ?? []
        let given = Set(entries.compactMap { Key(rawValue: $0.key) })
        let isProgram = given.contains(.program)
        reader.read(entries, keys: Key.allCases) { reader, key, node in
            switch key {
            case .channel: channel = reader.text(node, .slug)
            case .name: name = reader.text(node, .text)
            case .keep: isKept = reader.bool(node)
            case .slate: includesSlate = reader.bool(node)
            case .ads:
                ads = reader.choice(node, of: RecordingAds.allCases.map(\.rawValue)).flatMap(RecordingAds.init)
            case .program where node.content == .scalar("now", .text): break
            case .start, .end, .program: moments[key] = reader.moment(node)
            case .before, .after: margins[key] = reader.duration(node)
            case .duration: length = reader.duration(node)
            case .repetition:
                repetition = reader.choice(
                    node, of: isProgram ? Self.repetitions.ofProgram : Self.repetitions.ofRange)
            }
        }
        let hasEnd = isProgram || given.contains(.duration)
        for key in [Key.channel] + (hasEnd ? [] : [.end]) where !given.contains(key) {
            reader.record(.missingKey(key.rawValue), at: nil)
        }
        let others: [Key] = isProgram ? [.start, .end, .duration] : [.before, .after]
        for key in others where given.contains(key) {
            let expected = "for recordings \(isProgram ? "without" : "with") a programme"
            reader.below(key.rawValue) { $0.record(.badValue(nil, expected: expected), at: nil) }
        }
        if !isProgram, given.isSuperset(of: [.end, .duration]) {
            reader.below(Key.duration.rawValue) { $0.record(.badValue(nil, expected: "without an end"), at: nil) }
        }
        try reader.finish()
        self.channel = channel ?? ""
        (self.name, self.isKept, self.includesSlate) = (name, isKept ?? false, includesSlate ?? true)
        (self.repetition, self.ads) = (repetition, ads)
        range =
            if let length {
                .lasting(length, start: moments[.start])
            } else if let end = moments[.end] {
                .between(start: moments[.start], end: end)
            } else {
                .program(
                    at: moments[.program], before: margins[.before] ?? .zero, after: margins[.after] ?? .zero)
            }
    }

    /// Reads the body of a PATCH: whether a recording is kept.
    package static func isKept(_ node: ConfigurationNode) throws(ConfigurationError) -> Bool {
        var reader = ConfigurationReader(.request)
        var isKept: Bool?
        let entries = reader.entries(node, expected: "a map with the key keep") ?? []
        reader.read(entries, keys: [Key.keep]) { reader, _, node in isKept = reader.bool(node) }
        if entries.isEmpty { reader.record(.missingKey(Key.keep.rawValue), at: nil) }
        try reader.finish()
        return isKept ?? false
    }
}

extension ConfigurationReader {
    /// The last moment that ISO 8601 writes with four digits for the year.
    private static let lastSecond: Int64 = 253_402_300_799

    /// A date with its zone, or seconds since 1970.
    fileprivate mutating func moment(_ node: ConfigurationNode) -> ProgramDateTime? {
        switch node.content {
        case .scalar(let text, .number):
            if let seconds = Int64(text), (0...Self.lastSecond).contains(seconds) {
                return ProgramDateTime(millisecondsSince1970: seconds * 1000)
            }
        case .scalar(let text, .text): if let date = ProgramDateTime(parsing: text) { return date }
        default: break
        }
        return refuse(node, expected: "a date as 2026-01-02T20:15:00Z, or seconds since 1970")
    }
}
