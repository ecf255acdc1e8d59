package import Channel
package import HTTP
import LiveRing
package import Support

/// The state of the process at one moment, from which its metrics are made.
package struct MetricsSnapshot: Sendable {
    /// A run of a channel that has not ended.
    package struct Run: Sendable {
        /// The channel's slug; nil in a process of one channel.
        let channel: String?
        let status: RelayStatus
        let meter: ChannelMeter.Counts
        let sentBytes: UInt64
        /// Bytes of the ring on disk.
        let spoolBytes: UInt64
        /// nil: the file system does not say.
        let spoolSpace: FileSystemSpace?
        /// The date of the live edge, in seconds since 1970.
        let edgeTime: Double?
        let isReady: Bool
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

    /// The fleet as the newest records describe it.
    package struct Fleet: Sendable {
        /// Bits per second of the channels that each node runs, by the node's name.
        let loads: [String: Int]
        /// The node that runs each channel, and the epoch in which it does.
        let owners: [String: (node: String, epoch: UInt64)]
        /// Whether this node may publish.
        let holdsLease: Bool

        package init(loads: [String: Int], owners: [String: (node: String, epoch: UInt64)], holdsLease: Bool) {
            (self.loads, self.owners, self.holdsLease) = (loads, owners, holdsLease)
        }
    }

    var runs: [Run]
    /// nil: this process runs each channel of the list alone.
    package var fleet: Fleet?
    /// Channels of the list by state; nil in a process of one channel.
    var channelStates: [String: Int]?
    var startCount: Int?
    var traffic: HTTPTraffic.Counts
    let events: EventDelivery
    var clients = ClientCounts()
    /// How many connections of clients may be open; nil: any number.
    var maxConnections: Int?
    var process = ProcessFigures.current
    var droppedLogLines = 0
}

extension MetricsSnapshot {
    /// This moment of a process that runs channels.
    package init(
        runs: [Run], channelStates: [String: Int]? = nil, startCount: Int? = nil, traffic: HTTPTraffic,
        events: EventDelivery, clients: ClientCounts, maxConnections: Int?
    ) {
        self.init(
            runs: runs, channelStates: channelStates, startCount: startCount, traffic: traffic.counts, events: events,
            clients: clients, maxConnections: maxConnections,
            droppedLogLines: Console.standardError.dropped)
    }
}

/// Answers `/metrics`, whose document is long if many channels run.
package struct MetricsResponder: Sendable {
    let snapshot: @Sendable () -> MetricsSnapshot
    /// Documents about the current moment.
    package let documents: DocumentCache

    package init(
        documents: DocumentCache = DocumentCache(label: "liverelay.moments"),
        snapshot: @escaping @Sendable () -> MetricsSnapshot
    ) {
        self.documents = documents
        self.snapshot = snapshot
    }

    package func answer(to target: RequestTarget) -> Answer {
        let format = MetricsWriter.Format(accept: target.fields.accept)
        return .later { [documents, snapshot] in
            await documents.response(.init(name: "metrics \(format)"), format.contentType, version: nil, to: target) {
                Array(MetricsWriter.write(MetricCatalog.families(snapshot()), as: format).utf8)
            }
        }
    }
}
