import Channel
import ChannelList
import Support
import Tracker

/// A channel that is not idle, for the page of a list. Times are in seconds.
struct ChannelOverview: Encodable, Sendable {
    let slug: String
    /// As in `/status.json`.
    let state: String
    /// The channel's own state while it runs: `live`, `late`, `outage`, …
    let channelState: RelayStatus.State?
    let reason: FailureText?
    let lastFailure: RelayStatus.Failure?
    let secondsUntilStart: Double?
    let upstreamReason: StatusReason?
    let secondsInState: Double?
    let secondsSinceNewSegment: Double?
    let liveEdge: String?
    let rewindStart: String?
    let bandwidth: Int?
    let resolution: String?
    let segmentsLost: UInt64?
    let hasStills: Bool
    let openStreams: Int
    let waitingRequests: Int
    let secondsSinceViewer: Double?

    init(_ channel: ServeStatus.Channel) {
        slug = channel.slug
        state = channel.state
        reason = channel.reason
        (lastFailure, secondsUntilStart) = (channel.lastFailure, channel.secondsUntilStart)
        openStreams = channel.openStreams
        waitingRequests = channel.waitingRequests
        secondsSinceViewer = channel.secondsSinceViewer
        let status = channel.status
        channelState = status?.state
        upstreamReason = status?.reason
        secondsInState = status?.secondsInState
        secondsSinceNewSegment = status?.upstream.secondsSinceNewSegment
        liveEdge = status?.output.liveEdge
        rewindStart = status?.output.rewindStart
        bandwidth = status?.output.averageBandwidth
        resolution = status?.splice.currentPeriod.flatMap { period in
            period.width.flatMap { width in period.height.map { "\(width)x\($0)" } }
        }
        hasStills = status?.stills != nil && resolution != nil
        segmentsLost = status?.upstream.counts.lost
    }
}

/// `/web/overview.json`: the channels that are not idle or failed last, in a few fields each.
struct ServeOverview: Encodable, Sendable {
    /// The features that the page can offer to a viewer.
    struct Features: Encodable, Sendable {
        var hasGuide = false
        /// Whether there is an API, whose token the viewer may have.
        var hasAPI = false
        /// Whether the API records.
        var hasRecordings = false
    }

    let listed: Int
    let running: Int
    let idle: Int
    let failed: Int
    let uptime: Double
    let features: Features
    let channels: [ChannelOverview]
    /// The channels that are idle after a failure, by slug.
    let failures: [String: RelayStatus.Failure]

    init(_ overview: ChannelHost.Overview, _ features: Features) {
        let status = ServeStatus(overview, clients: ClientCounts())
        (listed, running, idle, failed) = (status.listed, status.running, status.idle, status.failed)
        uptime = status.uptime
        self.features = features
        channels = status.channels.map(ChannelOverview.init)
        failures = overview.failures.filter { overview.channels[$0.key] == nil }
            .mapValues { $0.status(at: overview.uptime) }
    }
}

/// `/web/channels.json`: the names of channels.
struct ListedChannels: Encodable, Sendable {
    struct Entry: Encodable, Sendable {
        let slug: String
        let name: String
        let number: String?
        let logo: String?
        let groups: [String]
    }

    let channels: [Entry]

    init(_ channels: [ListedChannel]) {
        self.channels = channels.map {
            Entry(slug: $0.slug, name: $0.name, number: $0.number, logo: $0.logo, groups: $0.groups)
        }
    }
}
