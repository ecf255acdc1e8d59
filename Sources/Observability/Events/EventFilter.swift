import WebServer

/// Which events a subscriber gets: those of some channels and types, or all.
struct EventFilter: Equatable, Sendable {
    /// A value of the query that no event has.
    struct UnknownType: Error, Equatable {
        let name: String
    }

    /// nil: all channels, and events of none.
    var channels: Set<String>?
    /// nil: all types.
    var kinds: Set<EventKind>?

    init() {}

    /// Reads `channel=` and `type=`, each with several values separated by commas, or several times.
    init(query: [RequestTarget.QueryItem]) throws(UnknownType) {
        for item in query {
            let values = item.value.split(separator: ",").map(String.init)
            switch item.name {
            case "channel": channels = (channels ?? []).union(values)
            case "type":
                for value in values {
                    guard let kind = EventKind(rawValue: value) else { throw UnknownType(name: value) }
                    kinds = (kinds ?? []).union([kind])
                }
            default: break
            }
        }
    }

    func includes(_ event: ServiceEvent) -> Bool {
        if let kinds, !kinds.contains(event.content.kind) { return false }
        guard let channels else { return true }
        return event.channel.map { channels.contains($0) } ?? false
    }
}
