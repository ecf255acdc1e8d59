import Channel
import ChannelList
import Foundation
import Guide
package import HTTP
package import Observability
package import Support

/// The content of `/status.json` for a process of many channels. Times are seconds.
struct ServeStatus: Encodable, Sendable {
    /// A channel that is not idle.
    struct Channel: Encodable, Sendable {
        let slug: String
        let name: String
        /// `idle`, `queued`, `starting`, `running`, `lingering`, `ending` or `failed`.
        let state: String
        /// The reason of the failure; nil in any other state.
        let reason: FailureText?
        /// The failure of the last run; nil if the channel has published since.
        let lastFailure: RelayStatus.Failure?
        /// Seconds until a failed channel starts again by itself; nil if it starts when a viewer asks for it.
        let secondsUntilStart: Double?
        /// Requests that are held until the channel publishes.
        let waitingRequests: Int
        let openStreams: Int
        /// Seconds since the last sign of a viewer; nil if the channel is idle.
        let secondsSinceViewer: Double?
        /// The channel's own status while it runs.
        let status: RelayStatus?

        init(
            _ slug: String, _ channel: ListedChannel?, _ entry: ChannelSupervisor.Entry?,
            _ failure: ChannelSupervisor.Failure?, status: RelayStatus?, at now: Duration
        ) {
            self.slug = slug
            name = channel?.name ?? slug
            state = ServeStatus.state(of: entry)
            reason = if case .failed(let reason, _)? = entry?.state { reason } else { nil }
            lastFailure = failure?.status(at: now)
            secondsUntilStart =
                if case .failed(_, let until)? = entry?.state, channel?.options.runsAlways == true {
                    max(.zero, until - now).seconds
                } else { nil }
            waitingRequests = entry?.waiters.count ?? 0
            openStreams = entry?.streams ?? 0
            secondsSinceViewer = entry.map { entry in
                entry.streams > 0 || !entry.waiters.isEmpty ? 0 : (now - entry.lastSeen).inSeconds
            }
            self.status = status
        }
    }

    let uptime: Double
    let listed: Int
    /// The number of runs that have not ended.
    let running: Int
    /// The number of listed channels without a run whose last run has not failed.
    let idle: Int
    /// The number of listed channels whose last run failed, and that have not published since.
    let failed: Int
    /// The most concurrent runs that the operator and the number of descriptors permit.
    let maxRunning: Int?
    let starts: Int
    let clients: ClientCounts
    /// Every channel that is not idle.
    let channels: [Channel]
    let guide: GuideStatus?

    init(_ overview: ChannelHost.Overview, clients: ClientCounts, guide: GuideStatus? = nil) {
        self.clients = clients
        self.guide = guide
        uptime = overview.uptime.inSeconds
        listed = overview.directory.channels.count
        running = overview.channels.values.count { $0.state.run != nil }
        failed = overview.failures.count
        idle = overview.directory.channels.count {
            overview.channels[$0.slug]?.state.run == nil && overview.failures[$0.slug] == nil
        }
        maxRunning = overview.policy.runLimit
        starts = overview.startCount
        channels = overview.channels.sorted { $0.key < $1.key }.map { slug, entry in
            Channel(
                slug, overview.directory[slug], entry, overview.failures[slug], status: overview.statuses[slug],
                at: overview.uptime)
        }
    }

    static let states = ["idle", "queued", "starting", "running", "lingering", "ending", "failed"]

    static func state(of entry: ChannelSupervisor.Entry?) -> String {
        switch entry?.state {
        case nil: "idle"
        case .queued: "queued"
        case .starting: "starting"
        case .running: "running"
        case .lingering: "lingering"
        case .ending: "ending"
        case .failed: "failed"
        }
    }
}

extension ChannelSupervisor.Failure {
    func status(at now: Duration) -> RelayStatus.Failure {
        RelayStatus.Failure(reason: reason, secondsAgo: (now - time).seconds)
    }
}

extension MetricsSnapshot {
    /// The metrics of a process. The channels of a list have labels.
    package init(
        _ host: ChannelHost, _ traffic: HTTPTraffic, _ events: EventDelivery, clients: ClientCounts,
        maxConnections: Int?
    ) {
        let overview = host.overview
        let runs = host.runs.sorted { $0.run.channel < $1.run.channel }.map { running in
            var run = Run(
                host.isSingle ? nil : running.run.channel, running.state, running.meter,
                sentBytes: running.responder.sentBytes)
            run.waitingRequests = overview.channels[running.run.channel]?.waiters.count ?? 0
            return run
        }
        self.init(
            runs: runs, channelStates: host.isSingle ? nil : Self.states(overview),
            startCount: host.isSingle ? nil : overview.startCount, traffic: traffic,
            events: events, clients: clients, maxConnections: maxConnections)
        fleet = host.fleet.map(Fleet.init)
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

package enum StatusDocument {
    /// Returns a value as JSON. Its keys are sorted, so that documents can be compared line by line.
    package static func json(of value: some Encodable, for audience: Audience = .viewers) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        if let key = Audience.key { encoder.userInfo[key] = audience }
        if let key = StatusReason.textKey { encoder.userInfo[key] = StatusReason.Text { $0.text.text(for: audience) } }
        // Every field is a number, a text or an object of them: encoding cannot fail.
        guard let data = try? encoder.encode(value) else { return Array("{}".utf8) }
        return ControlCharacters.escaped(json: Array(data)) + [UInt8(ascii: "\n")]
    }
}

extension Response {
    /// A document that is made for each request.
    static func json(
        of value: some Encodable, for audience: Audience = .viewers, status: HTTPStatus = .ok, _ type: MimeType = .json,
        _ headers: [HeaderField] = []
    ) -> Response {
        Response(
            status: status, contentType: type, cacheControl: .noStore,
            body: .bytes(StatusDocument.json(of: value, for: audience), gzip: nil), extraHeaders: headers)
    }
}
