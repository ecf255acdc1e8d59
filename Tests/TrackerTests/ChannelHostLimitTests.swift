@testable import Support
import Playlist
import Testing

@testable import Fetch
@testable import Tracker

/// A channel whose two sources are on one host that answers each request after 0.7 s. The primary is down for a while.
private struct OneHostChannel {
    private let primary: SessionOrigin

    /// - Parameter fault: what the primary answers instead of what it has.
    init(_ fault: @escaping @Sendable (FetchRequest, Duration) -> FetchOutcome?) {
        primary = SessionOrigin().with { $0.instead = fault }
    }

    private var session = ChannelSession(
        upstream: "http://portal.example/1/main.m3u8",
        policy: .init(
            session: .init(variant: .highest, maxConnections: 1), backups: ["http://portal.example/2/main.m3u8"]))
    private var now = Duration.zero
    private var wakeAt: Duration?
    private var inFlight: [FetchID: (outcome: FetchOutcome, at: Duration)] = [:]
    private(set) var mostInFlight = 0
    private(set) var requests = 0
    private(set) var switches: [Int] = []
    private(set) var switchTimes: [Duration] = []
    private var deliveryTimes: [Duration] = []

    /// The longest time between two segments that were published after `time`.
    func longestWait(after time: Duration) -> Duration? {
        let times = deliveryTimes.filter { $0 > time }
        return zip(times, times.dropFirst()).map { $1 - $0 }.max()
    }

    mutating func run(until limit: Duration) {
        var input: UpstreamSession.Input? = .start
        while let next = input, now < limit {
            for effect in effects(of: next) { perform(effect) }
            input = nextInput()
        }
    }

    private mutating func effects(of input: UpstreamSession.Input) -> [UpstreamSession.Effect] {
        var effects = session.handle(input, at: now)
        for case .deliver(let delivery) in effects {
            if delivery.isMainSegment { deliveryTimes.append(now) }
            effects += session.handle(.delivered(delivery, .published), at: now)
        }
        for case .probe(let delivery) in effects {
            effects += session.handle(.probed(delivery, .published), at: now)
        }
        return effects
    }

    private mutating func perform(_ effect: UpstreamSession.Effect) {
        switch effect {
        case .fetch(let id, let request):
            let outcome = origin(of: request).answer(request, at: now).0
            var took = Duration.milliseconds(700)
            if case .failure(let error) = outcome, error.reason == .timedOut {
                took = request.silenceLimit ?? .seconds(10)
            }
            inFlight[id] = (outcome, now + took)
            requests += 1
            mostInFlight = max(mostInFlight, inFlight.count)
        case .cancel(let id): inFlight[id] = nil
        case .wake(let time): wakeAt = time
        case .report(.sourceSwitched(let source, _)):
            switches.append(source)
            switchTimes.append(now)
        case .report, .deliver, .probe, .end: break
        }
    }

    private mutating func nextInput() -> UpstreamSession.Input? {
        let next = inFlight.min { $0.value.at < $1.value.at }
        let answerAt = next?.value.at ?? .seconds(1 << 20)
        if let due = wakeAt, due < answerAt {
            (now, wakeAt) = (max(now, due), nil)
            return .wake
        }
        guard let (id, (outcome, _)) = next else { return nil }
        inFlight[id] = nil
        now = max(now, answerAt)
        return .answered(id, outcome)
    }

    private func origin(of request: FetchRequest) -> SessionOrigin {
        request.url.contains("/1/") ? primary : SessionOrigin()
    }
}

@Test func sourcesOnOneHostShareItsConnectionLimit() {
    var channel = OneHostChannel(down(14..<80))
    channel.run(until: .seconds(260))
    #expect(channel.switches == [1, 0], "failover and failback")
    #expect(channel.requests > 100 && channel.mostInFlight == 1)
}

@Test func backupIsNotKeptWaitingByRequestsThatHang() throws {
    var channel = OneHostChannel { request, now in
        request.purpose == .segment && now > .seconds(14) ? failed(.timedOut, request) : nil
    }
    channel.run(until: .seconds(60))
    #expect(channel.switches == [1] && channel.mostInFlight == 1)
    // The outage begins 15 s after the last segment, and the backup lists a new segment every 6 s.
    #expect(try #require(channel.switchTimes.first) < .seconds(45), "\(channel.switchTimes)")
}

@Test func backupIsNotKeptWaitingByAPrimaryThatIsOnlyWatched() throws {
    var channel = OneHostChannel { request, now in now > .seconds(14) ? failed(.timedOut, request) : nil }
    channel.run(until: .seconds(200))
    #expect(channel.switches == [1] && channel.mostInFlight == 1)
    let longestWait = try #require(channel.longestWait(after: .seconds(60)))
    #expect(longestWait < .seconds(10), "\(longestWait)")
}
