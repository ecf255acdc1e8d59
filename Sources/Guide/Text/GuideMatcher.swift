import ChannelList
import Support

/// Decides which of our channels a channel of a guide is.
///
/// The rules are Kodi's: the guide's `id` is the list's `tvg-id`; else a display name is the list's `tvg-name`, in which
/// an underscore may stand for a space; else a display name is the channel's name. Letters are compared without case.
struct GuideMatcher: Sendable {
    /// How sure a match is; lower values are surer.
    enum Rank: Int, Comparable, Sendable {
        case id, guideName, name

        static func < (left: Rank, right: Rank) -> Bool { left.rawValue < right.rawValue }
    }

    struct Match: Equatable, Sendable {
        /// Index in `channels`.
        let channel: Int
        let rank: Rank
    }

    /// The channels of the guide that is written. Those of our channels that share an id are one channel there.
    private(set) var channels: [GuideChannel] = []
    private var byID: [String: Set<Int>] = [:]
    private var byName: [String: [Int: Rank]] = [:]

    init(_ listed: [ListedChannel]) {
        var indexes: [String: Int] = [:]
        for (channel, number) in zip(listed, TunerDevice.guideNumbers(of: listed)) {
            let id = ChannelListWriter.guideID(of: channel)
            let index = indexes[id] ?? channels.count
            if index == channels.count {
                indexes[id] = index
                channels.append(GuideChannel(id: id, logo: ChannelListWriter.logo(channel.logo)))
            }
            channels[index].add(ChannelListWriter.displayName(of: channel), number: number)
            if let guideID = channel.guideID { byID[Self.key(guideID), default: []].insert(index) }
            if let name = channel.guideName { add(Match(channel: index, rank: .guideName), name) }
            add(Match(channel: index, rank: .name), channel.name)
        }
    }

    private mutating func add(_ match: Match, _ name: String) {
        let key = Self.nameKey(name)
        let known = byName[key]?[match.channel] ?? match.rank
        byName[key, default: [:]][match.channel] = min(match.rank, known)
    }

    /// - Parameters: `id` and `names`: the id and display names of a channel in a guide, as characters.
    func matches(id: String, names: [String]) -> [Match] {
        var matches = (byID[Self.key(id)] ?? []).map { Match(channel: $0, rank: .id) }
        for name in names {
            matches += (byName[Self.nameKey(name)] ?? [:]).map { Match(channel: $0.key, rank: $0.value) }
        }
        return matches
    }

    /// The key under which ids are compared.
    static func key(_ id: String) -> String { id.trimmingWhiteSpace.lowercased() }

    private static func nameKey(_ name: String) -> String {
        name.replacing("_", with: " ").split(whereSeparator: \.isWhitespace).joined(separator: " ").lowercased()
    }
}

/// A channel of the guide that is written.
struct GuideChannel: Equatable, Sendable {
    /// As in the list that is served.
    let id: String
    var logo: String?
    private(set) var names: [String] = []
    private var knownNames: Set<String> = []
    private(set) var numbers: [String] = []

    init(id: String, logo: String?) {
        self.id = id
        self.logo = logo
    }

    mutating func add(_ name: String, number: String) {
        if knownNames.insert(name).inserted { names.append(name) }
        numbers.append(number)
    }

    /// The element. The number is a display name too, because clients of tuners identify a channel by its number.
    var text: String {
        let displayNames = (names + numbers).map { "<display-name>\(DocumentText.xml($0))</display-name>" }
        let icon = logo.map { "<icon src=\"\(DocumentText.xml($0))\"/>" } ?? ""
        return "<channel id=\"\(DocumentText.xml(id))\">\(displayNames.joined())\(icon)</channel>\n"
    }
}
