import Fetch
import Synchronization
import Tracker

// MARK: - An endless stream, over one connection after the other

extension Origin {
    static let streamURL = "\(host)/live/1.ts"

    /// Returns the answer to a request. That of a stream comes in parts.
    mutating func response(to request: FetchRequest, at time: Int) -> ReplayDriver.Response {
        if let stream = broadcast.stream, isServing(at: time) { return connect(request, to: stream, at: time) }
        let (outcome, latency) = answer(request, at: time)
        if broadcast.stream != nil { log.streams.begin(at: time, from: 0, until: time + latency) }
        return ReplayDriver.Response(end: (outcome, .milliseconds(latency)))
    }

    private func isServing(at time: Int) -> Bool {
        [.unreachable, .longOutage, .silent, .rateLimited, .refusedStream].allSatisfy { active($0, at: time) == nil }
    }

    /// A request is given up after so long, unless its answer turns out to be a stream.
    private static let requestLimit = 10_000

    /// The answer of a host that has no connection to spare.
    func refusal(_ event: Event, _ request: FetchRequest) -> FetchOutcome {
        let status = [200, 403, 404, 458, 503][event.pick(0...4)]
        return page(status, request)
    }

    /// How one connection goes.
    private struct Plan {
        /// When the first bytes are sent, and the offset of the first one.
        let begin: Int
        let start: Int
        let end: (at: Int, kind: EndKind)
        /// By how much its counters differ from those of the broadcast.
        let counterShift: UInt8
        /// Milliseconds between two parts.
        let step: Int
    }

    private enum EndKind: Int { case ended, reset, timedOut, silent }

    private mutating func connect(
        _ request: FetchRequest, to stream: BroadcastStream, at time: Int
    ) -> ReplayDriver.Response {
        log.requests += 1
        let plan = plan(of: log.streams.count, stream, at: time)
        let number = log.streams.begin(
            at: time, from: plan.start, until: plan.end.kind == .silent ? nil : plan.end.at + 1)
        var (sent, recognized) = (plan.start, false)
        let limit = time + Self.requestLimit
        var parts: [ReplayDriver.Response.Part] = []
        func append(upTo end: Int, at now: Int) {
            guard end > sent else { return }
            recognized = recognized || StreamPart.isStream(stream.part(sent..<end, counters: 0))
            // The bytes that tell that it is a stream are collected.
            guard recognized, !parts.isEmpty || now <= limit else { return }
            let range = sent..<end
            let (streams, url) = (log.streams, request.url)
            parts.append(
                (
                    .milliseconds(now - time),
                    {
                        streams.receive(number, upTo: range.upperBound, at: now)
                        return StreamPart(finalURL: url, bytes: stream.part(range, counters: plan.counterShift))
                    }
                ))
            sent = end
        }
        var now = plan.begin
        while now < plan.end.at {
            if !isStalled(at: now, since: time) { append(upTo: stream.position(at: now), at: now) }
            now += plan.step
        }
        if !isStalled(at: plan.end.at, since: time) {
            append(upTo: stream.position(at: plan.end.at), at: plan.end.at)
        }
        if parts.isEmpty, plan.end.at > limit || plan.end.kind == .silent {
            log.streams.end(number, at: limit)
            return ReplayDriver.Response(
                end: (.failure(FetchError(.timedOut, url: request.url)), .milliseconds(Self.requestLimit)))
        }
        let latency = Duration.milliseconds(plan.end.at - time + 1)
        // A connection that ends before anything tells what it is was reset.
        let kind = parts.isEmpty ? .reset : plan.end.kind
        let end: FetchOutcome? =
            switch kind {
            case .ended: .success(FetchAnswer(status: 200, finalURL: request.url, body: [], endsAtClose: true))
            case .reset: .failure(FetchError(.reset, url: request.url))
            case .timedOut: .failure(FetchError(.timedOut, url: request.url))
            case .silent: nil
            }
        return ReplayDriver.Response(parts: parts, end: end.map { (outcome: $0, latency: latency) })
    }

    /// Whether nothing is sent on a connection that was made at `since`.
    private func isStalled(at time: Int, since: Int) -> Bool {
        history.events.contains { event in
            guard event.at <= time, time < event.end else { return false }
            if event.thing == .silent { return true }
            return event.thing == .stalledStream && (since < event.at || event.pick(0...1) == 0)
        }
    }

    // MARK: - Where a connection begins, and when it ends

    private func plan(of number: Int, _ stream: BroadcastStream, at time: Int) -> Plan {
        guard let trait = history.all(.rawStream).first else {
            return Plan(begin: time, start: 0, end: (time, .ended), counterShift: 0, step: 1000)
        }
        let chance = UInt64(number) + 100
        let begin = time + 30 + trait.pick(0...120, chance) + (history.has(.slowAnswers) ? 800 : 0)
        var start: Int
        switch trait.pick(0...3, 1) {
        // The live edge, or a little before it.
        case 0: start = stream.position(at: begin - trait.pick(0...400, chance))
        // As many seconds back each time.
        case 1: start = stream.position(at: begin - trait.pick(1...12, 2) * 1000)
        // Each time something else: where the last connection ended, far back, or not before some time has passed.
        default:
            switch trait.pick(0...5, chance + 1000) {
            case 0: start = log.streams.edge ?? stream.position(at: begin)
            case 1: start = stream.position(at: begin + trait.pick(500...4000, chance))
            case 2: start = stream.position(at: begin - trait.pick(10_000...25_000, chance))
            default: start = stream.position(at: begin - trait.pick(0...6000, chance))
            }
        }
        start = max(0, start - trait.pick(0...300, chance + 2000))
        return Plan(
            begin: begin, start: start, end: connectionEnd(after: begin, number, trait, stream),
            counterShift: trait.pick(0...1, 3) == 0 ? 0 : UInt8(trait.pick(0...15, chance + 3000)),
            step: [200, 200, 500, 1000, 3000][trait.pick(0...4, 4)])
    }

    private func connectionEnd(
        after begin: Int, _ number: Int, _ trait: Event, _ stream: BroadcastStream
    ) -> (at: Int, kind: EndKind) {
        var ends: [(at: Int, kind: EndKind)] = [(history.length + 60_000, .silent)]
        for event in history.events {
            switch event.thing {
            case .cutStream: ends.append((cutTime(event, stream), EndKind(rawValue: event.pick(0...3, 1)) ?? .ended))
            case .unreachable, .longOutage: ends.append((event.at, .reset))
            case .refusedStream: ends.append((event.at, .ended))
            case .shortConnections:
                let length = event.pick(event.pick(0...1, 1) == 0 ? 1000...6000 : 4000...20_000, UInt64(number) + 10)
                ends.append((begin + length, .ended))
            default: break
            }
        }
        return ends.filter { $0.at > begin }.min { $0.at < $1.at } ?? ends[0]
    }

    /// When a cut happens: at any time, or at a splice that follows, shortly before it or after it.
    private func cutTime(_ event: Event, _ stream: BroadcastStream) -> Int {
        let splice = broadcast.segments.first { $0.isSplice && $0.start > event.at && $0.start < event.at + 12_000 }
        guard event.pick(0...1, 2) == 0, let splice else { return event.at }
        return splice.start + event.pick(-400...400, 3)
    }
}

/// A connection of a stream, as far as it was received. Times are milliseconds since the channel began.
struct StreamConnection {
    let askedAt: Int
    /// Offset of the first byte.
    let start: Int
    /// When the origin ends it, or refuses it, or the request is given up; nil: it goes on.
    var end: Int?
    /// When parts came, and the offset after each.
    var parts: [(at: Int, end: Int)] = []

    var received: Range<Int> { start..<(parts.last?.end ?? start) }

    /// When the byte before an offset came; nil: it did not.
    func arrival(of end: Int) -> Int? {
        guard end > start else { return nil }
        return parts.first { $0.end >= end }?.at
    }
}

/// The connections of a stream. Parts are recorded when they are received.
final class StreamLog: Sendable {
    private let state = Mutex<[StreamConnection]>([])

    var connections: [StreamConnection] { state.withLock { $0 } }
    var count: Int { state.withLock { $0.count } }
    /// The offset after the last byte that was received; nil: none was.
    var edge: Int? { state.withLock { $0.last { !$0.parts.isEmpty }?.received.upperBound } }

    /// - Returns: the number of the connection.
    @discardableResult
    func begin(at time: Int, from start: Int, until end: Int?) -> Int {
        state.withLock { connections in
            connections.append(StreamConnection(askedAt: time, start: start, end: end))
            return connections.count - 1
        }
    }

    func end(_ number: Int, at time: Int) { state.withLock { $0[number].end = time } }

    func receive(_ number: Int, upTo end: Int, at time: Int) {
        state.withLock { $0[number].parts.append((time, end)) }
    }
}
