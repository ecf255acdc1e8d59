import Playlist
import Tracker

extension RelayStatus {
    package struct Upstream: Encodable, Equatable, Sendable {
        /// Redacted, as `playlistURL` is.
        package internal(set) var url: String
        package internal(set) var playlistURL: String?
        package internal(set) var bandwidth: Int?
        package internal(set) var resolution: String?
        package internal(set) var audioRendition: String?
        package internal(set) var targetDuration: Double?
        /// Seconds since a playlist last listed a new segment.
        package internal(set) var secondsSinceNewSegment: Double?
        package internal(set) var nextMediaSequence: UInt64?
        package internal(set) var segmentsInFlight = 0
        package internal(set) var segmentsDelivered = 0
        package internal(set) var segmentsLost: UInt64 = 0
        package internal(set) var discontinuities = 0
        package internal(set) var stalePlaylists = 0
        package internal(set) var sequenceResets = 0
        package internal(set) var failedPlaylistLoads = 0
        package internal(set) var failedAttempts = 0
        /// The source that is published: 0 is the channel's own upstream, backups count from 1.
        package internal(set) var activeSource = 0
        /// The source that was opened during an outage and has not proved alive yet.
        package internal(set) var candidateSource: Int?
        package internal(set) var failovers = 0
        /// The last escalation step of a stall; nil while the upstream is on time.
        package internal(set) var stallStep: String?
        /// Total duration of gaps and slate published in outages.
        package internal(set) var outageSeconds = 0.0
        package internal(set) var requests = Requests()
    }

    /// The requests to the upstream's hosts, and the answers to them.
    package struct Requests: Encodable, Equatable, Sendable {
        /// A host that asked for fewer requests, with status 429 or 509.
        package struct ThrottledHost: Encodable, Equatable, Sendable {
            package internal(set) var host: String
            package internal(set) var responses: Int
            /// Seconds until the host is asked again, one request at a time; 0 if it is being asked.
            package internal(set) var pauseSeconds: Double
        }

        package internal(set) var total = 0
        /// Failed requests by kind of error: `http404`, `timedOut`, `shortBody`, …
        package internal(set) var errors: [String: Int] = [:]
        /// Concurrent requests permitted to one host; nil without a limit.
        package internal(set) var maxConnections: Int?
        package internal(set) var throttledResponses = 0
        package internal(set) var throttledHosts: [ThrottledHost] = []
    }
}

extension RelayStatus.Upstream {
    mutating func update(from status: UpstreamStatus, at now: Duration) {
        requests = RelayStatus.Requests(status, at: now)
        guard let main = status.renditions.first else { return }
        playlistURL = URIReference.redacted(main.url)
        bandwidth = status.variant?.bandwidth
        resolution = status.variant?.resolution.map { "\($0.width)x\($0.height)" }
        audioRendition = status.audio?.name
        targetDuration = main.targetDuration?.seconds
        secondsSinceNewSegment = main.grewAt.map { (now - $0).seconds }
        nextMediaSequence = main.nextMediaSequence
        stallStep = status.stall.map { "\($0.step)" }
        updateCounts(from: status)
        guard let failover = status.failover else { return }
        activeSource = failover.source
        candidateSource = failover.trialSource
        failovers = failover.switches
        outageSeconds = failover.gapDuration.seconds
    }

    /// Sums the counts of all renditions.
    private mutating func updateCounts(from status: UpstreamStatus) {
        let counts = status.renditions.map(\.counts)
        segmentsInFlight = status.renditions.reduce(0) { $0 + $1.inFlight }
        segmentsDelivered = counts.reduce(0) { $0 + $1.delivered }
        segmentsLost = counts.reduce(0) { $0 + $1.lost }
        discontinuities = counts.reduce(0) { $0 + $1.discontinuities }
        stalePlaylists = counts.reduce(0) { $0 + $1.stalePlaylists }
        sequenceResets = counts.reduce(0) { $0 + $1.resets }
        failedPlaylistLoads = counts.reduce(0) { $0 + $1.failedLoads }
        failedAttempts = counts.reduce(status.failedResourceTries) { $0 + $1.failedTries }
    }
}

extension RelayStatus.Requests {
    fileprivate init(_ status: UpstreamStatus, at now: Duration) {
        total = status.requests
        errors = Dictionary(status.faults.map { ($0.key.name, $0.value) }, uniquingKeysWith: +)
        maxConnections = status.maxConnections
        throttledResponses = status.meteredAnswers
        throttledHosts = status.rateLimitedHosts.map { host in
            ThrottledHost(
                host: host.name, responses: host.answers, pauseSeconds: max(.zero, host.pauseEnd - now).seconds)
        }
    }
}
