import Capture
import Fetch
import Inspect
import Support
import Synchronization
import TestSupport
import Testing

@testable import Conformance

/// A clock that moves only when somebody sleeps, or a transfer takes time.
private final class SteppedClock: Clock, Sendable {
    struct Instant: InstantProtocol {
        var offset: Duration
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private let time = Mutex(Duration.zero)
    var now: Instant { Instant(offset: time.withLock { $0 }) }
    var minimumResolution: Duration { .nanoseconds(1) }

    func advance(by duration: Duration) { time.withLock { $0 += duration } }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        time.withLock { $0 = max($0, deadline.offset) }
        await Task.yield()
    }
}

/// Answers as a capture did at the time of the clock.
private final class CaptureFetcher: Fetcher, Sendable {
    private let answers: [CheckedAnswer]
    private let clock: SteppedClock
    /// How long each segment takes.
    private let delay: Duration
    private let current = Mutex((now: 0, most: 0, requests: 0))

    init(_ capture: String, clock: SteppedClock, delay: Duration = .zero) throws {
        answers = try CaptureFeed.answers(of: CaptureDirectory(CaptureFixture(capture).directory))
        (self.clock, self.delay) = (clock, delay)
    }

    /// The largest number of requests at once.
    var most: Int { current.withLock { $0.most } }

    func fetch(_ request: FetchRequest) async -> FetchOutcome {
        current.withLock {
            $0.now += 1
            $0.requests += 1
            $0.most = max($0.most, $0.now)
        }
        defer { current.withLock { $0.now -= 1 } }
        await Task.yield()
        let now = clock.now.offset
        if request.purpose == .segment { clock.advance(by: delay) }
        let known = answers.filter { $0.url == request.url && $0.byteRange == request.byteRange }
        guard let answer = known.last(where: { $0.time.requested <= now }) ?? known.first else {
            return .success(FetchAnswer(status: 404, finalURL: request.url, body: []))
        }
        return .success(
            FetchAnswer(
                status: answer.status ?? 200, finalURL: answer.finalURL,
                headers: answer.headers.map { .init(name: $0.name, value: $0.value) }, body: answer.body))
    }
}

@Suite struct FollowerTests {
    private static func follow(
        _ capture: String, connections: Int, delay: Duration = .zero, length: Duration = .seconds(50)
    ) async throws -> (followed: Followed, most: Int) {
        let clock = SteppedClock()
        let fetcher = try CaptureFetcher(capture, clock: clock, delay: delay)
        var options = ChannelFollower<SteppedClock>.Options()
        (options.connections, options.length) = (connections, length)
        let url = try CaptureDirectory(CaptureFixture(capture).directory).index.upstream
        return (await ChannelFollower(fetcher, clock: clock, options: options).follow(url), fetcher.most)
    }

    /// Clean channels have no finding, whatever the number of connections.
    @Test(arguments: ["ssai_tagged", "demuxed_aes128", "webvtt", "cue_tags"], [1, 4])
    func cleanChannel(_ capture: String, _ connections: Int) async throws {
        let (followed, most) = try await Self.follow(capture, connections: connections)
        #expect(followed.checker.report.findings == [])
        #expect(most <= connections && followed.checker.report.segments > 8)
    }

    /// A client that is slower than the channel leaves segments out, and finds nothing for its own lateness.
    @Test(arguments: [1, 2]) func slowClient(_ connections: Int) async throws {
        let (followed, _) = try await Self.follow(
            "ssai_tagged", connections: connections, delay: .milliseconds(3500), length: .seconds(55))
        #expect(followed.checker.report.findings == [])
    }

    @Test func oneConnectionAsksForNoRemovedSegment() async throws {
        let (followed, _) = try await Self.follow("ssai_tagged", connections: 1)
        let unjudged = followed.checker.report.unjudged.first { $0.rule == .removedSegments }
        #expect(unjudged?.reason == "there is one connection only")
        let (other, _) = try await Self.follow("ssai_tagged", connections: 4)
        #expect(other.checker.report.judged[.removedSegments] != nil)
    }

    @Test func faultIsFound() async throws {
        let (followed, _) = try await Self.follow("ssai_untagged", connections: 4)
        #expect(Set(followed.checker.report.findings.map(\.identifier)) == ["26/pid"])
    }

    @Test func firstAnswerIsReturned() async throws {
        let clock = SteppedClock()
        let fetcher = try CaptureFetcher("clean", clock: clock)
        let follower = ChannelFollower(fetcher, clock: clock, options: .init())
        let followed = await follower.follow("http://channel.example/none.m3u8")
        #expect(try followed.first?.get().status == 404)
        #expect(followed.checker.streams.isEmpty)
    }

    /// No place of a finding has the token of a URL.
    @Test func secretsAreHidden() throws {
        let token = "token=abcdef0123456789abcdef"
        var scene = try FaultScene("clean", seed: 1)
        scene.replace(".ts", ".ts?\(token)")
        for index in scene.answers.indices where scene.answers[index].url.hasSuffix(".ts") {
            scene.answers[index].url += "?\(token)"
            scene.answers[index].status = 404
        }
        let findings = scene.findings()
        #expect(findings.map(\.identifier) == ["14/listed"])
        #expect(!"\(findings)".contains("abcdef0123456789"))
    }
}
