import Demux
import Fetch
import Playlist
import Support
package import Tracker

extension RelayStatus {
    package struct Upstream: Encodable, Equatable, Sendable {
        /// Redacted, as `playlistURL` is. Only operators get the two, and the names of hosts.
        package internal(set) var url: String
        package internal(set) var playlistURL: String?
        package internal(set) var bandwidth: Int?
        package internal(set) var resolution: String?
        package internal(set) var audioRendition: String?
        /// Variants that are not followed because of the codecs of their video.
        package internal(set) var refusedVariants: [String]?
        package internal(set) var targetDuration: Double?
        /// Seconds since a playlist last listed a new segment.
        package internal(set) var secondsSinceNewSegment: Double?
        package internal(set) var nextMediaSequence: UInt64?
        /// The rule for the next load of the main playlist, as `PollingState` names it.
        package internal(set) var polling: String?
        package internal(set) var segmentsInFlight = 0
        /// The sums over all renditions; failed attempts include those of keys and maps.
        package internal(set) var counts = TrackerCounts()
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
        /// nil unless the upstream is a stream.
        package internal(set) var stream: Stream?
        /// Rules of HLS that the upstream breaks, as far as relaying shows it.
        package internal(set) var brokenRules: [BrokenRule] = []

        private enum CodingKeys: String, CodingKey {
            case url, playlistURL, bandwidth, resolution, audioRendition, refusedVariants
            case targetDuration, secondsSinceNewSegment
            case nextMediaSequence, polling, segmentsInFlight, activeSource, candidateSource, failovers, stallStep
            case outageSeconds, requests, stream, brokenRules
        }

        package func encode(to encoder: any Encoder) throws {
            try counts.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            if Audience(of: encoder) == .operators {
                try container.encode(url, forKey: .url)
                try container.encodeIfPresent(playlistURL, forKey: .playlistURL)
            }
            try container.encodeIfPresent(bandwidth, forKey: .bandwidth)
            try container.encodeIfPresent(resolution, forKey: .resolution)
            try container.encodeIfPresent(audioRendition, forKey: .audioRendition)
            try container.encodeIfPresent(refusedVariants, forKey: .refusedVariants)
            try container.encodeIfPresent(targetDuration, forKey: .targetDuration)
            try container.encodeIfPresent(secondsSinceNewSegment, forKey: .secondsSinceNewSegment)
            try container.encodeIfPresent(nextMediaSequence, forKey: .nextMediaSequence)
            try container.encodeIfPresent(polling, forKey: .polling)
            try container.encode(segmentsInFlight, forKey: .segmentsInFlight)
            try container.encode(activeSource, forKey: .activeSource)
            try container.encodeIfPresent(candidateSource, forKey: .candidateSource)
            try container.encode(failovers, forKey: .failovers)
            try container.encodeIfPresent(stallStep, forKey: .stallStep)
            try container.encode(outageSeconds, forKey: .outageSeconds)
            try container.encode(requests, forKey: .requests)
            try container.encodeIfPresent(stream, forKey: .stream)
            try container.encode(brokenRules, forKey: .brokenRules)
        }
    }

    /// The connections of a stream, and what they brought.
    package struct Stream: Encodable, Equatable, Sendable {
        package internal(set) var isConnected: Bool
        package internal(set) var connections: Int
        /// Frames of the video, or of the audio of a program without video.
        package internal(set) var frames: Int
        package internal(set) var repeatedFrames: Int
        /// Frames before a random access point.
        package internal(set) var droppedFrames: Int
        package internal(set) var gaps: Int
        package internal(set) var restarts: Int
        package internal(set) var forcedCuts: Int
        package internal(set) var lostPackets: Int
        package internal(set) var lostDatagrams: Int
        package internal(set) var scrambledPackets: Int
        package internal(set) var bytesOutOfSync: Int
        package internal(set) var badSections: Int
        package internal(set) var tableChanges: Int
        package internal(set) var oversized: Int
    }

    /// The requests to the upstream's hosts, and the answers to them.
    package struct Requests: Encodable, Equatable, Sendable {
        /// A host that asked for fewer requests, with status 429 or 509.
        package struct ThrottledHost: Encodable, Equatable, Sendable {
            package internal(set) var host: String
            package internal(set) var responses: Int
            /// Seconds until the host is asked again, one request at a time; 0 if it is being asked.
            package internal(set) var pauseSeconds: Double

            private enum CodingKeys: String, CodingKey { case host, responses, pauseSeconds }

            package func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                if Audience(of: encoder) == .operators { try container.encode(host, forKey: .host) }
                try container.encode(responses, forKey: .responses)
                try container.encode(pauseSeconds, forKey: .pauseSeconds)
            }
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
        stream = status.stream.map { RelayStatus.Stream($0) }
        guard let main = status.renditions.first else { return }
        playlistURL = URIReference.redacted(main.url)
        bandwidth = status.variant?.bandwidth
        resolution = status.variant?.resolution.map { "\($0.width)x\($0.height)" }
        audioRendition = status.audio?.name
        let refused = status.refusedVariants.map { variant in
            (variant.resolution.map { "\($0.width)x\($0.height) " } ?? "") + "\(variant.bandwidth)"
        }
        refusedVariants = refused.isEmpty ? nil : refused
        targetDuration = main.targetDuration?.seconds
        secondsSinceNewSegment = main.grewAt.map { (now - $0).seconds }
        nextMediaSequence = main.nextMediaSequence
        polling = main.hasEnded ? nil : main.polling.rawValue
        stallStep = status.stall.map { "\($0.step)" }
        updateCounts(from: status)
        guard let failover = status.failover else { return }
        activeSource = failover.source
        candidateSource = failover.trialSource
        failovers = failover.switches
        outageSeconds = failover.gapDuration.seconds
    }

    private mutating func updateCounts(from status: UpstreamStatus) {
        segmentsInFlight = status.renditions.reduce(0) { $0 + $1.inFlight }
        counts = TrackerCounts()
        for rendition in status.renditions { counts += rendition.counts }
        counts[.failedAttempts] += status.failedResourceTries
    }
}

extension RelayStatus.Stream {
    fileprivate init(_ stream: UpstreamStatus.Stream) {
        let counts = stream.counts
        self.init(
            isConnected: stream.isConnected, connections: stream.connections, frames: counts.frames,
            repeatedFrames: counts.repeatedFrames, droppedFrames: counts.droppedFrames, gaps: counts.gaps,
            restarts: counts.restarts, forcedCuts: counts.forcedCuts, lostPackets: counts.lostPackets,
            lostDatagrams: stream.lostDatagrams,
            scrambledPackets: counts.scrambledPackets, bytesOutOfSync: counts.bytesOutOfSync,
            badSections: counts.badSections, tableChanges: counts.tableChanges, oversized: counts.oversized)
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
