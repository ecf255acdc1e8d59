/// What the first pass over a guide finds: which of our channels it has, and how many programs each.
package struct GuideIndex: Sendable {
    private struct Entry {
        var matches: [GuideMatcher.Match] = []
        var programs = 0
    }

    private let matcher: GuideMatcher
    private let limits: GuideLimits
    /// By the guide's ids, as they are compared.
    private var entries: [String: Entry] = [:]
    /// Icons of our channels, by their indexes.
    private(set) var icons: [Int: String] = [:]
    /// The id of the program before, as it is written, and its key: programs of one channel follow each other.
    private var last: (raw: ArraySlice<UInt8>, key: String) = ([], "")

    package init(_ matcher: GuideMatcher, limits: GuideLimits = GuideLimits()) {
        self.matcher = matcher
        self.limits = limits
    }

    package mutating func record(_ element: GuideElement) {
        guard let raw = element.rawID, !raw.isEmpty else { return }
        switch element.kind {
        case .channel: recordChannel(element, GuideText.decoded(raw))
        case .program:
            if raw != last.raw { last = (Array(raw)[...], GuideMatcher.key(GuideText.decoded(raw))) }
            update(last.key) { $0.programs += 1 }
        }
    }

    private mutating func recordChannel(_ element: GuideElement, _ id: String) {
        let content = GuideChannelContent(element.content)
        let matches = matcher.matches(id: id, names: content.names)
        guard !matches.isEmpty else { return }
        update(GuideMatcher.key(id)) { $0.matches += matches }
        guard let icon = content.icon, icon.lowercased().hasPrefix("http") else { return }
        for match in matches where icons[match.channel] == nil { icons[match.channel] = icon }
    }

    private mutating func update(_ key: String, _ change: (inout Entry) -> Void) {
        guard entries[key] != nil || entries.count < limits.channels else { return }
        // Programs may come without, or before, their channel.
        change(&entries[key, default: Entry(matches: matcher.matches(id: key, names: []))])
    }

    /// Where a channel's programs are in this guide.
    struct Candidate: Equatable {
        let rank: GuideMatcher.Rank
        let programs: Int
        /// The guide's id, as it is compared.
        let key: String

        /// Of several channels of a guide with one name, the one with most programs is meant.
        func isBetter(than other: Candidate) -> Bool {
            (rank.rawValue, -programs, key) < (other.rank.rawValue, -other.programs, other.key)
        }
    }

    /// Our channels of which this guide has programs.
    var candidates: [Int: Candidate] {
        var candidates: [Int: Candidate] = [:]
        for (key, entry) in entries where entry.programs > 0 {
            for match in entry.matches {
                let candidate = Candidate(rank: match.rank, programs: entry.programs, key: key)
                if candidates[match.channel].map(candidate.isBetter) ?? true { candidates[match.channel] = candidate }
            }
        }
        return candidates
    }
}

/// The names and the icon of a channel element.
private struct GuideChannelContent {
    private(set) var names: [String] = []
    private(set) var icon: String?

    init(_ content: ArraySlice<UInt8>) {
        var rest = GuideText.repaired(content)
        while let less = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[less...]
            guard let greater = rest.firstIndex(of: UInt8(ascii: ">")) else { return }
            let tag = rest[...greater]
            rest = rest[greater...].dropFirst()
            if tag.starts(with: "<display-name".utf8) {
                names.append(Self.text(rest))
            } else if tag.starts(with: "<icon".utf8) {
                var attributes = GuideAttributes(tag)
                while let attribute = attributes.next() {
                    if attribute.isNamed("src"), icon == nil { icon = GuideText.decoded(attribute.value) }
                }
            }
        }
    }

    private static func text(_ rest: ArraySlice<UInt8>) -> String {
        if rest.starts(with: "<![CDATA[".utf8) {
            let end = rest.firstRange(of: Array("]]>".utf8))?.lowerBound ?? rest.endIndex
            return String(decoding: rest[..<end].dropFirst(9), as: UTF8.self)
        }
        return GuideText.decoded(rest.prefix { $0 != UInt8(ascii: "<") })
    }
}
