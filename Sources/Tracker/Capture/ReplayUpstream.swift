import Playlist

/// An upstream that answers from a capture: the same request at the same time always gets the same bytes.
package struct ReplayUpstream: Upstream {
    private struct Resource: Hashable {
        let url: String
        let byteRange: ByteRange?
    }

    private let capture: CaptureDirectory
    /// Each in the order of time.
    private let exchanges: [Resource: [CapturedExchange]]
    private let now: @Sendable () -> Duration

    /// - Parameter now: time since the replay began.
    package init(_ capture: CaptureDirectory, now: @escaping @Sendable () -> Duration) {
        self.capture = capture
        self.now = now
        exchanges = Dictionary(grouping: capture.index.exchanges) { Resource(url: $0.url, byteRange: $0.byteRange) }
    }

    /// What the upstream last said by then, or, asked earlier than the recording ever did, what it said first. A byte
    /// range that was never asked for gets the whole resource if that is there, as from an origin without ranges.
    /// - Returns: with `latency`, how long the answer took when it was recorded; `.notInCapture` when there is none.
    package func answer(_ request: FetchRequest, at now: Duration) -> (outcome: FetchOutcome, latency: Duration) {
        let resource = Resource(url: request.url, byteRange: request.byteRange)
        let whole = Resource(url: request.url, byteRange: nil)
        guard let known = exchanges[resource] ?? exchanges[whole], let first = known.first else {
            return (.failure(FetchError(.notInCapture, url: request.url)), .zero)
        }
        let exchange = known.latest(notAfter: now) ?? first
        return (outcome(of: exchange), exchange.took)
    }

    /// At once, whatever it took when it was recorded.
    package func fetch(_ request: FetchRequest) async -> FetchOutcome { answer(request, at: now()).outcome }

    private func outcome(of exchange: CapturedExchange) -> FetchOutcome {
        switch exchange.ending {
        case .failure(let reason): return .failure(FetchError(reason, url: exchange.url, message: "as recorded"))
        case .answer(let answer):
            do throws(CaptureError) {
                let body = try capture.bytes(of: answer.body)
                let url = answer.finalURL ?? exchange.url
                return .success(
                    FetchAnswer(status: answer.status, finalURL: url, headers: answer.headers, body: body))
            } catch {
                return .failure(FetchError(.other, url: exchange.url, message: "\(error.path): \(error.reason)"))
            }
        }
    }
}

extension [CapturedExchange] {
    /// By bisection: a playlist of a long capture was asked for thousands of times.
    fileprivate func latest(notAfter now: Duration) -> CapturedExchange? {
        var low = startIndex
        var high = endIndex
        while low < high {
            let middle = low + (high - low) / 2
            if self[middle].at <= now { low = middle + 1 } else { high = middle }
        }
        return low == startIndex ? nil : self[low - 1]
    }
}
