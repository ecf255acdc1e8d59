/// An upstream that stores what another one answers.
package actor CaptureRecorder: Fetcher {
    private let upstream: any Fetcher
    private let now: @Sendable () -> Duration
    private let failed: @Sendable (CaptureError) -> Void
    private var writer: CaptureWriter
    /// The first thing that could not be stored; recording ended there, fetching did not.
    package private(set) var failure: CaptureError?

    package var totals: CaptureWriter.Totals { writer.totals }

    /// - Parameters:
    ///   - now: time since the recording began.
    ///   - failed: called once, with `failure`.
    package init(
        _ upstream: any Fetcher, to writer: CaptureWriter, now: @escaping @Sendable () -> Duration,
        failed: @escaping @Sendable (CaptureError) -> Void = { _ in }
    ) {
        self.upstream = upstream
        self.failed = failed
        self.writer = writer
        self.now = now
    }

    /// What the wrapped upstream answers; stored before it is handed on. A request that we ourselves gave up is stored
    /// too: in a replay it shall wait as long as it did here, and not be told that nobody knows its address.
    package func fetch(_ request: FetchRequest) async -> FetchOutcome {
        let asked = now()
        let outcome = await upstream.fetch(request)
        guard failure == nil else { return outcome }
        do throws(CaptureError) {
            try writer.append(request, outcome, at: asked, took: now() - asked)
        } catch {
            failure = error
            failed(error)
        }
        return outcome
    }
}
