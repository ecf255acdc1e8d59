/// The reason why one attempt to fetch media, a key or a map failed.
package enum FetchFailure: Error, Equatable, Sendable {
    case refused(status: Int)
    /// `ipAddress` is the host's, if the request was denied because of it.
    case unreachable(FetchError.Reason, ipAddress: String? = nil)
    /// A page of HTML or XML, a JSON answer, or a playlist.
    case notMedia
    case empty
    /// Fewer bytes than the range that was requested.
    case shortRange
    /// The body ended with its connection, inside a packet, a box or a cipher block.
    case truncated
    /// The body ended with its connection, and plays for much shorter than its EXTINF says.
    case tooShort
}

/// A failed attempt, with the number of attempts so far.
package struct FailedAttempt: Equatable, Sendable {
    package let failure: FetchFailure
    /// Failed attempts so far, including this one.
    package let failures: Int
    /// Whether no further attempt follows.
    package let isLast: Bool

    package init(failure: FetchFailure, failures: Int, isLast: Bool) {
        self.failure = failure
        self.failures = failures
        self.isLast = isLast
    }
}
