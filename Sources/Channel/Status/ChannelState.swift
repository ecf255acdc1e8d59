import Conformance
package import Export
package import LiveRing
package import Media
package import Mux
import Playlist
package import Support
import Synchronization
import Tracker

/// The published state of one channel: its ring and its status.
///
/// Event loops read it while the channel's task publishes, so it is behind a lock that is held only while values are
/// copied.
package final class ChannelState: Sendable {
    private struct State: Sendable {
        var ring: DVRRing?
        var ringCount = 0
        /// The ring as another process publishes it, until this process does.
        var followed: (snapshot: RingSnapshot, firstMediaSequence: UInt64)?
        /// Whether the channel was followed, and this process has published nothing of it yet.
        var wasFollowed = false
        /// Whether streams end at the next segment boundary.
        var endsStreams = false
        var firstMediaSequence: UInt64 = 0
        /// The version of the ring at the last signal.
        var signaledVersion: UInt64 = 0
        var status: RelayStatus
        /// The newest state of the session, and its time. It comes several times for a segment, and its texts are made
        /// when somebody asks for them.
        var upstream: (status: UpstreamStatus, time: Duration)?
        /// When the status's state changed last.
        var stateSince = Duration.zero
        /// The newest segment that is no gap, and when it was published.
        var edge: (mediaSequence: UInt64, since: Duration)?
        var ads = AdPresentation.keep
        var breakSlate: BreakSlate?
        /// When the spool began to refuse segments; nil while it accepts them.
        var writeFailureSince: Duration?
        /// Tells the session that somebody asks for a variant; nil: it has none on demand.
        var demand: (@Sendable (VideoTrackIdentity) -> Void)?
        /// When the session was told last of each variant.
        var demandedAt: [Int: Duration] = [:]
        var findings: [FindingSide: RuleTally] = [:]
    }

    /// How often the session is told that somebody asks for a variant.
    private static let demandInterval = Duration.seconds(5)

    package struct Publication: Sendable {
        package let snapshot: RingSnapshot
        /// Which of the channel's rings the snapshot is of. Each ring counts its snapshots' versions from the beginning.
        package let ring: Int
        /// The number of the first segment that this process publishes.
        package let firstMediaSequence: UInt64
    }

    /// The transport streams of the channel's segments, shared by all that send them.
    package let transportStreams: TransportStreamStore
    /// Signals that the publication changed, that nothing more is published, or that endless streams end.
    package let publications = ChangeSignal()
    private let state: Mutex<State>
    /// Returns the time since the channel was started.
    let now: @Sendable () -> Duration
    private let complete: @Sendable (inout RelayStatus) -> Void
    /// nil for a channel that is relayed.
    private let archived: RingSnapshot?

    /// - Parameters:
    ///   - memory: one largest segment of it is for transport streams that are kept.
    ///   - complete: adds to a status that is asked for what its process knows.
    ///   - now: returns the time since the channel was started.
    package init(
        upstream: String, memory: MemoryBudget = MemoryBudget(),
        complete: @escaping @Sendable (inout RelayStatus) -> Void = { _ in }, now: @escaping @Sendable () -> Duration
    ) {
        self.complete = complete
        archived = nil
        transportStreams = TransportStreamStore(byteLimit: memory.bytes(of: .segment))
        state = Mutex(State(status: RelayStatus(upstream: upstream)))
        self.now = now
    }

    /// A part of an archive, which is published once and for all.
    package init(archived snapshot: RingSnapshot, ads: ArchivedAds) {
        complete = { _ in }
        transportStreams = TransportStreamStore()
        now = { .zero }
        archived = snapshot
        var status = RelayStatus(upstream: "")
        status.state = .ended
        state = Mutex(State(status: status, ads: ads.presentation, breakSlate: ads.slate(for: snapshot)))
    }

    /// Whether nothing changes any more.
    package var isArchived: Bool { archived != nil }

    /// The current publication; nil before the ring is open.
    package var publication: Publication? {
        if let archived {
            let first = archived.index.listed.first?.mediaSequence ?? 0
            return Publication(snapshot: archived, ring: 0, firstMediaSequence: first)
        }
        let (ring, count, first, followed) = state.withLock {
            ($0.ring, $0.ringCount, $0.firstMediaSequence, $0.followed)
        }
        if let ring { return Publication(snapshot: ring.snapshot, ring: count, firstMediaSequence: first) }
        return followed.map {
            Publication(snapshot: $0.snapshot, ring: 0, firstMediaSequence: $0.firstMediaSequence)
        }
    }

    package var snapshot: RingSnapshot? { publication?.snapshot }

    package var status: RelayStatus {
        var (status, upstream, since, writeFailureSince, edge, findings) = state.withLock {
            ($0.status, $0.upstream, $0.stateSince, $0.writeFailureSince, $0.edge, $0.findings)
        }
        let now = now()
        status.upstream.brokenRules = (findings[.upstream]?.entries(at: now) ?? []).map(RelayStatus.BrokenRule.init)
        status.output.brokenRules = (findings[.output]?.entries(at: now) ?? []).map(RelayStatus.BrokenRule.init)
        if let upstream { status.update(from: upstream.status, at: upstream.time) }
        status.output.secondsSincePublish = edge.map { (now - $0.since).seconds }
        status.uptime = now.seconds
        status.secondsInState = (now - since).seconds
        if let writeFailureSince { status.output.writeFailure?.seconds = (now - writeFailureSince).seconds }
        status.transportStream.update(from: transportStreams.counts)
        if let snapshot { status.output.update(from: snapshot) }
        complete(&status)
        return status
    }

    /// Whether the channel has ended or failed, so that nothing more is published.
    package var isOver: Bool { state.withLock { $0.status.state.isFinal } }

    /// The state of the status, without its figures.
    package var phase: RelayStatus.State { state.withLock { $0.status.state } }

    package func update(_ change: (inout RelayStatus) -> Void) { state.withLock { change(&$0.status) } }

    /// How ad breaks are presented to those who do not ask for something else.
    package var ads: AdPresentation { state.withLock { $0.ads } }

    /// The slate in the place of ad breaks; nil if the channel has none.
    package var breakSlate: BreakSlate? { state.withLock { $0.breakSlate } }

    func setAds(_ ads: AdPresentation, _ slate: BreakSlate?) {
        state.withLock { ($0.ads, $0.breakSlate) = (ads.possible(hasSlate: slate != nil), slate) }
    }

    /// Reads the slate in the place of ad breaks as soon as there is a segment, away from the threads of the caller.
    package func loadBreakSlate() async -> SlateFiles? {
        guard let slate = breakSlate else { return nil }
        guard let entry = snapshot?.index.listed.last(where: { !$0.isGap }) else { return nil }
        return await slate.load(after: entry)
    }

    /// The transport stream of a published segment with ad breaks as they are wanted, and the entry that it is made of.
    /// - Parameter ads: nil: as the channel says.
    package func transportSegment(
        of entry: RingEntry, in snapshot: RingSnapshot, ads: AdPresentation? = nil
    ) async throws(TransportStreamError) -> (segment: TransportSegment, entry: RingEntry) {
        guard entry.adBreak.isInside, ads ?? self.ads == .slate, await loadBreakSlate() != nil, let slate = breakSlate
        else { return (try await transportStreams.segment(of: entry, in: snapshot), entry) }
        return try await transportStreams.segment(inPlaceOf: entry, in: snapshot, from: slate)
    }

    /// Sets what is called when somebody asks for a variant beside the leading one.
    package func setDemand(_ demand: @escaping @Sendable (VideoTrackIdentity) -> Void) {
        state.withLock { $0.demand = demand }
    }

    /// Records that somebody asks for a variant beside the leading one.
    /// - Parameter number: that of `PlaylistContent.video`.
    package func demandVariant(_ number: Int) {
        guard let tracks = snapshot?.newest?.resumePoint.videoTracks, tracks.indices.contains(number - 1),
            let track = VideoTrackIdentity(text: tracks[number - 1])
        else { return }
        let now = now()
        state.withLock { state in
            if let last = state.demandedAt[number], now - last < Self.demandInterval { return }
            state.demandedAt[number] = now
            state.demand?(track)
        }
    }

    /// Sets the ring. The first one has only what earlier processes published.
    func setRing(_ ring: DVRRing) {
        state.withLock {
            if $0.ring == nil { $0.firstMediaSequence = ring.snapshot.index.nextMediaSequence }
            ($0.ring, $0.followed) = (ring, nil)
            $0.ringCount += 1
        }
        publications.signal()
    }

    /// Shows the ring as another process publishes it.
    package func follow(_ snapshot: RingSnapshot) {
        state.withLock { state in
            guard state.ring == nil else { return }
            let first = state.followed?.firstMediaSequence ?? snapshot.index.nextMediaSequence
            (state.followed, state.wasFollowed) = ((snapshot, first), true)
        }
        if !snapshot.hasEnded { setState(.live, reason: nil) }
        publications.signal()
    }

    /// Whether this process has no ring of its own yet.
    package var isWithoutRing: Bool { state.withLock { $0.ring == nil } }

    /// Releases the directory of the ring for another run or process. What is published can be read as before.
    package func closeRing() async { await state.withLock { $0.ring }?.close() }

    /// Lets endless streams end at the next segment boundary, because another process has the channel.
    package func endStreams() {
        state.withLock { $0.endsStreams = true }
        publications.signal()
    }

    package var endsStreams: Bool { state.withLock { $0.endsStreams } }

    /// Whether the upstream answers, as far as the session knows.
    package var isUpstreamAnswering: Bool {
        state.withLock { $0.upstream.map { $0.status.isAnswering(at: $0.time) } ?? true }
    }

    func setState(_ newState: RelayStatus.State, reason: StatusReason?) {
        state.withLock {
            if $0.status.state != newState { $0.stateSince = now() }
            ($0.status.state, $0.status.reason) = (newState, reason)
        }
        if newState.isFinal { publications.signal() }
    }

    /// Records the state of the channel's session, unless the channel is over.
    /// - Parameter time: the session's time.
    func record(_ upstream: UpstreamStatus, at time: Duration) {
        let (isOver, isContinued) = state.withLock {
            // A session that has just begun knows no renditions: those of the one before stay.
            if upstream.renditions.isEmpty, let last = $0.upstream {
                $0.status.update(from: last.status, at: last.time)
            }
            $0.upstream = (upstream, time)
            if upstream.hasPublished { $0.wasFollowed = false }
            return ($0.status.state.isFinal, $0.wasFollowed)
        }
        // Viewers of a channel that was taken over notice nothing of its opening.
        if !isOver, !isContinued || upstream.isOutage {
            setState(RelayStatus.State(upstream), reason: upstream.stall.map { .stalled($0, at: time) })
        }
    }

    /// Records that a side of the channel broke a rule.
    /// - Returns: the entry of the rule, if it is to be reported.
    func record(_ rule: Rule, _ text: String, count: Int, of side: FindingSide) -> RuleTally.Entry? {
        let now = now()
        return state.withLock {
            $0.findings[side, default: RuleTally()].record(rule, text, count: count, at: now)
        }
    }

    /// Records the counts of `pipeline`, and whether its spool accepts segments.
    func record(_ pipeline: ChannelPipeline) {
        let counts = pipeline.counts
        let snapshot = pipeline.ring.snapshot
        let edge = snapshot.newest.flatMap { $0.isGap ? nil : $0.mediaSequence }
        let isNew = state.withLock {
            if let edge, edge != $0.edge?.mediaSequence { $0.edge = (edge, now()) }
            $0.status.update(from: pipeline, counts)
            let failure = pipeline.publisher.spoolFailure
            $0.writeFailureSince = failure.error == nil ? nil : $0.writeFailureSince ?? now()
            let isNew = $0.signaledVersion != snapshot.version
            $0.signaledVersion = snapshot.version
            return isNew
        }
        if isNew { publications.signal() }
    }
}

extension ChannelState {
    /// Whether the live window is filled, the channel is on time and its spool accepts segments.
    package var isReady: Bool {
        let status = status
        guard status.output.writeFailure == nil else { return false }
        return snapshot?.isFilled == true && (status.state == .live || status.state == .ended)
    }
}
