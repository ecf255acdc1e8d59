import Playlist
import Support

/// The slugs of one list in the making.
struct SlugAssignment {
    private let previous: [ListedChannel]
    private var used: Set<String> = []
    /// The number after a slug from which on none is known to be used.
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
        // Before any number is assigned, the first of each name gets its slug, also one that ends in a number.
        for index in channels.indices where channels[index].slug.isEmpty {
            guard !ChannelSlug.reserved.contains(natural[index]), used.insert(natural[index]).inserted else { continue }
            channels[index].slug = natural[index]
        }
        for index in channels.indices where channels[index].slug.isEmpty {
            channels[index].slug = numberedSlug(natural[index])
        }
        return channels
    }

    /// What makes a channel the same as one of its name before the reload, the surest first.
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
