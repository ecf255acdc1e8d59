import ChannelList
import Fleet
import Support

extension ChannelDirectory {
    /// The demands of the channels by slug, from which the nodes of a fleet decide.
    var fleetDemands: [String: FleetNode.Demand] {
        Dictionary(
            channels.map { channel in
                let account = channel.options.account.flatMap { connections[$0] == nil ? nil : $0 }
                let digest = account.flatMap { SHA256.digest(of: Array($0.utf8)) }
                return (
                    channel.slug,
                    FleetNode.Demand(
                        isAlways: channel.options.runsAlways, account: digest.map { Hexadecimal.encode($0.prefix(8)) },
                        connections: account.flatMap { connections[$0] } ?? 0)
                )
            }
        ) { first, _ in first }
    }

    /// Equal for nodes with the same list.
    var fleetHash: String {
        let text = channels.map { "\($0.slug)\n\($0.sources.map(\.url).joined(separator: " "))" }.sorted()
            .joined(separator: "\n")
        return SHA256.digest(of: Array(text.utf8)).map { Hexadecimal.encode($0.prefix(8)) } ?? ""
    }
}
