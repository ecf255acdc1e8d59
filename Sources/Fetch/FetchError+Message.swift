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
