import ChannelList
package import Observability
package import WebServer

extension MetricsSnapshot {
    /// The metrics of a process of many channels.
    package init(_ host: ChannelHost, _ traffic: HTTPTraffic, _ events: EventDelivery, _ connections: OpenConnections) {
        let overview = host.overview
        let runs = host.runs.sorted { $0.run.channel < $1.run.channel }.map { running in
            var run = Run(
                running.run.channel, running.state, running.meter, sentBytes: running.responder.sentBytes)
            run.waitingRequests = overview.channels[running.run.channel]?.waiters.count ?? 0
            return run
        }
        self.init(
            runs: runs, channelStates: Self.states(overview), startCount: overview.startCount, traffic: traffic.counts,
            events: events, clients: connections.counts, maxConnections: connections.limit,
            droppedLogLines: Console.standardError.dropped)
    }

    /// The number of listed channels in each state. A channel that left the list while it ends counts too.
    private static func states(_ overview: ChannelHost.Overview) -> [String: Int] {
        var states = Dictionary(uniqueKeysWithValues: ServeStatus.states.map { ($0, 0) })
        for entry in overview.channels.values { states[ServeStatus.state(of: entry), default: 0] += 1 }
        let idle = overview.directory.channels.count { overview.channels[$0.slug] == nil }
        states[ServeStatus.state(of: nil), default: 0] += idle
        return states
    }
}
