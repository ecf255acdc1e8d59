package import Fetch
package import Media
package import Playlist
package import Support

/// One channel's intake: which playlists are followed, what is fetched when, and what is delivered in which order.
///
/// The session owns neither clock nor socket. A driver carries out the effects, and passes in the answers with the time
/// since the session began. `PlaylistIntake` follows the playlists, `MediaIntake` fetches what they list. `StreamIntake`
/// takes the place of both if the upstream turns out to be a stream. `SessionRequests` collect the effects of all. The
/// session itself decides what is done about silence.
package struct UpstreamSession: IngestSession {
    package enum Input: Sendable {
        /// The first input, passed once.
        case start
        case answered(FetchID, FetchOutcome)
        /// A part of a stream. Its last part precedes the answer.
        case received(FetchID, StreamPart)
        /// The outcome of an audio or video segment that was delivered, passed before any other input.
        case delivered(Delivery, DeliveryOutcome)
        /// The outcome that a probed segment would have, passed before any other input.
        case probed(Delivery, DeliveryOutcome)
        /// The time of the last `Effect.wake` has come.
        case wake
        /// Another source, of which this one is in an outage, needs the connections of its host for a trial.
        case pauseMedia
        case resumeMedia
        /// Missing time of the main rendition was listed as a gap.
        case gapListed(Duration)
        /// Another variant has what follows: the next segment of the main rendition is waited for no longer than it takes to
        /// deliver those after it that are ready.
        case passOver
        /// Somebody asks for the variant that is nearest to a track of the channel.
        case demanded(VideoTrackIdentity)
    }

    package enum Effect: Equatable, Sendable {
        case fetch(FetchID, FetchRequest)
        /// Cancel a fetch. Its answer is ignored if it arrives nevertheless.
        case cancel(FetchID)
        /// Replaces any earlier wake. In session time, which may have passed already.
        case wake(at: Duration)
        case deliver(Delivery)
        /// Determine whether the segment could be published, without publishing it.
        case probe(Delivery)
        case report(UpstreamEvent)
        case end(SessionEnd)
    }

    let policy: Policy
    private var playlists: PlaylistIntake
    private var media: MediaIntake
    /// nil unless the upstream was recognized as a stream, which has no playlists.
    private(set) var stream: StreamIntake?

    /// - Parameters:
    ///   - upstream: absolute URL of a multivariant or a media playlist.
    ///   - number: the session's number among those of its channel.
    package init(upstream: String, policy: Policy, number: UInt64 = 0) {
        self.policy = policy
        playlists = PlaylistIntake(upstream: upstream, policy: policy)
        media = MediaIntake(policy, number: number)
    }

    /// The main rendition; nil before its URL is known.
    var main: RenditionTracker? { media.renditions.first }

    /// The limiter of the whole channel, lent to each of its sessions for one step.
    var limiter: HostLimiter {
        get { media.requests.limiter }
        set { media.requests.limiter = newValue }
    }

    /// - Parameter now: time since the session began; never decreases.
    package mutating func handle(_ input: Input, at now: Duration) -> [Effect] {
        guard !media.requests.isOver else { return [] }
        postponeGivingUp(by: media.requests.beginStep(at: now))
        switch input {
        case .start: playlists.open(at: now)
        case .answered(let id, let outcome):
            if let answer = media.requests.settle(id, outcome, at: now) { settle(answer, at: now) }
        case .received(let id, let part): receive(part, of: id, at: now)
        case .delivered(let delivery, let outcome):
            if case .refused = outcome {} else if delivery.isMainSegment { playlists.locator.confirmVariant() }
            recordOutcome(delivery, outcome, at: now)
        case .probed: break
        case .wake: media.requests.wakeFired()
        case .pauseMedia:
            media.pause(at: now)
            stream?.pause(&media.requests, at: now)
        case .resumeMedia:
            media.resume()
            stream?.resume(at: now)
        case .gapListed(let duration): media.recordListedGap(duration)
        case .passOver: media.isPassedOver = true
        case .demanded(let track): playlists.demand(track, at: now)
        }
        performDue(at: now)
        media.isPassedOver = false
        let deadlines = media.deadlines(after: now) + playlists.deadlines(media) + (stream?.deadlines ?? [])
        return media.requests.drain(waking: deadlines, after: now)
    }

    private mutating func settle(_ answer: SessionRequests.Answer, at now: Duration) {
        switch answer.target {
        case .opening:
            if playlists.settleOpening(answer, &media, at: now) { mainPlaylistRead(at: now) }
        case .multivariantReload: playlists.settleReload(answer, isInOutage: isInOutage, &media, at: now)
        case .playlist(let role):
            if playlists.settle(role, answer, &media, at: now) { mainPlaylistRead(at: now) }
        case .segment(let role, let request):
            apply(media.settleSegment(role, request, answer, at: now), at: now)
        case .resource(let request): apply(media.settleResource(request, answer, at: now), at: now)
        case .clock, .segmentIndex:
            if playlists.settleManifestPart(answer, &media, at: now) { mainPlaylistRead(at: now) }
        case .stream: stream?.settle(answer, &media.requests, at: now)
        }
    }

    /// Receives a part of a stream: the first one tells that the upstream is one.
    private mutating func receive(_ part: StreamPart, of id: FetchID, at now: Duration) {
        if media.requests.target(of: id) == .opening {
            media.requests.setTarget(of: id, to: .stream)
            playlists.followStream()
            let url = playlists.locator.upstream
            stream = StreamIntake(id, of: url, policy, at: now)
            if let unknown = try? DatagramURL(url).unknownParameters, !unknown.isEmpty {
                media.requests.report(.unknownParameters(unknown, url: url))
            }
        }
        guard media.requests.target(of: id) == .stream else { return }
        stream?.receive(part, &media.requests, at: now)
    }

    private mutating func mainPlaylistRead(at now: Duration) {
        media.expectMedia(at: now)
        if main?.stallEscalation.silence(at: now) == .zero, !isInOutage { playlists.locator.resetBackoff() }
    }

    private mutating func apply(_ remedy: MediaIntake.Remedy, at now: Duration) {
        if remedy.needsFreshURLs { playlists.requestFreshURLs(&media, at: now) }
        if remedy.needsNextVariant { playlists.tryRedundantVariant(&media, at: now) }
    }

    mutating func recordOutcome(_ delivery: Delivery, _ outcome: DeliveryOutcome, at now: Duration) {
        let silence = stream?.recordOutcome(outcome, at: now) ?? media.recordOutcome(delivery, outcome, at: now)
        if let silence { media.requests.report(.mediaResumed(silence: silence)) }
    }

    /// Performs everything that is due by `now`. Any part may end the session, after which no other one is performed.
    private mutating func performDue(at now: Duration) {
        media.requests.endHostLimits(at: now)
        if stream != nil {
            stream?.perform(&media.requests, at: now)
            return
        }
        playlists.checkTimeouts(&media, at: now)
        guard !media.requests.isOver else { return }
        escalatePlaylistStalls(at: now)
        guard !media.requests.isOver else { return }
        escalateMediaStall(at: now)
        guard !media.requests.isOver else { return }
        if playlists.listDue(&media, at: now) { mainPlaylistRead(at: now) }
        playlists.updateLadder(&media, at: now)
        playlists.start(&media, at: now)
        guard policy.fetchesMedia else { return media.discard() }
        media.perform(at: now)
        if playlists.isFollowing { media.endIfDrained(at: now) }
    }

    /// Ends the session without effects. Returns the fetches in flight.
    mutating func abandon() -> [FetchID] { media.requests.abandon() }

    // MARK: - Silence

    /// Excludes a time in which nothing could be tried from the silence after which the session gives up.
    private mutating func postponeGivingUp(by time: Duration) {
        guard time > .zero else { return }
        playlists.postponeGivingUp(by: time)
        media.postponeGivingUp(by: time)
        stream?.postponeGivingUp(by: time)
    }

    /// The last step taken for the silence of the main playlist; nil while it is on time or nothing is expected of it.
    var mainStall: StallEscalation.Step? { stream?.lastStep ?? main?.stallEscalation.lastStep }

    /// Whether the main playlist or its media has been silent up to the last step before giving up.
    var isInOutage: Bool { [mainStall, media.stall.lastStep].contains { $0.map { $0 >= .outage } ?? false } }

    private var mediaStall: MediaStallEscalation { stream?.stall ?? media.stall }

    private mutating func escalatePlaylistStalls(at now: Duration) {
        for index in media.renditions.indices {
            for step in media.renditions[index].stallEscalation.escalate(at: now) {
                let (role, url) = (media.renditions[index].role, media.renditions[index].url)
                let silence = media.renditions[index].stallEscalation.silence(at: now)
                guard role == .main || step != .redundantVariant, perform(step, at: now) else { continue }
                media.requests.report(.stalled(role, step, silence: silence))
                guard step == .giveUp else { continue }
                return media.requests.finish(.gaveUp(TrackerError(.silent(for: silence), url: url)))
            }
        }
    }

    private mutating func escalateMediaStall(at now: Duration) {
        for step in media.stall.escalate(at: now) {
            // Segments that can be read come from the right URL.
            let needsNewURL = step == .redundantVariant || step == .reloadMultivariant
            let (silence, reason) = (media.stall.silence(at: now), media.stall.reason)
            guard step != .late, !(needsNewURL && media.stall.isReadable), perform(step, at: now) else { continue }
            media.requests.report(.mediaStalled(step, silence: silence, reason))
            guard step == .giveUp else { continue }
            let error = TrackerError(.nothingUsable(for: silence, reason), url: main?.url ?? playlists.locator.upstream)
            return media.requests.finish(.gaveUp(error))
        }
    }

    /// Performs a step of an escalation, except giving up. Returns false if the upstream has no means for it.
    private mutating func perform(_ step: StallEscalation.Step, at now: Duration) -> Bool {
        switch step {
        case .late, .giveUp: return true
        case .redundantVariant: return playlists.tryRedundantVariant(&media, at: now)
        case .reloadMultivariant: return playlists.requestReload(at: now)
        case .outage:
            playlists.requestReload(at: now)
            return true
        }
    }

    // MARK: - Status

    package var status: UpstreamStatus {
        let locator = playlists.locator
        var status = UpstreamStatus(
            phase: media.requests.isOver ? .over : playlists.phase, variant: locator.variant, audio: locator.audio,
            renditions: stream.map { [$0.status] } ?? media.renditions.map(\.status),
            failedResourceTries: media.failedResourceTries,
            requests: Int(clamping: media.requests.count), faults: media.requests.faults,
            maxConnections: policy.maxConnections,
            meteredAnswers: limiter.rateLimitedAnswers, rateLimitedHosts: limiter.limitedHosts, stall: stall,
            hasPublished: mediaStall.hasPublished)
        status.stream = stream?.streamStatus
        status.refusedVariants = policy.refusedVariants
        return status
    }

    /// The variant in use, if another one can be followed in its place.
    var variantOnTrial: Variant? { playlists.locator.hasAlternative ? playlists.locator.variant : nil }

    /// The variant in use; nil before a multivariant playlist was read.
    var variant: Variant? { playlists.locator.variant }

    /// The tracks that are fetched beside the leading rendition.
    var tracks: ChosenTracks { playlists.locator.tracks }

    /// Whether the multivariant playlist lists a variant that is equivalent to none of `excluded`.
    func hasVariant(otherThan excluded: [Variant]) -> Bool { playlists.locator.hasVariant(otherThan: excluded) }

    var mainStatus: UpstreamStatus.Rendition? { stream?.status ?? main?.status }

    /// The stall of the opening, or the more severe of those of the main playlist and its media.
    private var stall: UpstreamStatus.Stall? {
        if let (error, began) = playlists.openingFailure, !media.requests.isOver {
            return error.map { .init(cause: .opening($0), step: .late, since: began) }
        }
        var stalls: [UpstreamStatus.Stall] = []
        if let main, case .expecting(let since, let step?) = main.stallEscalation.state {
            stalls.append(.init(cause: .playlist(main.load.failures.last), step: step, since: since))
        }
        if let stall = stream?.stallStatus { stalls.append(stall) }
        if let step = mediaStall.lastStep, let since = mediaStall.silentSince {
            stalls.append(.init(cause: .media(mediaStall.reason), step: step, since: since))
        }
        return stalls.max { $0.step < $1.step }
    }

    // MARK: - Policy

    package struct Policy: Equatable, Sendable {
        package var variant: VariantChoice
        /// Variants that are not followed while there are others.
        package var refusedVariants: [Variant] = []
        /// The tracks of an earlier session with another variant of the upstream; nil: those that are listed first.
        var tracks: ChosenTracks?
        /// Silence after which the session gives up; nil: never.
        package var giveUp: Duration?
        /// Audio and video segments fetched at once. Each subtitle rendition has one more of its own.
        package var maxInFlight: Int = 4
        package var limits = IntakeLimits()
        /// Requests of any kind to one host at once; nil: no limit.
        package var maxConnections: Int?
        /// Whether that limit is one for all hosts.
        package var countsAllHosts = false
        package var opening = OpeningPatience()
        /// Subtitle renditions that are followed, the first ones of those listed.
        package var maxSubtitles: Int = 8
        /// Whether media is fetched and delivered; false: only the playlists are followed.
        package var fetchesMedia = true
        /// Whether the audio rendition of the variant's group is followed too.
        package var followsAudio = true
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
        /// The target duration that an earlier process published: a stream, which has none of its own, keeps it.
        package var channelTargetDuration: Duration?
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

        var filePace: FilePlaylist.Pace { loopsFiles ? .loop : pacesFiles ? .clock : .finished }

        /// Playlists that are only watched need not be read at once. A blocking reload would occupy one of few
        /// connections.
        var effectivePolling: PollingMode {
            guard fetchesMedia else { return .standard }
            return maxConnections != nil && polling == .blocking ? .edge : polling
        }
    }
}

/// How long a session waits for the first segments of its upstream.
package struct OpeningPatience: Equatable, Sendable {
    /// Attempts that may fail, if the fault may pass.
    var tries = 4
    /// The time until the first media playlist is read; nil: no limit.
    var limit: Duration? = .seconds(9)
    /// The time for which a playlist may have no segments after it was opened; nil: no limit.
    var emptyLimit: Duration? = .seconds(30)
    /// Whether an answer 401, 403, 404 or the like ends the session at once.
    var endsWhenRefused = false

    /// Whether a page in the place of a playlist may pass, because the same URL was republished before.
    private var endures = false

    /// Whether faults that may pass count as silence, after which the session gives up, and all others end it.
    package var isPatient: Bool { endsWhenRefused }

    /// A few attempts: somebody waits, or another source may be better.
    package init() {}

    /// Attempts until `giveUp`; nil: for ever. The upstream may be started after its relay.
    package static func patient(giveUp: Duration?) -> OpeningPatience {
        var patience = OpeningPatience()
        (patience.tries, patience.limit, patience.emptyLimit) = (.max, giveUp, giveUp)
        patience.endsWhenRefused = true
        return patience
    }

    /// Attempts until `giveUp`, whatever the upstream answers, as if there were viewers.
    package static func enduring(giveUp: Duration?) -> OpeningPatience {
        var patience = OpeningPatience()
        (patience.tries, patience.limit, patience.endures) = (.max, giveUp, true)
        return patience
    }

    /// The attempts that may fail with an error.
    func tries(after error: TrackerError) -> Int {
        if endures, case .notAPlaylist = error.reason { return tries }
        if error.isFinal || endsWhenRefused && error.isRefusal { return 1 }
        return endsWhenRefused && !error.mayPass ? OpeningPatience().tries : tries
    }
}

extension UpstreamSession.Policy {
    /// The time for which a stream may have no segments after it was opened.
    static let noSegmentsLimit = Duration.seconds(30)

    package init(variant: VariantChoice) { self.variant = variant }
}
