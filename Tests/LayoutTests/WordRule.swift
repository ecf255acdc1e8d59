/// Words that a source of ours does not hold, and why.
struct WordRule {
    let words: [String]
    let reason: String
    /// Folders or files of Sources that the rule is about.
    let places: [String]
    /// Those among them that it is not about.
    let exceptions: [String]

    private init(_ words: [String], _ reason: String, places: [String] = [""], exceptions: [String] = []) {
        self.words = words
        self.reason = reason
        self.places = places
        self.exceptions = exceptions
    }

    private static func impure(_ words: String...) -> WordRule {
        WordRule(
            words, "what is published depends only on what the upstream said",
            places: [
                "Playlist/", "DASH/", "Tracker/", "Decrypt/", "Media/", "Demux/", "Transcode/", "Mux/", "Splice/",
                "LiveRing/",
                "ChannelList/", "Channel/", "Conformance/",
            ],
            exceptions: [
                "Tracker/Session/TrackerDriver.swift", "Tracker/Fetch/Curl/", "LiveRing/Spool/",
            ])
    }

    static let all: [WordRule] = [
        WordRule(["try!"], "throw a typed error"),
        WordRule(["as!"], "throw a typed error"),
        WordRule(["fatalError"], "throw a typed error"),
        WordRule(["@", "unchecked", "Sendable"], "an actor or a Mutex holds what is shared"),
        WordRule(["nonisolated", "(", "unsafe", ")"], "an actor or a Mutex holds what is shared"),
        WordRule(["public"], "package is the widest access: this is no library"),
        WordRule(["open", "class"], "package is the widest access: this is no library"),
        impure("ContinuousClock"), impure("SuspendingClock"), impure("Clock"), impure("Task", ".", "sleep"),
        impure("Date", "(", ")"), impure("Date", ".", "now"), impure("clock_gettime"), impure("gettimeofday"),
        impure(".", "random", "("), impure("randomElement"), impure("shuffled"), impure("shuffle"),
        impure("SystemRandomNumberGenerator"), impure("UUID"), impure("getrandom"), impure("arc4random"),
        impure(".", "hashValue"), impure("Hasher", "(", ")"),
    ]

    static func findings(in file: SourceFile) -> [String] {
        guard file.module != nil else { return [] }
        let place = file.path.dropFirst("Sources/".count)
        return all.filter { rule in
            rule.places.contains { place.hasPrefix($0) } && !rule.exceptions.contains { place.hasPrefix($0) }
        }.flatMap { rule in
            file.lines(with: rule.words).map { file.finding($0, "\(rule.words.joined()): \(rule.reason)") }
        }
    }
}
