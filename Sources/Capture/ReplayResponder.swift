package import Fetch
import Support
package import Tracker

/// Answers requests from a capture.
///
/// A session with the captured timing gets the captured answers at the captured times. For other timings, the responder
/// answers as the upstream would have, as far as the capture tells. A playlist changes with time: the responder returns
/// its latest captured state. Segments, keys and maps do not change, but their faults form a sequence: the first
/// request gets the first answer, the second request the second, and the last answer repeats.
package struct ReplayResponder: Sendable {
    /// An exchange, and the time from the request to the end of its answer.
    typealias Found = (exchange: CapturedExchange, latency: Duration)

    private struct CapturedAnswers: Sendable {
        /// Exchanges of one resource by time.
        let exchanges: [CapturedExchange]
        var used = 0

        mutating func next(isPlaylist: Bool, at now: Duration) -> Found? {
            let due = isPlaylist ? max(1, exchanges.count(notAfter: now, from: used)) : min(used + 1, exchanges.count)
            let isNext =
                isPlaylist && due == used && used < exchanges.count
                && exchanges[used].at <= now + ReplayResponder.earlyTolerance
            used = max(used, isNext ? used + 1 : due)
            guard used > 0, used <= exchanges.count else { return nil }
            let exchange = exchanges[used - 1]
            // The answer to a slightly early request arrives at its captured time. A request before the first captured
            // one is answered at once.
            let earlyBy = isNext ? max(.zero, exchange.at - now) : .zero
            return (exchange, earlyBy + exchange.took)
        }
    }

    /// How much earlier than the capture a replay may ask for the next state of a playlist. A capturing process
    /// wakes up late; a replay on a virtual clock does not.
    private static let earlyTolerance = Duration.milliseconds(200)

    private let capture: CaptureDirectory
    private var captured: [CapturedResource: CapturedAnswers]
    /// The request times of the streams that were already returned. No stream is returned twice.
    private var usedStreams: Set<Duration> = []

    package init(_ capture: CaptureDirectory) {
        self.capture = capture
        captured = Dictionary(grouping: capture.index.exchanges) {
            CapturedResource(url: $0.url, byteRange: $0.byteRange)
        }
        .mapValues { CapturedAnswers(exchanges: $0) }
    }

    /// - Parameter now: time since the replay began; never decreases.
    /// - Returns: nil if the request was never answered: the capture ended first, or the request was canceled.
    package mutating func answer(
        _ request: FetchRequest, at now: Duration
    ) -> (outcome: FetchOutcome, latency: Duration)? {
        let isPlaylist = request.purpose == .multivariantPlaylist || request.purpose == .mediaPlaylist
        let found = exchange(url: request.url, byteRange: request.byteRange, isPlaylist: isPlaylist, at: now)
        guard let (exchange, latency) = found else {
            return (.failure(FetchError(.notInCapture, url: request.url)), .zero)
        }
        return exchange.ending == .failure(.canceled) ? nil : (outcome(of: exchange), latency)
    }

    /// The response to a request, with the parts of a stream at their times.
    package mutating func respond(_ request: FetchRequest, at now: Duration) -> ReplayDriver.Response {
        guard request.acceptsStream,
            let (exchange, latency) = exchange(
                url: request.url, byteRange: request.byteRange, isPlaylist: true, at: now)
        else { return ReplayDriver.Response(end: answer(request, at: now)) }
        let isNew = exchange.stream.isEmpty || usedStreams.insert(exchange.at).inserted
        guard isNew else { return ReplayDriver.Response(end: nil) }
        let end = exchange.ending == .failure(.canceled) ? nil : (outcome: outcome(of: exchange), latency: latency)
        return ReplayDriver.Response(parts: parts(of: exchange, late: latency - exchange.took), end: end)
    }

    /// The parts of a stream. They are read when they are due, because a long stream does not fit into memory.
    private func parts(of exchange: CapturedExchange, late: Duration) -> [ReplayDriver.Response.Part] {
        exchange.stream.flatMap { stream -> [ReplayDriver.Response.Part] in
            var offset = 0
            return stream.parts.map { part -> ReplayDriver.Response.Part in
                defer { offset += part.byteCount }
                let load = { @Sendable [capture, offset] in
                    // A file that was removed meanwhile acts like a connection on which no bytes arrive.
                    let bytes = try? capture.bytes(of: stream.file, from: offset, count: part.byteCount)
                    return StreamPart(finalURL: exchange.url, bytes: bytes ?? [])
                }
                return (late + part.after, load)
            }
        }
    }

    /// The exchange that answers a request. If the byte range was never requested, the exchange of the whole resource
    /// answers it, as an origin without range support would. nil: the capture does not contain the URL.
    mutating func exchange(url: String, byteRange: ByteRange?, isPlaylist: Bool, at now: Duration) -> Found? {
        let resource = CapturedResource(url: url, byteRange: byteRange)
        let whole = CapturedResource(url: url, byteRange: nil)
        for resource in [resource, whole] where captured[resource] != nil {
            return captured[resource]?.next(isPlaylist: isPlaylist, at: now)
        }
        return nil
    }

    private func outcome(of exchange: CapturedExchange) -> FetchOutcome {
        switch exchange.ending {
        case .failure(let reason): return .failure(FetchError(reason, url: exchange.url, message: "as recorded"))
        case .answer(let answer):
            do throws(CaptureError) {
                return .success(try capture.answer(answer, to: exchange.url))
            } catch {
                return .failure(FetchError(.other, url: exchange.url, message: "\(error.path): \(error.reason)"))
            }
        }
    }
}

extension [CapturedExchange] {
    /// Counts by binary search, because a long capture contains thousands of requests for one playlist.
    fileprivate func count(notAfter now: Duration, from start: Int) -> Int {
        var low = start
        var high = endIndex
        while low < high {
            let middle = low + (high - low) / 2
            if self[middle].at <= now { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
