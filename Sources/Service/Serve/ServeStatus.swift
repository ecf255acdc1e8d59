import Channel
import ChannelList
import Guide
import Support

/// The content of `/status.json` for a process of many channels. Times are seconds.
struct ServeStatus: Encodable, Sendable {
    /// A channel that is not idle.
    struct Channel: Encodable, Sendable {
        let slug: String
        package let name: String
        /// `idle`, `queued`, `starting`, `running`, `lingering`, `ending` or `failed`.
        package let state: String
        /// Why it failed; nil in any other state.
        package let reason: String?
        /// Requests that are held until the channel publishes.
        let waitingRequests: Int
        let openStreams: Int
        /// Since the last sign of a viewer; nil if it is idle.
        let secondsSinceViewer: Double?
        /// The channel's own status while it runs.
        package let status: RelayStatus?

        package init(
            _ slug: String, _ channel: ListedChannel?, _ entry: ChannelSupervisor.Entry?, status: RelayStatus?,
            at now: Duration
        ) {
            self.slug = slug
            name = channel?.name ?? slug
            state = ServeStatus.state(of: entry)
            reason = if case .failed(let reason, _)? = entry?.state { reason } else { nil }
            waitingRequests = entry?.waiters.count ?? 0
            openStreams = entry?.streams ?? 0
            secondsSinceViewer = entry.map { entry in
                entry.streams > 0 || !entry.waiters.isEmpty ? 0 : (now - entry.lastSeen).secondsValue
            }
            self.status = status
        }
    }

    let uptime: Double
    let listed: Int
    /// Runs that are not over.
    let running: Int
    /// Runs that there may be at once, as the operator or the number of descriptors says.
    let maxRunning: Int?
    /// Runs that were started.
    let starts: Int
    let clients: ClientCounts
    /// Every channel that is not idle.
    let channels: [Channel]
    /// nil: no guide is read.
    let guide: GuideStatus?

    init(_ overview: ChannelHost.Overview, clients: ClientCounts, guide: GuideStatus? = nil) {
        self.clients = clients
        self.guide = guide
        uptime = overview.uptime.secondsValue
        listed = overview.directory.channels.count
        running = overview.channels.values.count { $0.state.run != nil }
        maxRunning = overview.policy.runLimit
        starts = overview.startCount
        channels = overview.channels.sorted { $0.key < $1.key }.map { slug, entry in
            Channel(
                slug, overview.directory[slug], entry, status: overview.statuses[slug], at: overview.uptime)
        }
    }

    static let states = ["idle", "queued", "starting", "running", "lingering", "ending", "failed"]

    /// The state in one word.
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

extension Duration {
    fileprivate var secondsValue: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}
