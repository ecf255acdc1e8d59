import Support

/// The names of channels in paths.
///
/// Clients identify a channel by its URL: favorites, timers and guide mappings depend on it. Therefore a slug depends
/// only on the channel's name, except for a number if several channels have the same name.
package enum ChannelSlug {
    /// First path components with a special meaning. No channel gets them as slug.
    package static let reserved: Set<String> = [
        "api", "archive", "auto", "captures", "clip", "device", "discover", "dvr", "epg", "events", "favicon",
        "healthz", "hls", "index", "init", "lineup", "lineup-status", "live", "master", "metrics", "openapi",
        "player", "playlist", "readyz", "robots", "seg", "static", "status", "sub", "timeshift", "ts", "web", "xmltv",
    ]

    /// The longest slug without a number, in characters.
    static let longest = 48

    /// The slug of a channel called `name`: its letters and digits in ASCII, and a dash for anything between them.
    ///
    /// If letters have no counterpart in ASCII, or the name is too long, a hash of the name is appended, so that names
    /// that differ only there get different slugs.
    package static func slug(ofName name: String) -> String {
        var text: [UInt8] = []
        var isWhole = true
        for scalar in name.unicodeScalars {
            switch LatinLetters.letters(for: scalar) {
            case .text(let letters): text += letters.utf8
            case .separator: if let last = text.last, last != dash { text.append(dash) }
            case .mark: continue
            case .foreign: isWhole = false
            }
        }
        if text.count > longest {
            text.removeSubrange(longest...)
            isWhole = false
        }
        while text.last == dash { text.removeLast() }
        if text.isEmpty { text = Array("channel".utf8) }
        let slug = String(decoding: text, as: UTF8.self)
        return isWhole && slug != "channel" ? slug : "\(slug)-\(hash(of: name))"
    }

    /// Gives each channel a slug of its own.
    ///
    /// If several channels have the same slug, the first keeps it, and the others get the next free number after it.
    /// - Parameter previous: the channels before a reload. A channel that shares its name and a source with one of them
    ///   keeps that channel's slug, even if other channels of that name were added or removed.
    /// - Parameter taken: the slugs of other channels.
    package static func assign(
        to channels: [ListedChannel], keeping previous: [ListedChannel] = [], except taken: Set<String> = []
    ) -> [ListedChannel] {
        var assignment = SlugAssignment(previous: previous, taken: taken)
        return assignment.assign(to: channels)
    }

    private static let dash = UInt8(ascii: "-")

    /// Six hexadecimal digits of the 32-bit FNV-1a hash of the name's letters and digits in lower case, or of the whole
    /// name if it has none.
    private static func hash(of name: String) -> String {
        var letters = ""
        for scalar in name.unicodeScalars {
            switch LatinLetters.letters(for: scalar) {
            case .text, .foreign: letters += scalar.properties.lowercaseMapping
            case .separator, .mark: continue
            }
        }
        let text = letters.isEmpty ? name : letters
        let hash = StableHash.of(text)
        let digits = String((hash >> 24) ^ (hash & 0xFF_FFFF), radix: 16)
        return String(repeating: "0", count: 6 - digits.count) + digits
    }
}

private struct SlugAssignment {
    private let previous: [ListedChannel]
    private var used: Set<String> = []
    /// The number after a slug from which on no number is known to be used.
    private var nextNumbers: [String: Int] = [:]

    /// - Parameter taken: slugs of channels that are not in the list.
    init(previous: [ListedChannel], taken: Set<String> = []) {
        self.previous = previous.filter { !$0.slug.isEmpty }
        used = taken
    }

    mutating func assign(to channels: [ListedChannel]) -> [ListedChannel] {
        var channels = channels
        for index in channels.indices { channels[index].slug = "" }
        if !previous.isEmpty {
            for identity in Identity.allCases { keepSlugs(in: &channels, by: identity) }
        }
        let natural = channels.map { $0.slug.isEmpty ? ChannelSlug.slug(ofName: $0.name) : "" }
        // Before any number is assigned, the first channel of each name gets its slug, even if the slug ends in a
        // number.
        for index in channels.indices where channels[index].slug.isEmpty {
            guard !ChannelSlug.reserved.contains(natural[index]), used.insert(natural[index]).inserted else { continue }
            channels[index].slug = natural[index]
        }
        for index in channels.indices where channels[index].slug.isEmpty {
            channels[index].slug = numberedSlug(natural[index])
        }
        return channels
    }

    /// A property that identifies a channel among channels of the same name before the reload, the surest first.
    private enum Identity: CaseIterable {
        case url, urlWithoutQuery, guideID

        func key(of channel: ListedChannel) -> [String?] {
            let url = channel.sources.first?.url
            return switch self {
            case .url: [channel.name, url]
            case .urlWithoutQuery: [channel.name, url.map(URIReference.withoutQuery)]
            case .guideID: [channel.name, channel.guideID]
            }
        }
    }

    private mutating func keepSlugs(in channels: inout [ListedChannel], by identity: Identity) {
        var free: [[String?]: [String]] = [:]
        for channel in previous.reversed() where !used.contains(channel.slug) {
            free[identity.key(of: channel), default: []].append(channel.slug)
        }
        for index in channels.indices where channels[index].slug.isEmpty {
            guard let slug = free[identity.key(of: channels[index])]?.popLast() else { continue }
            if used.insert(slug).inserted { channels[index].slug = slug }
        }
    }

    private mutating func numberedSlug(_ slug: String) -> String {
        var number = nextNumbers[slug] ?? 2
        while !used.insert("\(slug)-\(number)").inserted { number += 1 }
        nextNumbers[slug] = number + 1
        return "\(slug)-\(number)"
    }
}

/// Numbers derived from names, equal in every process.
enum StableHash {
    /// 32-bit FNV-1a.
    static func of(_ text: String) -> UInt32 {
        text.utf8.reduce(0x811C_9DC5) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
    }

    /// A number for each name, 1 ... 2³¹ − 1; all numbers differ.
    ///
    /// A number is derived from its name alone, unless two names would get the same number. Then the name that sorts
    /// first gets it, and the other name gets the next free number.
    /// - Parameter names: unique.
    static func numbers(of names: some Sequence<String>) -> [String: Int] {
        var used: Set<Int> = []
        var numbers: [String: Int] = [:]
        for name in names.sorted() {
            var number = max(1, Int(of(name) & 0x7FFF_FFFF))
            while !used.insert(number).inserted { number = number % 0x7FFF_FFFF + 1 }
            numbers[name] = number
        }
        return numbers
    }
}
