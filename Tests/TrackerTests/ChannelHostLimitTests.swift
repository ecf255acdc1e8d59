import Playlist
import Testing

@testable import Tracker

/// A channel whose two sources are on one host that answers each request after 0.7 s. The primary is down for a while.
private struct OneHostChannel {
    private let primary = SessionOrigin().with { $0.instead = down(14..<80) }
    private var session = ChannelSession(
        upstream: "http://portal.example/1/main.m3u8",
        policy: .init(
            session: .init(variant: .highest, maxConnections: 1), backups: ["http://portal.example/2/main.m3u8"]))
    private var now = Duration.zero
    private var wakeAt: Duration?
    private var inFlight: [FetchID: (request: FetchRequest, at: Duration)] = [:]
    private(set) var mostInFlight = 0
    private(set) var requests = 0
    private(set) var switches: [Int] = []

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
            inFlight[id] = (request, now)
            requests += 1
            mostInFlight = max(mostInFlight, inFlight.count)
        case .cancel(let id): inFlight[id] = nil
        case .wake(let time): wakeAt = time
        case .report(.sourceSwitched(let source, _)): switches.append(source)
        case .report, .deliver, .probe, .end: break
        }
    }

    private mutating func nextInput() -> UpstreamSession.Input? {
        let next = inFlight.min { $0.value.at < $1.value.at }
        let answerAt = next.map { $0.value.at + .milliseconds(700) } ?? .seconds(1 << 20)
        if let due = wakeAt, due < answerAt {
            (now, wakeAt) = (max(now, due), nil)
            return .wake
        }
        guard let (id, (request, at)) = next else { return nil }
        inFlight[id] = nil
        now = max(now, answerAt)
        let origin = request.url.contains("/1/") ? primary : SessionOrigin()
        return .answered(id, origin.answer(request, at: at).0)
    }
}

@Test func sourcesOnOneHostShareItsConnectionLimit() {
    var channel = OneHostChannel()
    channel.run(until: .seconds(260))
    #expect(channel.switches == [1, 0], "failover and failback")
    #expect(channel.requests > 100 && channel.mostInFlight == 1)
}
