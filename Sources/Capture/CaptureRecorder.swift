package import Fetch
import Tracker

/// A fetcher that stores every answer of another fetcher in a capture.
package actor CaptureRecorder: Fetcher {
    private let upstream: any Fetcher
    private let now: @Sendable () -> Duration
    private let onFailure: @Sendable (CaptureError) -> Void
    private var writer: CaptureWriter
    /// The first error while storing; recording ended with it, fetching did not.
    package private(set) var failure: CaptureError?

    package var totals: CaptureWriter.Totals { writer.totals }

    /// - Parameters:
    ///   - now: time since the recording began.
    ///   - onFailure: called once, with `failure`.
    package init(
        _ upstream: any Fetcher, to writer: CaptureWriter, now: @escaping @Sendable () -> Duration,
        onFailure: @escaping @Sendable (CaptureError) -> Void = { _ in }
    ) {
        self.upstream = upstream
        self.onFailure = onFailure
        self.writer = writer
        self.now = now
    }

    /// Fetches from the wrapped fetcher and stores the outcome before it returns.
    ///
    /// Stores requests that were canceled here too: a replay leaves such a request unanswered. Otherwise it would
    /// report that the capture does not contain the URL.
    package func fetch(_ request: FetchRequest) async -> FetchOutcome {
        let start = now()
        let outcome = await upstream.fetch(request)
        guard failure == nil else { return outcome }
        do throws(CaptureError) {
            try writer.append(request, outcome, at: start, took: now() - start)
        } catch {
            failure = error
            onFailure(error)
        }
        return outcome
    }
}
