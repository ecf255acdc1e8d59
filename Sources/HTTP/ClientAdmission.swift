import Support

/// Decides which client connections are accepted.
///
/// Connections that never sent a request have no viewer, so the oldest of them is closed to admit a new connection. An
/// existing viewer never loses a connection.
package struct ClientAdmission<ID: Hashable & Sendable>: Sendable {
    package struct Limits: Equatable, Sendable {
        /// The most connections at once.
        package var total = Int.max
        var perAddress = Int.max

        package init(total: Int = Int.max, perAddress: Int = Int.max) {
            self.total = total
            self.perAddress = perAddress
        }
    }

    package enum Decision: Equatable, Sendable {
        case accept
        /// Accept, and close a connection that never sent a request.
        case replace(ID)
        case refuse
    }

    package let limits: Limits
    /// Connections that were not accepted, and connections that were closed for another one.
    package private(set) var refused = 0
    package private(set) var replaced = 0
    private var addresses: [ID: ClientNetwork] = [:]
    private var countByAddress: [ClientNetwork: Int] = [:]
    /// The connections that never sent a request, oldest first. Some may have sent one or be closed since.
    private var silentQueue: ArraySlice<ID> = []
    private var silent: Set<ID> = []

    package init(_ limits: Limits) { self.limits = limits }

    package var count: Int { addresses.count }

    /// Decides about a new connection, and adds it if it is accepted.
    package mutating func admit(_ id: ID, from address: ClientNetwork) -> Decision {
        removeStale()
        guard let decision = decision(address) else {
            refused += 1
            return .refuse
        }
        if case .replace(let victim) = decision {
            replaced += 1
            remove(victim)
        }
        addresses[id] = address
        countByAddress[address, default: 0] += 1
        silent.insert(id)
        silentQueue.append(id)
        return decision
    }

    /// Removes connections that are no longer silent from the front of the queue, and occasionally from all of it.
    private mutating func removeStale() {
        while let oldest = silentQueue.first, !silent.contains(oldest) { silentQueue.removeFirst() }
        guard silentQueue.count > 2 * silent.count + 64 else { return }
        silentQueue = silentQueue.filter { silent.contains($0) }[...]
    }

    /// The decision about a connection from an address; nil if the connection is refused.
    private func decision(_ address: ClientNetwork) -> Decision? {
        if countByAddress[address, default: 0] >= limits.perAddress {
            return oldestSilent { addresses[$0] == address }.map { .replace($0) }
        }
        guard addresses.count >= limits.total else { return .accept }
        return oldestSilent { _ in true }.map { .replace($0) }
    }

    private func oldestSilent(where matches: (ID) -> Bool) -> ID? {
        silentQueue.first { silent.contains($0) && matches($0) }
    }

    /// Records that a complete request came over a connection.
    package mutating func recordRequest(_ id: ID) { silent.remove(id) }

    package mutating func remove(_ id: ID) {
        guard let address = addresses.removeValue(forKey: id) else { return }
        silent.remove(id)
        let rest = countByAddress[address, default: 1] - 1
        countByAddress[address] = rest > 0 ? rest : nil
    }
}

/// The unit by which clients are limited: an IPv4 address, or an IPv6 network of 64 bits, whose addresses belong to one
/// subscriber.
package struct ClientNetwork: Hashable, Sendable {
    /// `192.0.2.1`, or the first half of an IPv6 address; any other text unchanged.
    private let name: String

    /// - Parameter address: the address as text; nil if unknown.
    package init(_ address: String?) {
        let address = address ?? ""
        // A link-local address is followed by a percent sign and its interface.
        guard address.utf8.contains(UInt8(ascii: ":")),
            let known = IPAddress(String(address.prefix { $0 != "%" }))?.unmapped
        else {
            name = address
            return
        }
        let groups = known.text.split(separator: ":")
        name = groups.count == 8 ? groups.prefix(4).joined(separator: ":") : known.text
    }
}
