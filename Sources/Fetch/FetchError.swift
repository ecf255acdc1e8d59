/// The reason why no whole response arrived.
package struct FetchError: Error, Equatable, Sendable {
    /// Raw values are stored in captures.
    package enum Reason: String, Equatable, Sendable, CaseIterable {
        case unresolvedHost, refused, timedOut, reset, tlsFailure, tooManyRedirects, unsupportedScheme, tooLarge
        /// The certificate is not accepted: it is self-signed; its issuer is not trusted; it has expired or is not
        /// valid yet; it belongs to another host.
        case selfSignedCertificate, untrustedCertificate, expiredCertificate, certificateOfAnotherHost
        /// The server of an https URL answers without TLS.
        case notTLS
        /// The name of the proxy is not known, or the proxy does not connect.
        case unresolvedProxy, proxyRefused
        /// The connection ended before Content-Length was reached.
        case shortBody
        case canceled = "cancelled"
        /// All IP addresses of the host are private, and private addresses are denied. The message is one of the
        /// addresses.
        case privateAddress
        /// The answer is an endless stream of audio without a container: Icecast, Shoutcast.
        case audioStream
        /// No datagram of a stream arrived.
        case nothingReceived
        /// Replay only: the capture holds no answer for this URL.
        case notInCapture
        case other

        /// Whether a second request would fail the same way.
        package var isFinal: Bool {
            [.unsupportedScheme, .privateAddress, .tooLarge, .notTLS, .audioStream].contains(self) || isCertificate
        }

        /// Whether the certificate of the server is not accepted.
        package var isCertificate: Bool {
            [.selfSignedCertificate, .untrustedCertificate, .expiredCertificate, .certificateOfAnotherHost]
                .contains(self)
        }
    }

    package let reason: Reason
    package let url: String
    /// The code of the C library; 0 if the error has none.
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
        case .audioStream: "Give the station's HLS address, or make HLS of it: ffmpeg -i URL -c copy -f hls live.m3u8"
        case .nothingReceived: "Check the group, the port and --multicast-interface"
        case .selfSignedCertificate, .untrustedCertificate:
            "Trust it with --ca-file FILE, or write 'insecure: true' for this URL in a channels.yaml"
        case .expiredCertificate:
            "Check the clock of this machine, and ask the upstream's operator for a new certificate"
        case .certificateOfAnotherHost:
            "Give the URL with a name of the certificate, or write 'insecure: true' for it in a channels.yaml"
        case .notTLS: "Give the URL with http:// in place of https://, or the port that has TLS"
        case .unresolvedProxy, .proxyRefused: "Check --proxy, and the environment: http_proxy, https_proxy, no_proxy"
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
        case .selfSignedCertificate: "its certificate is self-signed"
        case .untrustedCertificate: "its certificate is signed by nobody who is trusted"
        case .expiredCertificate: "its certificate has expired, or is not valid yet"
        case .certificateOfAnotherHost: "its certificate is for another host"
        case .notTLS: "it answers without TLS"
        case .unresolvedProxy: "there is no host with the proxy's name"
        case .proxyRefused: "the proxy does not connect"
        case .tooManyRedirects: "too many redirects"
        case .unsupportedScheme: "not an http or https URL"
        case .tooLarge: "the answer is too large"
        case .shortBody: "the answer was cut short"
        case .canceled: "canceled"
        case .privateAddress: "its IP address is not public, which --deny-private forbids"
        case .audioStream: "it is an endless audio stream (Icecast, Shoutcast), which is not read"
        case .nothingReceived: "nothing was received"
        case .notInCapture: "not in the capture"
        case .other: "the transfer failed"
        }
    }
}
