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

extension FetchError.Reason {
    package var advice: String {
        switch self {
        case .unsupportedScheme: "Give an http or https URL"
        case .privateAddress: "Name the IP address with --allow-address, or remove --deny-private"
        case .tooLarge: "Raise --max-playlist if it is a playlist"
        case .nothingReceived: "Check the group, the port and --multicast-interface"
        default: "Check the host name, the port and the network"
        }
    }

    package var message: String {
        switch self {
        case .unresolvedHost: "no such host"
        case .refused: "the connection was refused"
        case .timedOut: "the request timed out"
        case .reset: "the connection was reset"
        case .tlsFailure: "the TLS handshake failed"
        case .tooManyRedirects: "too many redirects"
        case .unsupportedScheme: "not an http or https URL"
        case .tooLarge: "the answer is too large"
        case .shortBody: "the answer was cut short"
        case .canceled: "canceled"
        case .privateAddress: "its IP address is not public, which --deny-private forbids"
        case .nothingReceived: "nothing was received"
        case .notInCapture: "not in the capture"
        case .other: "the transfer failed"
        }
    }
}
