import Media

package typealias FetchOutcome = Result<FetchAnswer, FetchError>

/// The interface between the tracker and its upstream: libcurl in service, a capture in replay, a table in tests.
package protocol Fetcher: Sendable {
    /// Fetches one resource. Canceling the task cancels the transfer.
    func fetch(_ request: FetchRequest) async -> FetchOutcome

    /// Fetches one resource that may be a stream, if the request accepts that. Canceling the task cancels the transfer.
    ///
    /// - Parameter receive: called with each part of a stream, in order. The next part is passed after it returns; a
    ///   transfer that is far ahead waits meanwhile. The answer then has no body.
    func fetch(_ request: FetchRequest, receive: @escaping @Sendable (StreamPart) async -> Void) async -> FetchOutcome
}

extension Fetcher {
    /// The default for fetchers without streams.
    package func fetch(
        _ request: FetchRequest, receive: @escaping @Sendable (StreamPart) async -> Void
    ) async -> FetchOutcome { await fetch(request) }
}

/// A part of the body of a stream, which has no end: of a transport stream.
package struct StreamPart: Equatable, Sendable {
    /// The URL after redirects.
    package let finalURL: String
    package let bytes: [UInt8]
    /// Datagrams missing since the last part, if the datagrams are numbered.
    package let lostDatagrams: Int

    package init(finalURL: String, bytes: [UInt8], lostDatagrams: Int = 0) {
        self.finalURL = finalURL
        self.bytes = bytes
        self.lostDatagrams = lostDatagrams
    }

    /// Whether a body begins like a stream. Any other body is received as a whole.
    package static func isStream(_ beginning: [UInt8]) -> Bool {
        !beginning.looksLikeText && PacketStride(recognizing: beginning) != nil
    }
}
