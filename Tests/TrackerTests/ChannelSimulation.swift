import Playlist
import Testing

@testable import Fetch
@testable import Support
@testable import Tracker

/// The origins of a channel: the primary and two backups, each with a host of its own.
struct ChannelOrigins {
    static let primaryURL = "http://primary.example/main.m3u8"
    static let backupURLs = ["http://backup-a.example/main.m3u8", "http://backup-b.example/main.m3u8"]

    var primary = SessionOrigin()
    var backupA = SessionOrigin()
    var backupB = SessionOrigin()

    func answer(_ request: FetchRequest, at now: Duration) -> (FetchOutcome, Duration) {
        if request.url.hasPrefix("http://backup-a.") { return backupA.answer(request, at: now) }
        if request.url.hasPrefix("http://backup-b.") { return backupB.answer(request, at: now) }
        return primary.answer(request, at: now)
    }
}

/// What a channel delivered, requested and reported against its origins, with session times.
struct ChannelSimulation {
    /// The deliveries: media sequence numbers after the letter of their source (`p`, `a`, `b`), `|` before a segment
    /// after a discontinuity, `x` and a number of lost segments, `-` for an outage gap, `.` for the end.
    private(set) var trace = ""
    private var tokens: [String] = []
    var events: [(event: UpstreamEvent, at: Duration)] = []
    var requests: [(request: FetchRequest, at: Duration)] = []
    var end: SessionEnd?
    var status: UpstreamStatus?

    init(
        _ origins: ChannelOrigins, seconds: Int, backups: Int = 2, giveUp: Duration? = nil,
        gapTolerance: OutageTimer.Tolerance? = nil, joinPoint: JoinPoint? = nil,
        outcome: @Sendable (Delivery, Duration) -> DeliveryOutcome = { _, _ in .published }
    ) async throws {
        var policy = ChannelSession.Policy(
            session: .init(variant: .highest, giveUp: giveUp),
            backups: Array(ChannelOrigins.backupURLs.prefix(backups)), gapTolerance: gapTolerance)
        if let joinPoint { (policy.joinPoint, policy.resumedTargetDuration) = (joinPoint, .seconds(6)) }
        var driver = ReplayDriver(session: ChannelSession(upstream: ChannelOrigins.primaryURL, policy: policy))
        var outputs: [(DriverOutput, Duration)] = []
        var requests: [(FetchRequest, Duration)] = []
        end = try await driver.run(until: .seconds(seconds)) { request, now in
            requests.append((request, now))
            return origins.answer(request, at: now)
        } perform: { output, now in
            outputs.append((output, now))
            switch output {
            case .delivery(let delivery), .probe(let delivery): return outcome(delivery, now)
            case .event, .status: return .held
            }
        }
        self.requests = requests.map { ($0.0, $0.1) }
        for (output, now) in outputs { record(output, at: now) }
        trace = tokens.joined(separator: " ")
    }

    private mutating func record(_ output: DriverOutput, at now: Duration) {
        switch output {
        case .event(let event): events.append((event, now))
        case .status(let status): self.status = status
        case .delivery(let delivery): tokens.append(Self.token(delivery))
        case .probe: break
        }
    }

    private static func token(_ delivery: Delivery) -> String {
        let source = ["p", "a", "b"][delivery.source]
        switch delivery.content {
        case .segment(let tracked):
            return (tracked.isAfterDiscontinuity ? "|" : "") + "\(source)\(tracked.segment.mediaSequence)"
        case .lost(let loss): return "x\(loss.mediaSequences.count)"
        case .outageGap: return "-"
        case .ended: return "."
        }
    }

    func times(_ matches: (UpstreamEvent) -> Bool) -> [Duration] { events.filter { matches($0.event) }.map(\.at) }

    var switches: [Int] {
        events.compactMap { if case .sourceSwitched(let source, _) = $0.event { source } else { nil } }
    }
}

/// Whether `now` is in one of the ranges, in seconds.
private func isAmong(_ times: [Range<Int>], _ now: Duration) -> Bool {
    times.contains { $0.contains(Int(now.components.seconds)) }
}

/// An origin whose playlist grows while every segment is refused.
func withoutMedia(_ times: Range<Int>..., status: Int = 404)
    -> @Sendable (FetchRequest, Duration) -> FetchOutcome?
{
    { $0.purpose == .segment && isAmong(times, $1) ? refused(status, $0) : nil }
}

/// Downstream refuses the segments of `source` during `times`.
func unusable(
    _ times: Range<Int>..., of source: Int = 0, _ reason: UnpublishedReason = .undecryptable
) -> @Sendable (Delivery, Duration) -> DeliveryOutcome {
    { $0.source == source && isAmong(times, $1) ? .refused(reason) : .published }
}

/// An origin that refuses every connection during `times`.
func down(_ times: Range<Int>...) -> @Sendable (FetchRequest, Duration) -> FetchOutcome? {
    { request, now in
        isAmong(times, now) ? failed(.refused, request) : nil
    }
}

/// EXT-X-PROGRAM-DATE-TIME before every `count`-th segment. Equal media sequence numbers have equal dates.
func dated(ahead seconds: Int = 0, every count: UInt64 = 1) -> @Sendable (UInt64) -> String {
    { number in
        guard number % count == 0 else { return "" }
        let date = ProgramDateTime(millisecondsSince1970: Int64(1_800_000_000 + 6 * Int(number) + seconds) * 1000)
        return "#EXT-X-PROGRAM-DATE-TIME:\(date.text)\n"
    }
}

/// One situation of a channel, and what it delivers.
struct ChannelRow: Sendable, CustomTestStringConvertible {
    let when: String
    var sources = ChannelOrigins()
    var seconds = 60
    var backups = 2
    var giveUp: Duration?
    var gapTolerance: OutageTimer.Tolerance?
    var outcome: @Sendable (Delivery, Duration) -> DeliveryOutcome = { _, _ in .published }
    let delivers: String
    var end: SessionEnd?

    var testDescription: String { when }

    func check() async throws {
        let simulation = try await ChannelSimulation(
            sources, seconds: seconds, backups: backups, giveUp: giveUp, gapTolerance: gapTolerance, outcome: outcome)
        #expect(simulation.trace == delivers)
        #expect(simulation.end == end)
    }
}

extension ChannelOrigins {
    func with(_ change: (inout ChannelOrigins) -> Void) -> ChannelOrigins {
        var origins = self
        change(&origins)
        return origins
    }
}
