import Playlist
import Testing

@testable import Fetch
@testable import Support
@testable import Tracker

/// A session whose process does not run for a while, as when a machine sleeps.
private struct SleepingRun {
    private(set) var end: (end: SessionEnd, at: Duration)?
    private(set) var requests: [Duration] = []
    private(set) var published: [Duration] = []

    /// - Parameters:
    ///   - sleep: the first step after its beginning is late by its length.
    ///   - answer: comes 100 ms after its request.
    init(
        _ session: some IngestSession, sleep: (at: Duration, length: Duration), until limit: Duration,
        answer: (FetchRequest, Duration) -> FetchOutcome
    ) {
        var session = session
        var pending: [(input: UpstreamSession.Input, at: Duration)] = [(.start, .zero)]
        var (wake, slept): (Duration?, Duration) = (nil, .zero)
        while end == nil {
            pending.sort { $0.at < $1.at }
            let next = [pending.first?.at, wake].compactMap(\.self).min()
            guard var now = next, now < limit else { return }
            if slept == .zero, now >= sleep.at { slept = sleep.length }
            now += slept
            let isWake = wake.map { $0 <= pending.first?.at ?? $0 } ?? false
            let input = isWake ? .wake : pending.removeFirst().input
            if isWake { wake = nil }
            var inputs = [input]
            while !inputs.isEmpty {
                for effect in session.handle(inputs.removeFirst(), at: now) {
                    switch effect {
                    case .fetch(let id, let request):
                        requests.append(now)
                        pending.append((.answered(id, answer(request, now)), now - slept + .milliseconds(100)))
                    case .wake(let time): wake = max(time, now) - slept
                    case .deliver(let delivery) where delivery.isMedia:
                        published.append(now)
                        inputs.append(.delivered(delivery, .published))
                    case .end(let end): self.end = (end, now)
                    case .cancel, .deliver, .probe, .report: break
                    }
                }
            }
        }
    }
}

struct SleepTests {
    private static let backups: [Int] = [0, 1]

    private func channel(backups: Int, opening: OpeningPatience = OpeningPatience()) -> ChannelSession {
        let session = UpstreamSession.Policy(variant: .highest, giveUp: .seconds(60), opening: opening)
        var policy = ChannelSession.Policy(session: session)
        policy.backups = Array(ChannelOrigins.backupURLs.prefix(backups))
        return ChannelSession(upstream: ChannelOrigins.primaryURL, policy: policy)
    }

    /// The upstream is back when the machine wakes, and answers the first request.
    @Test(arguments: backups) func aChannelGoesOnAfterASleep(backups: Int) {
        let origin = SessionOrigin()
        let run = SleepingRun(
            channel(backups: backups), sleep: (.seconds(100), .seconds(330)), until: .seconds(200)
        ) { request, now in origin.answer(request, at: now).0 }
        #expect(run.end == nil)
        #expect(run.published.last ?? .zero > .seconds(500))
    }

    /// It is not, and is tried for as long as before the sleep.
    @Test(arguments: backups) func timeAsleepIsNotCounted(backups: Int) throws {
        let origin = SessionOrigin()
        let run = SleepingRun(
            channel(backups: backups), sleep: (.seconds(100), .seconds(330)), until: .seconds(300)
        ) { request, now in
            now < .seconds(100) ? origin.answer(request, at: now).0 : failed(.unresolvedHost, request)
        }
        let end = try #require(run.end)
        #expect((.seconds(480)..<(.seconds(500))).contains(end.at), "\(end.at)")
        #expect(run.requests.count { $0 > .seconds(430) } > 5)
    }

    @Test func timeAsleepIsNotCountedWhileTheUpstreamIsOpened() throws {
        let run = SleepingRun(
            channel(backups: 0, opening: .patient(giveUp: .seconds(60))), sleep: (.seconds(30), .seconds(330)),
            until: .seconds(300)
        ) { request, _ in failed(.unresolvedHost, request) }
        let end = try #require(run.end)
        #expect((.seconds(380)..<(.seconds(400))).contains(end.at), "\(end.at)")
        #expect(run.requests.count { $0 > .seconds(360) } > 2)
    }
}
