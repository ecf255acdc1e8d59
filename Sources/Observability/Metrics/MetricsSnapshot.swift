package import Channel
import LiveRing
import Playlist
package import Support
package import WebServer

/// One moment of the process, from which its metrics are made.
package struct MetricsSnapshot: Sendable {
    /// A run of a channel that is not over.
    package struct Run: Sendable {
        /// The channel's slug; nil in a process of one channel.
        package let channel: String?
        package let status: RelayStatus
        package let meter: ChannelMeter.Counts
        package let sentBytes: UInt64
        /// Bytes of the ring on disk.
        let spoolBytes: UInt64
        /// nil: the file system does not say.
        let spoolSpace: FileSystemSpace?
        /// The date of the live edge, in seconds since 1970.
        let edgeTime: Double?
        package let isReady: Bool
        /// Requests that are held until the channel publishes.
        package var waitingRequests = 0

        package init(_ channel: String?, _ state: ChannelState, _ meter: ChannelMeter, sentBytes: ByteCounter) {
            let snapshot = state.snapshot
            self.channel = channel
            status = state.status
            self.meter = meter.counts
            self.sentBytes = sentBytes.count
            spoolBytes = snapshot.map { $0.index.listedBytes + $0.index.retiredBytes } ?? 0
            spoolSpace = snapshot?.fileSystemSpace
            edgeTime = (snapshot?.newest?.programDateTimeEnd.millisecondsSince1970).map { Double($0) / 1000 }
            isReady = state.isReady
        }
    }

    package var runs: [Run]
    /// Channels of the list by state; nil in a process of one channel.
    package var channelStates: [String: Int]?
    /// Runs that were started.
    package var startCount: Int?
    package var traffic: HTTPTraffic.Counts
    package let events: EventDelivery
    package var clients = ClientCounts()
    /// How many connections of clients may be open; nil: any number.
    package var maxConnections: Int?
    package var process = ProcessFigures.current
    package var droppedLogLines = 0

    package init(
        runs: [Run], channelStates: [String: Int]? = nil, startCount: Int? = nil, traffic: HTTPTraffic.Counts,
        events: EventDelivery, clients: ClientCounts = ClientCounts(), maxConnections: Int? = nil,
        process: ProcessFigures = ProcessFigures.current, droppedLogLines: Int = 0
    ) {
        self.runs = runs
        self.channelStates = channelStates
        self.startCount = startCount
        self.traffic = traffic
        self.events = events
        self.clients = clients
        self.maxConnections = maxConnections
        self.process = process
        self.droppedLogLines = droppedLogLines
    }
}
