import Fetch
import Tracker

/// The time of a machine that sleeps now and then, or of a process that waits for its disk.
///
/// Nothing runs meanwhile: a timer that was due fires afterward, and an answer that came is there.
struct MachineClock {
    private struct Sleep {
        let event: Event
        let begin: Duration
        let length: Duration
        var end: Duration { begin + length }
        /// Whether no connection outlasts it.
        var breaksConnections: Bool { event.thing == .asleep && event.pick(0...1) == 0 }
    }

    private var sleeps: [Sleep] = []

    /// - Parameter start: milliseconds from which times are counted. A sleep that has begun is over.
    init(_ history: History, since start: Int) {
        let events = history.events.filter { [.asleep, .slowDisk].contains($0.thing) }.sorted { $0.at < $1.at }
        for event in events where event.at > start {
            let begin = max(.milliseconds(event.at - start), sleeps.last?.end ?? .zero)
            let length = Duration.milliseconds(event.end - start) - begin
            if length > .zero { sleeps.append(Sleep(event: event, begin: begin, length: length)) }
        }
    }

    var neverSleeps: Bool { sleeps.isEmpty }

    /// The time when the machine has run for `awake`.
    func time(awake: Duration) -> Duration {
        sleeps.reduce(awake) { time, sleep in time >= sleep.begin ? time + sleep.length : time }
    }

    /// How long the machine has run by a time.
    func awake(at time: Duration) -> Duration {
        sleeps.reduce(time) { $0 - min($1.length, max(.zero, time - $1.begin)) }
    }

    /// The answer to a request as it is received: late, or not at all, if it comes meanwhile.
    func received(
        _ response: ReplayDriver.Response, to request: FetchRequest, at awake: Duration
    ) -> (response: ReplayDriver.Response, isLost: Bool) {
        guard !sleeps.isEmpty else { return (response, false) }
        let asked = time(awake: awake)
        let last = max(response.end?.latency ?? .zero, response.parts.last?.latency ?? .zero)
        let lethal = sleeps.first { $0.breaksConnections && $0.begin > asked && $0.begin < asked + last }
        let latency = { (latency: Duration) in self.awake(at: asked + latency) - awake }
        var received = ReplayDriver.Response(
            parts: response.parts.filter { part in lethal.map { asked + part.latency < $0.begin } ?? true }
                .map { (latency: latency($0.latency), load: $0.load) },
            end: response.end.map { (outcome: $0.outcome, latency: latency($0.latency)) })
        if let lethal {
            let error = FetchError(lethal.event.pick(0...1, 1) == 0 ? .reset : .timedOut, url: request.url)
            received.end = (.failure(error), latency(lethal.end - asked))
        }
        return (received, lethal != nil)
    }
}

/// A session on a machine that sleeps: it sees the time, and its driver the time in which the machine runs.
struct SleepingSession: IngestSession {
    private var session: any IngestSession
    private let clock: MachineClock

    init(_ session: some IngestSession, _ clock: MachineClock) { (self.session, self.clock) = (session, clock) }

    var status: UpstreamStatus { session.status }

    mutating func handle(_ input: UpstreamSession.Input, at now: Duration) -> [UpstreamSession.Effect] {
        session.handle(input, at: clock.time(awake: now)).map { effect in
            guard case .wake(let time) = effect else { return effect }
            return .wake(at: clock.awake(at: time))
        }
    }
}
