import Support

/// The result of the first pass over a guide: which of our channels it contains, and the number of programs of each.
struct GuideIndex: Sendable {
    private struct Entry {
        /// For each of our channels that matches, how sure the match is.
        var ranks: [Int: GuideMatcher.Rank] = [:]
        var programs = 0

        init(_ matches: [GuideMatcher.Match]) { add(matches) }

        mutating func add(_ matches: [GuideMatcher.Match]) {
            for match in matches { ranks[match.channel] = min(match.rank, ranks[match.channel] ?? match.rank) }
        }
    }

    private let matcher: GuideMatcher
    private let limits: GuideLimits
    /// Entries by the ids of the guide, in the form in which ids are compared.
    private var entries: [String: Entry] = [:]
    /// The number of matches found, including repeated ones.
    private var matchCount = 0
    /// The id of the preceding program as written, and its key, because programs of one channel usually follow each
    /// other.
    private var last: (raw: ArraySlice<UInt8>, key: String) = ([], "")

    init(_ matcher: GuideMatcher, limits: GuideLimits = GuideLimits()) {
        self.matcher = matcher
        self.limits = limits
    }

    mutating func record(_ element: GuideElement) {
        guard let raw = element.rawID, !raw.isEmpty else { return }
        switch element.kind {
        case .channel: recordChannel(element, GuideText.decoded(raw))
        case .program:
            if raw != last.raw { last = (Array(raw)[...], GuideMatcher.key(GuideText.decoded(raw))) }
            update(last.key) { $0.programs += 1 }
        }
    }

    private mutating func recordChannel(_ element: GuideElement, _ id: String) {
        let matches = matches(id: id, names: Self.displayNames(in: element.content, limits: limits))
        guard !matches.isEmpty else { return }
        update(GuideMatcher.key(id)) { $0.add(matches) }
    }

    private mutating func update(_ key: String, _ change: (inout Entry) -> Void) {
        if entries[key] == nil {
            guard entries.count < limits.channels else { return }
            // Programs may occur before their channel, or without one.
            entries[key] = Entry(matches(id: key, names: []))
        }
        change(&entries[key, default: Entry([])])
    }

    /// Returns no matches beyond the limit: names that many of our channels share would give very many.
    private mutating func matches(id: String, names: [String]) -> [GuideMatcher.Match] {
        guard matchCount < limits.matches else { return [] }
        let matches = matcher.matches(id: id, names: names)
        matchCount += matches.count
        StepCounter.add(1 + matches.count)
        return matches
    }

    /// The channel of this guide that was matched to one of ours.
    struct Candidate: Equatable {
        let rank: GuideMatcher.Rank
        let programs: Int
        /// The guide's id, in the form in which ids are compared.
        let key: String

        /// Of several channels of a guide with the same name, the channel with the most programs is better.
        func isBetter(than other: Candidate) -> Bool {
            (rank.rawValue, -programs, key) < (other.rank.rawValue, -other.programs, other.key)
        }
    }

    /// Our channels for which this guide contains programs.
    var candidates: [Int: Candidate] {
        var candidates: [Int: Candidate] = [:]
        for (key, entry) in entries where entry.programs > 0 {
            for (channel, rank) in entry.ranks {
                let candidate = Candidate(rank: rank, programs: entry.programs, key: key)
                if candidates[channel].map(candidate.isBetter) ?? true { candidates[channel] = candidate }
            }
        }
        return candidates
    }

    private static func displayNames(in content: ArraySlice<UInt8>, limits: GuideLimits) -> [String] {
        var names: [String] = []
        var rest = GuideText.repaired(content)
        while names.count < limits.names, let less = rest.firstIndex(of: UInt8(ascii: "<")),
            let greater = rest[less...].firstIndex(of: UInt8(ascii: ">"))
        {
            StepCounter.add(1 + greater - rest.startIndex)
            let isName = rest[less...greater].starts(with: "<display-name".utf8)
            rest = rest[greater...].dropFirst()
            if isName { names.append(text(rest, longest: limits.valueBytes)) }
        }
        return names
    }

    private static func text(_ rest: ArraySlice<UInt8>, longest: Int) -> String {
        let rest = rest.prefix(longest)
        StepCounter.add(rest.count)
        if rest.starts(with: "<![CDATA[".utf8) {
            let end = rest.firstRange(of: Array("]]>".utf8))?.lowerBound ?? rest.endIndex
            return String(decoding: rest[..<end].dropFirst(9), as: UTF8.self)
        }
        return GuideText.decoded(rest.prefix { $0 != UInt8(ascii: "<") })
    }
}
