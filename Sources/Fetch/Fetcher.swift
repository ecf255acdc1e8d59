package typealias FetchOutcome = Result<FetchAnswer, FetchError>

/// The interface between the tracker and its upstream: libcurl in service, a capture in replay, a table in tests.
package protocol Fetcher: Sendable {
    /// Fetches one resource. Canceling the task cancels the transfer.
    func fetch(_ request: FetchRequest) async -> FetchOutcome
}
