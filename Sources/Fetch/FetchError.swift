/// The reason why no whole response arrived.
package struct FetchError: Error, Equatable, Sendable {
    /// Raw values are stored in captures.
    package enum Reason: String, Equatable, Sendable, CaseIterable {
        case unresolvedHost, refused, timedOut, reset, tlsFailure, tooManyRedirects, unsupportedScheme, tooLarge
        /// The connection ended before Content-Length was reached.
        case shortBody
        case canceled = "cancelled"
        /// All IP addresses of the host are private, and private addresses are denied. The message is one of them.
        case privateAddress
        /// No datagram of a stream arrived.
        case nothingReceived
        /// Replay only: the capture holds no answer for this URL.
        case notInCapture
        case other

        /// Whether a second request would fail the same way.
        package var isFinal: Bool { [.unsupportedScheme, .privateAddress, .tooLarge].contains(self) }
    }

    package let reason: Reason
    package let url: String
    /// The C library's code, 0 if there is none.
    package let code: Int32
    package let message: String

    package init(_ reason: Reason, url: String, code: Int32 = 0, message: String = "") {
        self.reason = reason
        self.url = url
        self.code = code
        self.message = message
    }

    /// The host's IP address, if the request was denied because of it.
    package var deniedIPAddress: String? { reason == .privateAddress ? message : nil }
}
