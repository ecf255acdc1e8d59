package import ChannelList
package import Support

/// The channels of a process, as its configuration and lists described them when they were last read.
package struct ChannelCatalog: Sendable {
    /// An included list, and its location without secrets.
    struct IncludedList: Sendable {
        let name: String
        let list: M3UChannelList
        /// The reason why the list has its previous content; nil if it was read now.
        var staleness: RelayError?
    }

    let configuration: ChannelConfiguration
    /// In the order of the configuration.
    let lists: [IncludedList]
    /// Channels with unique slugs.
    package let channels: [ListedChannel]

    /// - Parameter previous: the channels before a reload, whose slugs are kept.
    init(_ configuration: ChannelConfiguration, lists: [IncludedList], keeping previous: [ListedChannel] = []) {
        self.configuration = configuration
        self.lists = lists
        channels = configuration.channels(with: lists.map(\.list.channels), keeping: previous)
    }

    /// The number of connections of each account, if known.
    package var connections: [String: Int] { configuration.connections(of: lists.map(\.list.connections)) }

    /// The URLs of all XMLTV guides; unique, in order.
    package var guides: [String] {
        (configuration.guides + lists.flatMap(\.list.guides)).reduce(into: []) { guides, url in
            if !guides.contains(url) { guides.append(url) }
        }
    }

    /// The number of issues of all lists.
    var issueCount: Int { lists.reduce(0) { $0 + $1.list.issueCount } }

    /// The notices of the configuration and the issues of the lists, as lines for an operator; bounded for each list.
    package func issues(perList limit: Int) -> [String] {
        configuration.notices
            + lists.flatMap { included in
                let lines = included.list.issues.prefix(limit).map {
                    "\(included.name): line \($0.line): \($0.message)"
                }
                let rest = included.list.issueCount - lines.count
                let words = rest == 1 ? "1 more line was" : "\(rest) more lines were"
                return rest > 0 ? lines + ["\(included.name): \(words) not understood as written"] : lines
            }
    }
}

/// The reason why a catalog cannot be read. Running channels are then not changed.
package enum CatalogError: Error {
    /// - Parameter file: the location of the configuration, without secrets.
    case configuration(ConfigurationError, file: String)
    case other(RelayError)

    /// Each mistake of the configuration, as `file:line:column: …`.
    package var lines: [String] {
        switch self {
        case .configuration(let error, let file):
            let lines = error.issues.map { "\(file)\($0.position == nil ? ": " : ":")\($0.text)" }
            let rest = error.count - error.issues.count
            return rest > 0 ? lines + ["\(file): and \(rest) more"] : lines
        case .other(let error): return [error.line]
        }
    }

    /// The error as one line, with the exit status.
    package var summary: RelayError {
        switch self {
        case .configuration(let error, _):
            let more = error.count > 1 ? " (and \(error.count - 1) more)" : ""
            return RelayError(
                .badConfiguration, (lines.first ?? "The configuration cannot be read") + more,
                advice: "Correct it; liverelay serve --check names every mistake")
        case .other(let error): return error
        }
    }
}
