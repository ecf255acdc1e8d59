import Playlist
import Synchronization

@testable import Fetch
@testable import Media
@testable import Support
@testable import Tracker

/// A live origin as a function of session time: one new segment every `seconds`, six in the window.
struct SessionOrigin: Sendable {
    static let url = "http://origin.example/live/main.m3u8"

    var seconds = 6
    var windowLength: UInt64 = 6
    /// The first media sequence number not listed at 0 s.
    var edge: UInt64 = 106
    /// The time after which no segment is added.
    var stopsAt = Duration.seconds(1 << 20)
    /// Lines before all segments, and before one segment.
    var head = ""
    var tags: @Sendable (_ number: UInt64) -> String = { _ in "" }
    var uri: @Sendable (_ number: UInt64, _ now: Duration) -> String = { number, _ in "seg\(number).ts" }
    var endsWithList = false
    var latency: @Sendable (_ request: FetchRequest) -> Duration = { _ in .milliseconds(50) }
    /// The answer in place of a healthy origin's; nil: the healthy answer.
    var instead: @Sendable (_ request: FetchRequest, _ now: Duration) -> FetchOutcome? = { _, _ in nil }

    func numbers(at now: Duration) -> Range<UInt64> {
        let passed = min(now, stopsAt).components.seconds / Int64(seconds)
        let end = edge + UInt64(passed)
        return end - min(windowLength, end)..<end
    }

    func playlist(at now: Duration) -> String { playlist(numbers(at: now), at: now) }

    func playlist(_ numbers: Range<UInt64>, at now: Duration) -> String {
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:\(seconds)\n#EXT-X-MEDIA-SEQUENCE:\(numbers.lowerBound)\n" + head
        for number in numbers { text += tags(number) + "#EXTINF:\(seconds),\n\(uri(number, now))\n" }
        return text + (endsWithList && now >= stopsAt ? "#EXT-X-ENDLIST\n" : "")
    }

    func answer(_ request: FetchRequest, at now: Duration) -> (FetchOutcome, Duration) {
        let outcome = instead(request, now) ?? healthy(request, at: now)
        if case .failure(let error) = outcome, error.reason == .timedOut, let limit = request.silenceLimit {
            return (outcome, limit)
        }
        return (outcome, latency(request))
    }

    private func healthy(_ request: FetchRequest, at now: Duration) -> FetchOutcome {
        switch request.purpose {
        case .multivariantPlaylist, .mediaPlaylist: text(playlist(at: now), request)
        case .key: bytes(Array(repeating: 7, count: 16), request)
        case .segment, .map: bytes(Array(request.url.utf8), request)
        }
    }
}

func text(_ text: String, _ request: FetchRequest) -> FetchOutcome { bytes(Array(text.utf8), request) }

func bytes(_ body: [UInt8], _ request: FetchRequest, status: Int = 200, from url: String? = nil) -> FetchOutcome {
    .success(FetchAnswer(status: status, finalURL: url ?? request.url, body: body))
}

func refused(_ status: Int, _ request: FetchRequest) -> FetchOutcome {
    bytes(Array("<html>no</html>".utf8), request, status: status)
}

func failed(_ reason: FetchError.Reason, _ request: FetchRequest) -> FetchOutcome {
    .failure(FetchError(reason, url: request.url))
}

extension ReplayDriver {
    /// Runs the session with a consumer that publishes every delivery.
    mutating func run(
        until limit: Duration,
        answer: (_ request: FetchRequest, _ now: Duration) -> (outcome: FetchOutcome, latency: Duration)?,
        perform: (_ output: DriverOutput, _ now: Duration) async throws -> Void
    ) async throws -> SessionEnd? {
        try await run(until: limit, answer: answer) { output, now in
            try await perform(output, now)
            return .published
        }
    }
}

/// The outputs of a session against an origin, with their session times.
struct SessionRun {
    var end: SessionEnd?
    var requests: [(request: FetchRequest, at: Duration)] = []
    var deliveries: [(delivery: Delivery, at: Duration)] = []
    var events: [(event: UpstreamEvent, at: Duration)] = []
    var status: UpstreamStatus?
    var endedAt = Duration.zero

    init(
        _ origin: SessionOrigin, seconds: Int = 60, upstream: String = SessionOrigin.url,
        policy: UpstreamSession.Policy = .init(variant: .highest),
        demands: [(track: VideoTrackIdentity, at: Duration)] = []
    ) async throws {
        var driver = ReplayDriver(session: UpstreamSession(upstream: upstream, policy: policy), demands: demands)
        var made: [(FetchRequest, Duration)] = []
        var outputs: [(DriverOutput, Duration)] = []
        end = try await driver.run(until: .seconds(seconds)) { request, now in
            made.append((request, now))
            return origin.answer(request, at: now)
        } perform: { output, now in
            outputs.append((output, now))
        }
        requests = made.map { ($0.0, $0.1) }
        for (output, now) in outputs {
            endedAt = now
            switch output {
            case .delivery(let delivery): deliveries.append((delivery, now))
            case .probe: break
            case .event(let event): events.append((event, now))
            case .status(let status): self.status = status
            }
        }
    }

    func segments(_ role: RenditionRole = .main) -> [TrackedSegment] {
        deliveries.compactMap { entry in
            guard entry.delivery.rendition == role else { return nil }
            if case .segment(let segment) = entry.delivery.content { return segment } else { return nil }
        }
    }

    func numbers(_ role: RenditionRole = .main) -> [UInt64] { segments(role).map(\.segment.mediaSequence) }

    func losses(_ role: RenditionRole = .main) -> [SegmentLoss] {
        deliveries.compactMap { entry in
            guard entry.delivery.rendition == role else { return nil }
            if case .lost(let loss) = entry.delivery.content { return loss } else { return nil }
        }
    }

    func requested(_ purpose: FetchRequest.Purpose) -> [String] {
        requests.filter { $0.request.purpose == purpose }.map(\.request.url)
    }

    func times(_ matches: (UpstreamEvent) -> Bool) -> [Duration] { events.filter { matches($0.event) }.map(\.at) }

    /// The deliveries of `role` as text: numbers, `|` before a segment after a discontinuity, `x` for a loss, `.` at the end.
    func trace(_ role: RenditionRole = .main) -> String {
        deliveries.filter { $0.delivery.rendition == role }.map { entry in
            switch entry.delivery.content {
            case .segment(let segment): (segment.isAfterDiscontinuity ? "|" : "") + "\(segment.segment.mediaSequence)"
            case .lost(let loss): "x\(loss.mediaSequences.lowerBound)..<\(loss.mediaSequences.upperBound)"
            case .ended: "."
            case .outageGap: "-"
            }
        }.joined(separator: " ")
    }
}

/// The time at which a credential was renewed, for an origin with state.
final class Renewals: Sendable {
    private let last = Mutex(Duration.zero)

    func renew(at now: Duration) { last.withLock { $0 = now } }
    func isExpired(at now: Duration) -> Bool { last.withLock { now - $0 > .seconds(13) } }
}

/// Counts the requests for each URL, for an origin whose first answers fail.
final class RequestCounter: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    /// Counts one more request. Returns their number.
    func count(_ url: String) -> Int {
        counts.withLock { counts in
            counts[url, default: 0] += 1
            return counts[url] ?? 0
        }
    }
}
