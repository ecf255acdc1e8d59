package import Playlist

/// What a capture answers. A session that asks as the recorded one did gets the same answers at the same times; one that
/// asks otherwise gets what the upstream would have said, as far as the recording tells.
///
/// A playlist changes with time: it is what the upstream said last. Media, keys and maps do not, but their faults
/// follow on each other: the first request gets the first answer, the second one the second, and the last answer stays.
package struct ReplayResponder: Sendable {
    package enum Lookup: Equatable, Sendable {
        /// The exchange, and how long after the request its answer is there.
        case exchange(CapturedExchange, latency: Duration)
        /// The capture holds nothing of that address.
        case unknown
    }

    private struct Resource: Hashable, Sendable {
        let url: String
        let byteRange: ByteRange?
    }

    fileprivate struct RecordedAnswers: Sendable {
        /// In the order of time.
        let exchanges: [CapturedExchange]
        /// How many were answered with, or passed over.
        var used = 0
    }

    /// A recording's clock is late by the time its process took to wake; a replay asks a little earlier than it did.
    private static let earlyTolerance = Duration.milliseconds(200)

    private let capture: CaptureDirectory
    private var recorded: [Resource: RecordedAnswers]

    package init(_ capture: CaptureDirectory) {
        self.capture = capture
        recorded = Dictionary(grouping: capture.index.exchanges) { Resource(url: $0.url, byteRange: $0.byteRange) }
            .mapValues { RecordedAnswers(exchanges: $0) }
    }

    /// - Parameter now: time since the replay began; never goes back.
    /// - Returns: nil when no answer ever came: the recording ended before it, or the request was given up.
    package mutating func answer(
        _ request: FetchRequest, at now: Duration
    ) -> (outcome: FetchOutcome, latency: Duration)? {
        let isPlaylist = request.purpose == .multivariantPlaylist || request.purpose == .mediaPlaylist
        switch exchange(url: request.url, byteRange: request.byteRange, isPlaylist: isPlaylist, at: now) {
        case .unknown: return (.failure(FetchError(.notInCapture, url: request.url)), .zero)
        case .exchange(let exchange, _) where exchange.ending == .failure(.canceled): return nil
        case .exchange(let exchange, let latency): return (outcome(of: exchange), latency)
        }
    }

    /// A byte range that was never asked for gets the whole resource if that is there, as from an origin without ranges.
    package mutating func exchange(
        url: String, byteRange: ByteRange?, isPlaylist: Bool, at now: Duration
    ) -> Lookup {
        let resource = Resource(url: url, byteRange: byteRange)
        let whole = Resource(url: url, byteRange: nil)
        for resource in [resource, whole] where recorded[resource] != nil {
            return recorded[resource]?.next(isPlaylist: isPlaylist, at: now, earliness: Self.earlyTolerance) ?? .unknown
        }
        return .unknown
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

extension ReplayResponder.RecordedAnswers {
    fileprivate mutating func next(
        isPlaylist: Bool, at now: Duration, earliness: Duration
    ) -> ReplayResponder.Lookup {
        let due = isPlaylist ? max(1, exchanges.count(notAfter: now, from: used)) : min(used + 1, exchanges.count)
        let isNext = isPlaylist && due == used && used < exchanges.count && exchanges[used].at <= now + earliness
        used = max(used, isNext ? used + 1 : due)
        guard used > 0, used <= exchanges.count else { return .unknown }
        let exchange = exchanges[used - 1]
        // Asked a little early, the answer comes when it came; asked before there was any, at once.
        let early = isNext ? max(.zero, exchange.at - now) : .zero
        return .exchange(exchange, latency: early + exchange.took)
    }
}

extension [CapturedExchange] {
    /// By bisection: a playlist of a long capture was asked for thousands of times.
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
