package import Demux
package import Fetch
package import Playlist
import Support

/// A snapshot of one channel's intake. All times are session times.
package struct UpstreamStatus: Equatable, Sendable {
    package enum Phase: String, Equatable, Sendable { case idle, opening, following, over }

    package struct Rendition: Equatable, Sendable {
        package var role: RenditionRole
        package var url: String
        /// nil before a playlist was read.
        package var targetDuration: Duration?
        /// The first media sequence number not listed yet; nil before joining and after ENDLIST.
        package var nextMediaSequence: UInt64?
        /// The time at which a playlist was last read, changed or not.
        package var loadedAt: Duration?
        /// The time at which a playlist last listed something new, and the last step taken since.
        package var grewAt: Duration?
        package var stallStep: StallEscalation.Step?
        package var hasEnded: Bool
        /// Segments listed and not delivered yet, including those in flight.
        package var queued: Int
        package var inFlight: Int
        package var heldBytes: Int
        package var counts: TrackerCounts
        package var polling: PollingState
    }

    package var phase: Phase
    package var variant: Variant?
    /// Variants of the source whose video turned out to be foreign.
    package var refusedVariants: [Variant] = []
    package var audio: Playlist.Rendition?
    /// Main first.
    package var renditions: [Rendition]
    /// Failed attempts for keys and maps.
    package var failedResourceTries: Int
    /// Requests of every kind, without redirects.
    package var requests: Int
    package var faults: [FetchFault: Int]
    /// Requests to one host at once; nil: no limit.
    package var maxConnections: Int?
    /// Answers of all hosts that asked for fewer requests (429, 509).
    package var meteredAnswers: Int
    /// The hosts that are limited now, in the order of their names.
    package var rateLimitedHosts: [RateLimitedHost]
    /// The reason why the channel is not on time; nil while it is.
    package var stall: Stall?
    package var hasPublished = false
    /// nil for a session with one source.
    package var failover: Failover?
    /// nil unless the upstream is a stream.
    package var stream: Stream?

    /// The connections of a stream, and what was done to join them.
    package struct Stream: Equatable, Sendable {
        package var isConnected: Bool
        package var connections: Int
        package var lostDatagrams: Int
        package var counts: StreamCutter.Counts
    }

    /// The reason why a channel does not continue.
    package struct Stall: Equatable, Sendable {
        package enum Cause: Equatable, Sendable {
            /// Nothing could be opened yet. The last attempt's error, if it failed.
            case opening(TrackerError?)
            /// Nothing new is listed. The last load's error, if it failed.
            case playlist(TrackerError?)
            /// Nothing of what is listed can be published.
            case media(UnpublishedReason)
            /// The active source has failed or ended, and no other has become active.
            case sourceLost(Int, TrackerError?)
        }

        package var cause: Cause
        package var step: StallEscalation.Step
        package var since: Duration
    }

    /// The state of a channel with several sources.
    package struct Failover: Equatable, Sendable {
        /// The active source, as in `Delivery`.
        package var source: Int
        /// False while that source has failed and no other has become active.
        package var isPublished: Bool
        package var trialSource: Int?
        /// Since when the primary source is healthy again, while a backup is active.
        package var primaryHealthySince: Duration?
        package var switches: Int
        /// Total duration of the gaps delivered in outages.
        package var gapDuration: Duration
    }

    /// False if the channel is late because the last request for a playlist failed, or has no answer.
    package func isAnswering(at now: Duration) -> Bool {
        switch stall?.cause {
        case .opening(.some), .playlist(.some), .sourceLost(_, .some): return false
        case .playlist(nil):
            guard let main = renditions.first, let target = main.targetDuration else { return true }
            return main.loadedAt.map { now - $0 < target * 3 / 2 } ?? true
        case .opening(nil), .sourceLost(_, nil), .media, nil: return true
        }
    }

    static let idle = UpstreamStatus(
        phase: .idle, variant: nil, audio: nil, renditions: [], failedResourceTries: 0, requests: 0,
        faults: [:], meteredAnswers: 0, rateLimitedHosts: [])
}

/// The outcomes of one rendition's playlists and segments.
package enum TrackerCount: Int, CountKey {
    case playlistLoads
    case failedPlaylistLoads
    case segmentsDelivered
    case failedAttempts
    /// Discontinuities, each with any number of lost segments.
    case discontinuities
    case stalePlaylists
    /// Playlists that were read although a line of them was malformed.
    case irregularPlaylists
    /// Segments whose fetch was ended because they are too large to be held while another one is delivered first.
    case postponedSegments
    case sequenceResets
    /// Cue tags that a playlist added to segments after they were fetched.
    case lateCueTags
}

/// Counts of one rendition since the session began.
package struct TrackerCounts: Encodable, Equatable, Sendable {
    private var own = Counts<TrackerCount>()
    package private(set) var lost: UInt64 = 0
    package private(set) var lostByCause = Dictionary(
        uniqueKeysWithValues: SegmentLoss.Cause.allCases.map { ($0, UInt64(0)) })
    /// Playing time of the segments lost; by the target duration where no playlist listed them.
    package var lostDurations: [SegmentLoss.Cause: Duration] = [:]
    /// Units dropped of all playlists loaded, by the limit that they exceeded.
    package var droppedByLimit: [PlaylistLimit: Int] = [:]

    package init() {}

    package subscript(count: TrackerCount) -> Int {
        get { own[count] }
        set { own[count] = newValue }
    }

    mutating func record(_ loss: SegmentLoss) {
        lost += loss.count
        lostByCause[loss.cause, default: 0] += loss.count
        own[.discontinuities] += 1
    }

    package static func += (sum: inout TrackerCounts, other: TrackerCounts) {
        sum.own += other.own
        sum.lost += other.lost
        sum.lostByCause.merge(other.lostByCause, uniquingKeysWith: +)
        sum.lostDurations.merge(other.lostDurations, uniquingKeysWith: +)
        sum.droppedByLimit.merge(other.droppedByLimit, uniquingKeysWith: +)
    }

    private enum CodingKeys: String, CodingKey { case segmentsLost, segmentsLostByCause, droppedFromPlaylists }

    /// Lost playing time is among the metrics, and `/status.json` has late cue tags among the ad markers.
    package func encode(to encoder: any Encoder) throws {
        try own.encode(TrackerCount.allCases.filter { $0 != .lateCueTags }, to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(lost, forKey: .segmentsLost)
        try container.encode(lostByCause, forKey: .segmentsLostByCause)
        try container.encode(droppedByLimit, forKey: .droppedFromPlaylists)
    }
}

/// Counts of the sources that were published earlier, so that a channel's counts never decrease.
struct IngestCounts: Equatable, Sendable {
    private(set) var renditions = TrackerCounts()
    private(set) var failedResourceTries = 0
    private(set) var requests = 0
    private(set) var faults: [FetchFault: Int] = [:]

    init() {}

    init(_ status: UpstreamStatus) {
        for rendition in status.renditions { renditions += rendition.counts }
        failedResourceTries = status.failedResourceTries
        requests = status.requests
        faults = status.faults
    }

    mutating func record(_ loss: SegmentLoss) { renditions.record(loss) }

    static func += (sum: inout IngestCounts, other: IngestCounts) {
        sum.renditions += other.renditions
        sum.failedResourceTries += other.failedResourceTries
        sum.requests += other.requests
        sum.faults.merge(other.faults, uniquingKeysWith: +)
    }
}

extension UpstreamStatus {
    /// Adds the counts of earlier sources. Those of their renditions are added to the main rendition.
    mutating func add(_ earlier: IngestCounts) {
        if !renditions.isEmpty { renditions[0].counts += earlier.renditions }
        failedResourceTries += earlier.failedResourceTries
        requests += earlier.requests
        faults.merge(earlier.faults, uniquingKeysWith: +)
    }
}
