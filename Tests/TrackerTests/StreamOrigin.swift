import Playlist
import TestSupport

@testable import Demux
@testable import Fetch
@testable import Media
@testable import MediaTestSupport
@testable import Tracker

/// An origin of a live transport stream as a function of session time, with one answer for each request.
struct StreamOrigin: Sendable {
    static let url = "http://origin.example/user/pass/1"

    /// The answer to one request.
    enum Answer: Sendable {
        /// The live stream, from `back` seconds before the last byte sent on, for `lasting` seconds, then `ending`.
        case stream(back: Double, lasting: Double, ending: Ending = .ended)
        case outcome(FetchOutcome)
    }

    enum Ending: Sendable { case ended, reset, silent }

    /// The last one repeats.
    var answers: [Answer]
    /// Seconds that are sent at once.
    var burst = 0.5
    var multiplex = SharedMultiplex.standard

    /// The response to the `index`th request, made `now` seconds after the stream began, which sent up to `sent`.
    func response(_ index: Int, at now: Double, sent: inout Double) -> ReplayDriver.Response {
        switch answers[min(index, answers.count - 1)] {
        case .outcome(let outcome): return .init(end: (outcome, .milliseconds(50)))
        case .stream(let back, let lasting, let ending):
            // A connection that was closed early was not sent all.
            var position = max(0, min(sent, now + 2.5) - back)
            var parts: [ReplayDriver.Response.Part] = []
            var time = now
            while time <= now + lasting {
                // What there is at this time.
                let edge = (time / burst).rounded(.down) * burst + 2.5
                if edge > position {
                    let bytes = Array(multiplex.bytes[multiplex.part(position, edge)])
                    let latency = Duration.milliseconds(Int((time - now) * 1000)) + .milliseconds(50)
                    parts.append((latency, { StreamPart(finalURL: StreamOrigin.url, bytes: bytes) }))
                    position = edge
                }
                time += 0.5
            }
            sent = position
            let latency = Duration.milliseconds(Int(lasting * 1000) + 60)
            let end: FetchOutcome? =
                switch ending {
                case .ended: .success(FetchAnswer(status: 200, finalURL: Self.url, body: []))
                case .reset: .failure(FetchError(.reset, url: Self.url))
                case .silent: nil
                }
            return .init(parts: parts, end: end.map { ($0, latency) })
        }
    }
}

enum SharedMultiplex {
    static let standard = EndlessMultiplex(seconds: 130)
}

/// The outputs of a session with a stream.
struct StreamRun {
    var end: SessionEnd?
    var requests: [Duration] = []
    var segments: [TrackedSegment] = []
    var losses: [SegmentLoss] = []
    var events: [UpstreamEvent] = []
    var status: UpstreamStatus?

    init(
        _ origin: StreamOrigin, seconds: Int = 60, giveUp: Duration? = .seconds(60), program: UInt16? = nil
    ) async throws {
        var policy = UpstreamSession.Policy(variant: .highest, giveUp: giveUp)
        policy.program = program
        var driver = ReplayDriver(session: UpstreamSession(upstream: StreamOrigin.url, policy: policy))
        var made: [Duration] = []
        var sent = 0.0
        var outputs: [DriverOutput] = []
        end = try await driver.run(
            until: .seconds(seconds),
            respond: { _, now in
                made.append(now)
                return origin.response(made.count - 1, at: now / .seconds(1), sent: &sent)
            },
            perform: { output, _ in
                outputs.append(output)
                return .published
            })
        requests = made
        for output in outputs {
            switch output {
            case .delivery(let delivery):
                switch delivery.content {
                case .segment(let segment): segments.append(segment)
                case .lost(let loss): losses.append(loss)
                case .ended, .outageGap: break
                }
            case .event(let event): events.append(event)
            case .status(let status): self.status = status
            case .probe: break
            }
        }
    }

    var frames: [Int] { segments.flatMap { SharedMultiplex.standard.frameNumbers(in: $0.body) } }

    var isContinuous: Bool { frames == Array((frames.first ?? 0)..<(frames.first ?? 0) + frames.count) }
}
