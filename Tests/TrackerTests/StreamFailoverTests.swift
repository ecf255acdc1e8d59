import Playlist
import Testing

@testable import Demux
@testable import Fetch
@testable import Media
@testable import MediaTestSupport
@testable import Support
@testable import Tracker

/// A channel's upstream and its backups may be of different kinds.
@Suite struct StreamFailoverTests {
    /// Runs a channel. `s` is a segment of a stream, `p` one of a playlist, `-` an outage gap, each once in a row.
    private static func run(
        _ upstream: String, backup: String, seconds: Int, stream: StreamOrigin, streamEndsAt end: Double = 1000,
        playlist: SessionOrigin = SessionOrigin()
    ) async throws -> (trace: String, events: [UpstreamEvent]) {
        let policy = ChannelSession.Policy(
            session: .init(variant: .highest, giveUp: nil), backups: [backup], failbackDelay: .seconds(20))
        var driver = ReplayDriver(session: ChannelSession(upstream: upstream, policy: policy))
        var (sent, connections) = (0.0, 0)
        var trace: [String] = []
        var events: [UpstreamEvent] = []
        _ = try await driver.run(
            until: .seconds(seconds),
            respond: { request, now in
                guard request.url == StreamOrigin.url else { return .init(end: playlist.answer(request, at: now)) }
                let time = now / .seconds(1)
                guard time < end else {
                    return .init(end: (.failure(FetchError(.refused, url: request.url)), .milliseconds(20)))
                }
                connections += 1
                return stream.response(connections - 1, at: time, sent: &sent)
            },
            perform: { output, _ in
                switch output {
                case .delivery(let delivery):
                    guard case .segment(let segment) = delivery.content else { return .held }
                    let kind = segment.url == StreamOrigin.url ? "s" : "p"
                    if trace.last != kind { trace.append(kind) }
                case .event(let event): events.append(event)
                case .probe, .status: break
                }
                return .published
            })
        return (trace.joined(separator: " "), events)
    }

    @Test func aPlaylistStandsInForAStream() async throws {
        let (trace, events) = try await Self.run(
            StreamOrigin.url, backup: SessionOrigin.url, seconds: 100,
            stream: StreamOrigin(answers: [.stream(back: 0, lasting: 20)]), streamEndsAt: 15)
        #expect(trace == "s p")
        #expect(events.contains(.sourceSwitched(to: 1, url: SessionOrigin.url)))
    }

    @Test func aStreamStandsInForAPlaylist() async throws {
        var playlist = SessionOrigin()
        playlist.instead = { request, now in now < .seconds(30) ? nil : failed(.refused, request) }
        let (trace, _) = try await Self.run(
            SessionOrigin.url, backup: StreamOrigin.url, seconds: 100,
            stream: StreamOrigin(answers: [.stream(back: 0, lasting: 100)]), playlist: playlist)
        #expect(trace == "p s")
    }

    /// The only connection of an account is closed before another source of it is tried, on whatever host that is.
    @Test(arguments: [StreamOrigin.url + "2", "http://other.example/user/pass/2"])
    func oneConnectionIsNeverTwo(backup: String) {
        var session = UpstreamSession.Policy(variant: .highest, maxConnections: 1)
        session.countsAllHosts = true
        var channel = ChannelSession(
            upstream: StreamOrigin.url, policy: .init(session: session, backups: [backup], failbackDelay: .seconds(20)))
        var open: [FetchID: String] = [:]
        var (most, switches) = (0, [Int]())
        func perform(_ input: UpstreamSession.Input, at now: Duration) {
            for effect in channel.handle(input, at: now) {
                switch effect {
                case .fetch(let id, let request): open[id] = request.url
                case .cancel(let id): open[id] = nil
                case .deliver(let delivery): perform(.delivered(delivery, .published), at: now)
                case .probe(let delivery): perform(.probed(delivery, .published), at: now)
                case .report(.sourceSwitched(let source, _)): switches.append(source)
                case .report, .wake, .end: break
                }
                most = max(most, open.count)
            }
        }
        perform(.start, at: .zero)
        for second in 1...120 {
            let multiplex = SharedMultiplex.standard
            let bytes = Array(multiplex.bytes[multiplex.part(Double(second), Double(second) + 1)])
            for (id, url) in open where url == backup || second < 20 {
                perform(.received(id, StreamPart(finalURL: url, bytes: bytes)), at: .seconds(second))
            }
            perform(.wake, at: .seconds(second))
        }
        #expect(most == 1 && switches == [1], "\(most) at once, \(switches)")
    }

    @Test func aStreamIsPublishedAgainOnceItIsHealthy() async throws {
        let answers: [StreamOrigin.Answer] =
            [.stream(back: 0, lasting: 10)]
            + Array(repeating: .outcome(.failure(FetchError(.refused, url: ""))), count: 8)
            + [.stream(back: 0, lasting: 100)]
        let (trace, _) = try await Self.run(
            StreamOrigin.url, backup: SessionOrigin.url, seconds: 120, stream: StreamOrigin(answers: answers))
        #expect(trace == "s p s")
    }
}
