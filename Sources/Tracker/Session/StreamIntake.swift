import Demux
package import Fetch
import Media
import Playlist

/// Receives an endless transport stream over one connection after the other, and delivers it in segments.
///
/// A provider ends a connection whenever it likes, often every minute. The upstream's own URL is then requested again: at
/// once, and after failures with longer and longer pauses. `StreamCutter` joins what the connections bring.
struct StreamIntake: Sendable {
    private enum Connection: Equatable, Sendable {
        /// None. The next one is made at that time; nil: the intake is paused.
        case none(until: Duration?)
        case open(FetchID, since: Duration)
    }

    /// The silence after which a connection is taken for dead: of a stream that was steady, and of any other one.
    private static let longestSilence = (steady: Duration.seconds(3), unsteady: Duration.seconds(11))
    /// The longest of all, for a stream that is known to pause.
    private static let longestPause = Duration.seconds(15)
    /// A longer time between two parts is a pause.
    private static let shortestPause = Duration.seconds(1)
    /// The time without a pause after which a stream is steady, and after which its pauses are forgotten.
    private static let steadyTime = (known: Duration.seconds(5), forgotten: Duration.seconds(60))
    /// A connection that lasts that long is followed by another one at once.
    private static let worthwhile = Duration.seconds(2)

    private let url: String
    private let policy: UpstreamSession.Policy
    private var cutter: StreamCutter
    private var hold: StreamHold
    private var connection: Connection
    private var backoff = Backoff()
    private var failures = FailureReport()
    private let began: Duration
    /// Time in which nothing could be tried, and time before the first segment in which no connection brought anything.
    private var untried = Duration.zero
    private var receivedAt: Duration
    /// The longest pause that ended by itself, and since when there was none.
    private var longestPause = Duration.zero
    private var steadySince: Duration
    private var hasPart = false
    private var framesBefore = 0
    private var repeatedBefore = 0
    private var connections = 1
    private var lostDatagrams = 0
    private var broken: (cause: StreamBreak, at: Duration)?
    private var escalation: StallEscalation
    private(set) var stall: MediaStallEscalation
    private var next: UInt64
    private var isAfterGap = false
    /// Whether the next segment may repeat published media: its bytes decide, because nothing numbers it.
    private var mayRepeat = true
    private var targetDuration: Duration?
    private var grewAt: Duration?
    private var counts = TrackerCounts()

    /// - Parameter id: of the request whose answer is the stream.
    init(_ id: FetchID, of url: String, _ policy: UpstreamSession.Policy, at now: Duration) {
        self.url = url
        self.policy = policy
        var cutting = StreamCutter.Policy()
        cutting.program = policy.program
        cutting.segmentBytes = min(cutting.segmentBytes, policy.limits.segmentBytes)
        cutter = StreamCutter(cutting)
        hold = StreamHold(policy.hold, byteLimit: policy.limits.aheadBytes)
        connection = .open(id, since: now)
        (began, receivedAt, steadySince) = (now, now, now)
        escalation = StallEscalation(giveUp: policy.giveUp)
        stall = MediaStallEscalation(giveUp: policy.giveUp)
        let received = policy.joinPoint.leftAt ?? policy.joinPoint.mediaSequence
        next = received.map { $0 &+ 1 } ?? 0
        _ = escalation.restart(targetDuration: patience, at: now)
    }

    /// The shortest target duration by which silence is judged.
    private static let assumedTarget = Duration.seconds(4)

    /// The target duration by which silence is judged. A stream that comes in bursts is silent between them.
    private var patience: Duration { max(targetDuration ?? .seconds(6), Self.assumedTarget, longestPause) }

    var lastStep: StallEscalation.Step? { escalation.lastStep }

    var deadlines: [Duration?] {
        let deadlines = [escalation.nextDeadline, stall.nextDeadline, noSegmentsDeadline, hold.nextDeadline]
        switch connection {
        case .none(let until): return deadlines + [until]
        case .open: return deadlines + [receivedAt + silenceLimit]
        }
    }

    // MARK: - Connections

    mutating func receive(_ part: StreamPart, _ requests: inout SessionRequests, at now: Duration) {
        recordPause(now - receivedAt, at: now)
        if !hasPart, grewAt == nil { untried += now - receivedAt }
        (receivedAt, hasPart) = (now, true)
        failures.clear()
        lostDatagrams += part.lostDatagrams
        accept(cutter.append(part.bytes), &requests, at: now)
        reportReconnection(&requests, at: now)
    }

    /// Learns how long this stream pauses. What a new connection ends is no pause.
    private mutating func recordPause(_ silence: Duration, at now: Duration) {
        if silence > Self.shortestPause || !hasPart { steadySince = now }
        if hasPart, silence > Self.shortestPause { longestPause = max(longestPause, min(silence, Self.longestPause)) }
        if now - steadySince >= Self.steadyTime.forgotten { longestPause = .zero }
    }

    mutating func settle(_ answer: SessionRequests.Answer, _ requests: inout SessionRequests, at now: Duration) {
        guard case .open(answer.id, let since) = connection else { return }
        let hasFrames = cutter.counts.frames > framesBefore
        if hasFrames || receivedAt >= since && cutter.connectionTime > .zero {
            return disconnect(
                StreamBreak(answer.outcome), &requests, at: now,
                isWorthwhile: hasFrames && now - since >= Self.worthwhile)
        }
        let error = answer.outcome.streamError(from: url)
        requests.recordFault(FetchFault(error))
        let pause = max(min(answer.outcome.retryAfter ?? .zero, HostLimiter.longestPause), backoff.next())
        if failures.record(error) { requests.report(.playlistFailed(.main, error)) }
        counts[.failedPlaylistLoads] += 1
        disconnect(.refused, &requests, at: now, pause: pause)
    }

    private mutating func disconnect(
        _ cause: StreamBreak, _ requests: inout SessionRequests, at now: Duration, isWorthwhile: Bool
    ) {
        if isWorthwhile { backoff.reset() }
        disconnect(cause, &requests, at: now, pause: isWorthwhile ? .zero : backoff.next())
    }

    private mutating func disconnect(
        _ cause: StreamBreak, _ requests: inout SessionRequests, at now: Duration, pause: Duration
    ) {
        accept(cutter.endConnection(), &requests, at: now)
        broken = broken ?? (cause, receivedAt)
        connection = .none(until: now + pause)
    }

    private mutating func connect(_ requests: inout SessionRequests, at now: Duration) {
        guard case .none(let until?) = connection, until <= now, requests.admits(url, at: now) else { return }
        connection = .open(requests.nextID, since: now)
        hasPart = false
        (framesBefore, repeatedBefore) = (cutter.counts.frames, cutter.counts.repeatedFrames)
        connections += 1
        requests.start(FetchRequest(.multivariantPlaylist, url: url), for: .stream, at: now)
    }

    /// Ends a connection that is silent for longer than it should be.
    private mutating func checkSilence(_ requests: inout SessionRequests, at now: Duration) {
        guard case .open(let id, let since) = connection, now >= max(receivedAt, since) + silenceLimit else { return }
        requests.cancel(id)
        disconnect(.silent, &requests, at: now, isWorthwhile: now - since >= Self.worthwhile * 2)
    }

    /// How long a connection may be silent. Some send some seconds at once, and then nothing for as long.
    private var silenceLimit: Duration {
        let isSteady = longestPause == .zero && receivedAt - steadySince >= Self.steadyTime.known
        if isSteady { return Self.longestSilence.steady }
        return min(max(Self.longestSilence.unsteady, longestPause * 3 / 2 + .seconds(1)), Self.longestPause)
    }

    mutating func pause(_ requests: inout SessionRequests, at now: Duration) {
        if case .open(let id, _) = connection { requests.cancel(id) }
        accept(cutter.endConnection(), &requests, at: now)
        connection = .none(until: nil)
    }

    mutating func resume(at now: Duration) {
        if connection == .none(until: nil) { connection = .none(until: now) }
    }

    private mutating func reportReconnection(_ requests: inout SessionRequests, at now: Duration) {
        guard let (cause, at) = broken, cutter.counts.frames > framesBefore else { return }
        broken = nil
        requests.report(
            .reconnected(
                cause, silence: now - at, repeatedFrames: cutter.counts.repeatedFrames - repeatedBefore))
    }

    // MARK: - Deliveries

    /// Takes what was cut, and delivers what is not held.
    private mutating func accept(
        _ outputs: [StreamCutter.Output], _ requests: inout SessionRequests, at now: Duration
    ) {
        for output in outputs {
            hold.append(output, at: now)
            guard case .segment = output else { continue }
            grewAt = now
            if let silence = escalation.restart(targetDuration: patience, at: now) {
                requests.report(.resumed(.main, silence: silence))
            }
        }
        deliver(hold.dequeue(at: now), &requests, at: now)
    }

    private mutating func deliver(
        _ outputs: [StreamCutter.Output], _ requests: inout SessionRequests, at now: Duration
    ) {
        for output in outputs {
            switch output {
            case .segment(let segment): deliver(segment, &requests, at: now)
            case .gap(let duration): lose(duration.duration, &requests)
            }
        }
    }

    private mutating func deliver(_ cut: StreamCutter.Segment, _ requests: inout SessionRequests, at now: Duration) {
        let duration = cut.duration.duration
        join(firstSegment: duration, &requests)
        let segment = MediaSegment(uri: url, duration: duration, mediaSequence: next)
        next &+= 1
        counts[.segmentsDelivered] += 1
        guard policy.fetchesMedia else { return }
        stall.expectMedia(targetDuration: patience, at: now)
        requests.deliver(
            .segment(
                TrackedSegment(
                    segment: segment, url: url, body: cut.bytes, isAfterDiscontinuity: isAfterGap,
                    repeatable: mayRepeat ? JoinPoint.reach(patience) : .zero, listedAt: now)),
            of: .main)
        (isAfterGap, mayRepeat) = (false, false)
    }

    /// Joins with the target duration that the channel has, or else with the one that follows from the first segment: later
    /// ones begin at random access points too.
    private mutating func join(firstSegment duration: Duration, _ requests: inout SessionRequests) {
        guard targetDuration == nil else { return }
        let seconds = (duration + .milliseconds(1500)).components.seconds
        let target = policy.channelTargetDuration ?? Duration.seconds(min(max(seconds, 3), 6))
        targetDuration = target
        requests.report(
            .joined(.init(rendition: .main, mediaSequence: next, targetDuration: target, isVOD: false)))
    }

    private mutating func lose(_ duration: Duration, _ requests: inout SessionRequests) {
        (isAfterGap, mayRepeat) = (true, true)
        guard let targetDuration else { return }
        let count = UInt64(max(1, (duration / targetDuration).rounded()))
        let loss = SegmentLoss(
            mediaSequences: next..<next &+ count, reason: .neverSent, cause: .gap, duration: duration)
        next &+= count
        counts.record(loss)
        counts.lostDurations[.gap, default: .zero] += duration
        requests.report(.lost(.main, loss))
        if policy.fetchesMedia { requests.deliver(.lost(loss), of: .main) }
    }

    /// Records whether a segment could be published. Returns the length of the outage that ended, if one did.
    mutating func recordOutcome(_ outcome: DeliveryOutcome, at now: Duration) -> Duration? {
        stall.recordOutcome(outcome, hasPending: false, targetDuration: patience, at: now)
    }

    // MARK: - Silence

    mutating func postponeGivingUp(by time: Duration) {
        untried += time
        escalation.postponeGivingUp(by: time)
        stall.postponeGivingUp(by: time)
    }

    mutating func perform(_ requests: inout SessionRequests, at now: Duration) {
        checkSilence(&requests, at: now)
        deliver(hold.dequeue(at: now), &requests, at: now)
        if let deadline = noSegmentsDeadline, deadline <= now {
            let error = TrackerError(
                .nothingUsable(for: UpstreamSession.Policy.noSegmentsLimit, cutter.obstacle.reason), url: url)
            return requests.finish(.failed(error))
        }
        for step in escalation.escalate(at: now) { escalate(step, &requests, at: now) }
        for step in stall.escalate(at: now) where step >= .outage {
            let silence = stall.silence(at: now)
            requests.report(.mediaStalled(step, silence: silence, stall.reason))
            guard step == .giveUp else { continue }
            requests.finish(.gaveUp(TrackerError(.nothingUsable(for: silence, stall.reason), url: url)))
        }
        guard !requests.isOver else { return }
        connect(&requests, at: now)
    }

    private mutating func escalate(
        _ step: StallEscalation.Step, _ requests: inout SessionRequests, at now: Duration
    ) {
        let silence = escalation.silence(at: now)
        switch step {
        case .redundantVariant, .reloadMultivariant: return
        case .late, .outage, .giveUp: requests.report(.stalled(.main, step, silence: silence))
        }
        guard step == .giveUp else { return }
        // Before that, the segment waits for its end: what follows a cut without a random access point could not be
        // published after a gap.
        deliver(hold.removeAll() + cutter.flush(), &requests, at: now)
        requests.finish(.gaveUp(TrackerError(.silent(for: silence), url: url)))
    }

    /// When a stream ends the start that comes, and cannot be cut.
    private var noSegmentsDeadline: Duration? {
        grewAt == nil && hasPart && isConnected ? began + untried + UpstreamSession.Policy.noSegmentsLimit : nil
    }

    // MARK: - Status

    var status: UpstreamStatus.Rendition {
        UpstreamStatus.Rendition(
            role: .main, url: url, targetDuration: targetDuration, nextMediaSequence: next, loadedAt: receivedAt,
            grewAt: grewAt, stallStep: lastStep, hasEnded: false, queued: hold.count, inFlight: isConnected ? 1 : 0,
            heldBytes: hold.byteCount, counts: counts, polling: .standard)
    }

    var streamStatus: UpstreamStatus.Stream {
        UpstreamStatus.Stream(
            isConnected: isConnected, connections: connections, lostDatagrams: lostDatagrams, counts: cutter.counts)
    }

    var stallStatus: UpstreamStatus.Stall? {
        guard case .expecting(let since, let step?) = escalation.state else { return nil }
        return UpstreamStatus.Stall(cause: .playlist(failures.last), step: step, since: since)
    }

    private var isConnected: Bool { if case .open = connection { true } else { false } }
}

/// Why a connection of a stream ended.
package enum StreamBreak: Equatable, Sendable {
    /// The upstream ended it.
    case ended
    /// Nothing came for too long.
    case silent
    /// Another answer came than a stream.
    case refused
    case failed(FetchError.Reason)

    init(_ outcome: FetchOutcome) {
        switch outcome {
        case .success: self = .ended
        case .failure(let error): self = .failed(error.reason)
        }
    }
}

extension FetchOutcome {
    fileprivate func streamError(from url: String) -> TrackerError {
        do throws(TrackerError) {
            _ = try playlist(from: url)
            return TrackerError(.unexpectedPlaylistKind, url: url)
        } catch { return error }
    }
}

extension StreamCutter.Obstacle {
    fileprivate var reason: UnpublishedReason {
        switch self {
        case .noTables: .noTables
        case .noProgram: .unreadable
        case .frozenClock: .frozenClock
        case .scrambled: .scrambled
        case .noRandomAccess: .noRandomAccess
        }
    }
}
