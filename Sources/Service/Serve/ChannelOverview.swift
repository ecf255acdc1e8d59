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
    let upstreamReason: StatusReason?
    let secondsInState: Double?
    let secondsSinceNewSegment: Double?
    let liveEdge: String?
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
        openStreams = channel.openStreams
        waitingRequests = channel.waitingRequests
        secondsSinceViewer = channel.secondsSinceViewer
        let status = channel.status
        channelState = status?.state
        upstreamReason = status?.reason
        secondsInState = status?.secondsInState
        secondsSinceNewSegment = status?.upstream.secondsSinceNewSegment
        liveEdge = status?.output.liveEdge
        bandwidth = status?.output.averageBandwidth
        resolution = status?.splice.currentPeriod.flatMap { period in
            period.width.flatMap { width in period.height.map { "\(width)x\($0)" } }
        }
        hasStills = status?.stills != nil && resolution != nil
        segmentsLost = status?.upstream.counts.lost
    }
}

/// `/web/overview.json`: the channels that are not idle, in a few fields each.
struct ServeOverview: Encodable, Sendable {
    let listed: Int
    let running: Int
    let uptime: Double
    let channels: [ChannelOverview]

    init(_ overview: ChannelHost.Overview) {
        listed = overview.directory.channels.count
        let status = ServeStatus(overview, clients: ClientCounts())
        (running, uptime) = (status.running, status.uptime)
        channels = status.channels.map(ChannelOverview.init)
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
