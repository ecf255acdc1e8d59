package import Playlist

/// A snapshot of one channel's intake. All times are session time.
package struct UpstreamStatus: Equatable, Sendable {
    package enum Phase: String, Equatable, Sendable { case idle, opening, following, over }

    package struct Rendition: Equatable, Sendable {
        package var role: RenditionRole
        package var url: String
        /// nil until a playlist was read.
        package var targetDuration: Duration?
        /// The first media sequence number not listed yet; nil before joining and after ENDLIST.
        package var nextMediaSequence: UInt64?
        /// When a list was last read, new or not.
        package var loadedAt: Duration?
        /// When a list last had something new, and the step of the ladder taken since.
        package var grewAt: Duration?
        package var stallStep: StallEscalation.Step?
        package var hasEnded: Bool
        /// Segments listed and not delivered yet, those in flight included.
        package var queued: Int
        package var inFlight: Int
        package var heldBytes: Int
        package var counts: TrackerCounts
    }

    /// A host that asked for fewer requests.
    package struct RateLimitedHost: Equatable, Sendable {
        package var name: String
        /// That asked for it.
        package var answers: Int
        /// It is asked for nothing before.
        package var pauseEnd: Duration
    }

    package var phase: Phase
    package var variant: Variant?
    package var audio: Playlist.Rendition?
    /// In the order of `RenditionRole.subtitles`.
    package var subtitles: [Playlist.Rendition]
    /// Main first.
    package var renditions: [Rendition]
    /// Tries of keys and maps that failed.
    package var failedResourceTries: Int
    /// How often the multivariant playlist was read, the first time included.
    package var multivariantReads: Int
    /// Of every kind, redirects not counted.
    package var requests: Int
    package var faults: [FetchFault: Int]
    /// Requests to one host at once; nil: no limit.
    package var maxConnections: Int?
    /// Answers that asked for fewer requests (429, 509), of all hosts.
    package var meteredAnswers: Int
    /// In the order of their names.
    package var rateLimitedHosts: [RateLimitedHost]
    /// Why the channel is not on time; nil while it is.
    package var stall: Stall?
    /// Something that was handed downstream was published.
    package var hasPublished = false
    /// nil of a session with one source, by itself.
    package var failover: Failover?

    /// What keeps a channel from going on.
    package struct Stall: Equatable, Sendable {
        package enum Cause: Equatable, Sendable {
            /// Nothing could be opened yet; and how the last try failed, if it did.
            case opening(TrackerError?)
            /// Nothing new is listed; and how the last load failed, if it did.
            case playlist(TrackerError?)
            /// Nothing of what is listed can be published.
            case media(UnpublishedReason)
            /// The source that was published has failed, or ended, and no other has taken over.
            case sourceLost(Int, TrackerError?)
        }

        package var cause: Cause
        /// The last one taken for it.
        package var step: StallEscalation.Step
        package var since: Duration
    }

    /// Which of a channel's sources is published, and what is done about the others.
    package struct Failover: Equatable, Sendable {
        /// As in `Delivery`.
        package var source: Int
        /// False while that source has failed and no other has taken over.
        package var isPublished: Bool
        /// Opened, and not yet seen to be alive.
        package var trialSource: Int?
        /// Since when the channel's own upstream is healthy again, while a backup is published.
        package var primaryHealthySince: Duration?
        package var switches: Int
        /// Given out as missing, in all.
        package var gapDuration: Duration
    }

    static let idle = UpstreamStatus(
        phase: .idle, variant: nil, audio: nil, subtitles: [], renditions: [], failedResourceTries: 0,
        multivariantReads: 0,
        requests: 0, faults: [:], meteredAnswers: 0, rateLimitedHosts: [])
}

/// What happened to one rendition since the session began.
package struct TrackerCounts: Equatable, Sendable {
    package var loads = 0
    package var failedLoads = 0
    package var delivered = 0
    package var failedTries = 0
    /// Segments, not occasions.
    package var lost: UInt64 = 0
    /// Occasions at which what follows is not continuous.
    package var discontinuities = 0
    package var stalePlaylists = 0
    package var resets = 0
    /// Cue tags that a list added to segments which had been taken.
    package var lateCueTags = 0
}
