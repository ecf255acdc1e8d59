package import Media
package import Playlist
package import Support

extension UpstreamSession {
    package struct Policy: Equatable, Sendable {
        package var variant: VariantChoice
        /// Silence after which the session gives up; nil: never.
        package var giveUp: Duration?
        /// Audio and video segments fetched at once. Each subtitle rendition has one more of its own.
        package var maxInFlight: Int
        /// The memory for what is fetched.
        package var limits: IntakeLimits
        /// Requests of any kind to one host at once; nil: no limit.
        package var maxConnections: Int?
        /// Whether that limit is one for all hosts.
        package var countsAllHosts = false
        /// The time for which a playlist may have no segments after it was opened.
        package var noSegmentsLimit: Duration
        /// Attempts and time for opening, before the first media playlist is read.
        package var openingTries: Int
        package var openingLimit: Duration
        /// Subtitle renditions that are followed, the first ones of those listed.
        package var maxSubtitles: Int
        /// Whether media is fetched and delivered; false: only the playlists are followed.
        package var fetchesMedia = true
        /// Whether the audio rendition of the variant's group is followed too.
        package var followsAudio: Bool
        /// The audio renditions that are followed beside that one.
        package var audioTracks = AudioTrackChoice.leading
        /// The variants that are followed beside the leading one.
        package var ladder = LadderChoice.one
        /// Whether they are followed only while somebody asks for them. Those of a finished playlist always are.
        package var followsLadderOnDemand = false
        /// How far the published edge may fall behind for one missing segment; nil: as `SegmentPatience` chooses.
        package var patience: Duration?
        /// program_number of the program that is followed of a stream; nil: the first one with video.
        package var program: UInt16?
        /// How long segments of a stream are held back.
        package var hold = Duration.zero
        /// Whether a media file begins again when it has ended.
        package var loopsFiles = false
        /// Whether the media of a file is fetched as time passes, because it stands in for a live channel.
        package var pacesFiles = false
        /// For the jitter of the pauses between attempts.
        package var seed: UInt64 = 0
        /// The point at which to join; earlier media was received from another source, or by another process.
        package var joinPoint = JoinPoint.edge
        /// How reloads of audio and video playlists are timed.
        package var polling = PollingMode.standard
        /// The wall-clock date of session time zero, a hint for the first reloads; nil: reloads do not depend on it.
        package var startDate: ProgramDateTime?

        package init(
            variant: VariantChoice, giveUp: Duration? = nil, maxInFlight: Int = 4,
            limits: IntakeLimits = IntakeLimits(),
            noSegmentsLimit: Duration = .seconds(30), openingTries: Int = 4, openingLimit: Duration = .seconds(9),
            maxSubtitles: Int = 8, maxConnections: Int? = nil, followsAudio: Bool = true, patience: Duration? = nil
        ) {
            self.patience = patience
            self.maxConnections = maxConnections
            self.followsAudio = followsAudio
            self.maxSubtitles = maxSubtitles
            self.variant = variant
            self.giveUp = giveUp
            self.maxInFlight = maxInFlight
            self.limits = limits
            self.noSegmentsLimit = noSegmentsLimit
            self.openingTries = openingTries
            self.openingLimit = openingLimit
        }

        var filePace: FilePlaylist.Pace { loopsFiles ? .loop : pacesFiles ? .clock : .finished }

        /// Playlists that are only watched need not be read at once. A blocking reload would occupy one of few
        /// connections.
        var effectivePolling: PollingMode {
            guard fetchesMedia else { return .standard }
            return maxConnections != nil && polling == .blocking ? .edge : polling
        }
    }
}
