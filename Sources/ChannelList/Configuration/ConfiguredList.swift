import Support

package struct ConfiguredList: Hashable, Sendable {
    /// A file or a URL. For an account, the URL in `XtreamAccount.listURL`.
    package let location: String
    /// The account of the list's channels; nil: the account in `defaults`, if any.
    private(set) var account: String?
    /// The clock for requests of the channels' archives; nil: the clock that the provider states.
    private var clock: LocalClock?

    init(location: String, account: String? = nil, clock: LocalClock? = nil) {
        (self.location, self.account, self.clock) = (location, account, clock)
    }

    var isAccount: Bool { XtreamAccount(listURL: location) != nil }

    /// Gives each list of an account without a name the name of its host, followed by a number if another account has
    /// it.
    static func namingAccounts(of lists: [ConfiguredList]) -> [ConfiguredList] {
        var owners: [String: XtreamAccount.Identity] = [:]
        let given = Set(lists.compactMap(\.account))
        return lists.map { list in
            guard list.account == nil, let account = XtreamAccount(listURL: list.location) else { return list }
            let host = String(
                account.host.map { $0.isLetter || $0.isNumber || $0 == "." ? $0 : "-" }.drop { $0 == "-" })
            let base = host.isEmpty ? "account" : host
            var (name, count) = (base, 1)
            while given.contains(name) || owners[name].map({ $0 != account.identity }) == true {
                count += 1
                name = "\(base)-\(count)"
            }
            owners[name] = account.identity
            return ConfiguredList(location: list.location, account: name, clock: list.clock)
        }
    }

    /// A channel of the list, with the list's account and clock.
    func completing(_ channel: ListedChannel) -> ListedChannel {
        var channel = channel
        channel.options.account = channel.options.account ?? account
        if let clock { channel.providerArchive?.clock = clock }
        return channel
    }
}

extension ConfigurationReader {
    private enum ListKey: String, CaseIterable {
        case url, account
        case zone = "catchup-zone"
    }
    private enum SubscriptionKey: String, CaseIterable {
        case url, username, password, output, account
        case zone = "catchup-zone"
    }
    private enum AccountKey: String, CaseIterable { case connections }

    private static let mostAccounts = 64
    private static let connectionLimits = 1...1000

    /// The clock of a zone of the IANA database.
    mutating func clock(_ node: ConfigurationNode) -> LocalClock? {
        guard let name = text(node, .zone) else { return nil }
        if name == LocalClock.ownName, origin.isOperator { return .own }
        return LocalClock(zone: name) ?? refuse(node, name, expected: ConfigurationPattern.zone.expected)
    }

    /// A file or a URL of a list, or a map with it, its account and its zone.
    mutating func configuredList(_ node: ConfigurationNode) -> ConfiguredList? {
        guard case .map(let entries) = node.content else {
            return location(node).map { ConfiguredList(location: $0) }
        }
        var (location, account, clock): (String?, String?, LocalClock?)
        read(entries, keys: ListKey.allCases) { reader, key, node in
            switch key {
            case .url: location = reader.location(node)
            case .account: account = reader.text(node, .account)
            case .zone: clock = reader.clock(node)
            }
        }
        if !entries.contains(where: { $0.key == ListKey.url.rawValue }) {
            record(.missingKey(ListKey.url.rawValue), at: node.position)
        }
        return location.map { ConfiguredList(location: $0, account: account, clock: clock) }
    }

    /// A URL, or the path of a file.
    private mutating func location(_ node: ConfigurationNode) -> String? {
        guard case .scalar(let text, _) = node.content else {
            return refuse(node, expected: "a file or a URL of an M3U list")
        }
        return text.contains("://") || !origin.isOperator ? self.text(node, .url) : filePath(node)
    }

    /// An account of Xtream Codes, as a list.
    mutating func subscription(_ node: ConfigurationNode) -> ConfiguredList? {
        guard let entries = entries(node, expected: "a map with the keys url, username and password") else {
            return nil
        }
        var texts: [SubscriptionKey: String] = [:]
        var clock: LocalClock?
        read(entries, keys: SubscriptionKey.allCases) { reader, key, node in
            switch key {
            case .url: texts[key] = reader.text(node, .url)
            case .username, .password: texts[key] = reader.text(node, .credential)
            case .output: texts[key] = reader.choice(node, of: XtreamAccount.Output.allCases.map(\.rawValue))
            case .account: texts[key] = reader.text(node, .account)
            case .zone: clock = reader.clock(node)
            }
        }
        for key in [SubscriptionKey.url, .username, .password]
        where !entries.contains(where: { $0.key == key.rawValue }) {
            record(.missingKey(key.rawValue), at: node.position)
        }
        guard let url = texts[.url], let username = texts[.username], let password = texts[.password] else {
            return nil
        }
        let account = XtreamAccount(
            panel: url, username: username, password: password,
            output: texts[.output].flatMap { XtreamAccount.Output(rawValue: $0) })
        return ConfiguredList(location: account.listURL, account: texts[.account], clock: clock)
    }

    mutating func accounts(_ node: ConfigurationNode) -> [String: Int] {
        guard let entries = entries(node, expected: "a map of accounts by name") else { return [:] }
        guard entries.count <= Self.mostAccounts else {
            record(.tooMany("accounts", limit: Self.mostAccounts), at: node.position)
            return [:]
        }
        var accounts: [String: Int] = [:]
        for entry in entries {
            below(entry.key) { reader in
                let name = reader.text(ConfigurationNode(.scalar(entry.key, .text), position: entry.position), .account)
                guard let keys = reader.entries(entry.value, expected: "a map with the key connections") else { return }
                reader.read(keys, keys: AccountKey.allCases) { reader, _, node in
                    if let name { accounts[name] = reader.integer(node, in: Self.connectionLimits) }
                }
                if keys.isEmpty { reader.record(.missingKey(AccountKey.connections.rawValue), at: entry.position) }
            }
        }
        return accounts
    }

    /// Records an issue if `name` is an account that nothing describes.
    mutating func checkAccount(_ name: String, known: Set<String>) {
        guard !known.contains(name) else { return }
        below(ConfigurationKey.account.rawValue) { $0.record(.unknownAccount(name), at: nil) }
    }
}
