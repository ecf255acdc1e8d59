import LiveRing
import Playlist
import Splice
import Tracker

/// One channel: carries values across the modules' borders, from the tracker's deliveries to the ring and the status.
///
/// It holds nothing global, so many of them live in one process; who calls `perform` decides whether time is real.
struct Relay {
    private let configuration: RelayConfiguration
    private let site: ChannelSite
    private var log: RelayLog
    /// Milliseconds since 1970 at which the channel joins, for an upstream that has no dates.
    private let wallClock: @Sendable () -> Int64
    /// There before the upstream is, where an earlier process left something to show.
    private var line: ChannelLine?
    /// The sources whose main playlist is known.
    private var joined: Set<Int> = []
    /// Sources whose sound comes in a rendition of its own.
    private var withAudioRendition: Set<Int> = []
    private var subtitles: [Rendition] = []
    /// Of an audio rendition whose playlist came before the main one's.
    private var early: [Delivery] = []

    init(
        _ configuration: RelayConfiguration, site: ChannelSite, log: RelayLog,
        wallClock: @escaping @Sendable () -> Int64
    ) {
        self.configuration = configuration
        self.site = site
        self.log = log
        self.wallClock = wallClock
    }

    /// Shows what an earlier process left, before anything comes of the upstream; an outage is published as one.
    /// - Parameter past: of the ring in the spool.
    mutating func resume(behind past: RingPast?) async throws(RelayError) {
        guard let past, !past.hasEnded else { return }
        let ring: DVRRing
        do throws(RingError) {
            ring = try DVRRing(
                directory: configuration.spool, policy: configuration.retention, targetDuration: past.targetDuration,
                subtitles: nil)
        } catch { throw failed(RelayError(error)) }
        try await begin(on: ring, isLive: true)
    }

    /// Takes what the tracker's driver hands on, one thing after the other; while one is worked on the next waits.
    /// - Returns: of a delivery, what became of it.
    @discardableResult
    mutating func perform(_ output: DriverOutput, at now: Duration) async throws(RelayError) -> Reception {
        switch output {
        case .event(let event): try await note(event)
        case .delivery(let delivery):
            try await take(delivery)
            return line?.reception ?? .held
        case .examination(let delivery):
            if case .segment(let tracked) = delivery.content { return MediaExamination(of: tracked).reception }
        case .status(let status):
            log.isInOutage = status.isOutage
            site.note(status, at: now)
        }
        return .held
    }

    /// Says how the channel ended.
    func ended(_ end: SessionEnd) throws(RelayError) {
        switch end {
        case .drained: log.info("The upstream has ended and everything of it is published")
        case .gaveUp(let error), .failed(let error): throw failed(RelayError(error))
        }
    }

    /// Shows in the status why the channel is over.
    func failed(_ error: RelayError) -> RelayError {
        site.turn(to: .failed, because: error.line)
        return error
    }

    private mutating func note(_ event: UpstreamEvent) async throws(RelayError) {
        log.note(event)
        if case .ofBackup(let source, let event) = event { return try await note(event, of: source) }
        try await note(event, of: 0)
    }

    private mutating func note(_ event: UpstreamEvent, of source: Int) async throws(RelayError) {
        switch event {
        case .chose(_, let audio, let listed):
            if audio?.uri != nil { withAudioRendition.insert(source) } else { withAudioRendition.remove(source) }
            if source == 0 { subtitles = listed }
            line?.add(source: source, hasAudioRendition: withAudioRendition.contains(source))
        case .joined(let joined) where joined.rendition == .main: try await open(joined, of: source)
        case .endListed(.main): await line?.ring.stopSliding()
        case .begunAgain(.main), .switched: await line?.ring.slide()
        default: break
        }
    }

    /// The output's TARGETDURATION is sealed from the upstream's, so the ring is opened when that is known; and once more
    /// where a backup was there first, which says nothing of the channel's subtitles.
    private mutating func open(_ joined: UpstreamEvent.Joined, of source: Int) async throws(RelayError) {
        let isFirst = self.joined.isEmpty
        let isNews = isFirst || source == 0 && !self.joined.contains(0)
        self.joined.insert(source)
        if isNews { try await openRing(for: joined, of: source, isFirst: isFirst) }
        line?.add(source: source, hasAudioRendition: withAudioRendition.contains(source))
        let waiting = early
        early = []
        for delivery in waiting { try await take(delivery) }
    }

    private mutating func openRing(
        for joined: UpstreamEvent.Joined, of source: Int, isFirst: Bool
    ) async throws(RelayError) {
        let ring: DVRRing
        do throws(RingError) { ring = try await self.ring(for: joined, of: source, isFirst: isFirst) } catch {
            throw failed(RelayError(error))
        }
        if line == nil {
            try await begin(on: ring, isLive: !joined.isVOD)
        } else {
            let slate = try slate(for: ring)
            line?.use(ring, isLive: !joined.isVOD, slate: slate)
            site.open(ring)
        }
        // Of a finished programme everything is shown, and of one that was live what its viewers still have.
        if joined.isVOD { await ring.stopSliding() } else { await ring.slide() }
    }

    private func ring(
        for joined: UpstreamEvent.Joined, of source: Int, isFirst: Bool
    ) async throws(RingError) -> DVRRing {
        var policy = configuration.retention
        if joined.isVOD { policy.rewind = nil }
        let subtitles = source == 0 ? subtitles : nil
        let targetDuration = Int(joined.targetDuration.roundedUp)
        if let line {
            // Viewers of this process were told how long segments are.
            return try await line.ring.reopened(
                policy: policy, targetDuration: isFirst ? targetDuration : line.ring.targetDuration,
                subtitles: subtitles)
        }
        return try DVRRing(
            directory: configuration.spool, policy: policy, targetDuration: targetDuration,
            firstMediaSequence: joined.mediaSequence, subtitles: subtitles)
    }

    private mutating func begin(on ring: DVRRing, isLive: Bool) async throws(RelayError) {
        line = ChannelLine(
            upstream: configuration.upstream, ring: ring, sound: configuration.sound,
            isLive: isLive, wallClock: wallClock(), slate: try slate(for: ring),
            hasBackups: !configuration.backups.isEmpty)
        do throws(RelayError) {
            for event in try await line?.listUnrecorded() ?? [] { note(event) }
        } catch { throw failed(error) }
        site.open(ring)
        if ring.resume != nil { log.info("Goes on behind what an earlier run left in \(configuration.spool)") }
    }

    private func slate(for ring: DVRRing) throws(RelayError) -> Slate? {
        guard let source = configuration.slate else { return nil }
        return try Slate(source, longestSegment: Ticks(ring.maximumSegmentDuration), sound: configuration.sound)
    }

    private mutating func take(_ delivery: Delivery) async throws(RelayError) {
        if joined.isEmpty {
            guard line != nil, case .missing = delivery.content else {
                early.append(delivery)
                return
            }
        }
        do throws(RelayError) {
            for event in try await line?.take(delivery) ?? [] { note(event) }
        } catch { throw failed(error) }
        guard let line else { return }
        site.update {
            $0.note(line.counts, skipped: line.skipped, notPublished: line.publication.refused)
            $0.note(line.publication.subtitles)
            $0.note(line.publication.markCounts, line.counts)
            $0.output.gaps = line.publication.gaps
            $0.output.slateSegments = line.interlude.slates
        }
        site.note(line.publication.trouble)
    }

    private func note(_ event: ChannelLine.Event) {
        log.note(event)
        switch event {
        case .runBegan(let run, _): site.update { $0.note(run) }
        case .programme(let programme, let rendition): site.update { $0.note(programme, of: rendition) }
        case .ended: site.turn(to: .ended, because: nil)
        case .standInBegan, .slateChanged, .slateFailed, .skipped, .published, .notPublished, .publishedAgain,
            .journalWasDamaged, .subtitlesNotPublished, .lackedTime, .runRefused, .soundRefused:
            break
        }
    }
}

extension Duration {
    /// Whole seconds, the next ones up.
    fileprivate var roundedUp: Int64 {
        let (seconds, rest) = components
        return max(1, rest > 0 ? seconds + 1 : seconds)
    }
}
