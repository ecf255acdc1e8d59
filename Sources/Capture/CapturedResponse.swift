package import Fetch

/// The answer of a `CapturedOrigin` to one request.
package struct CapturedResponse: Equatable, Sendable {
    package enum Transmission: Equatable, Sendable {
        /// The body arrives in equal parts over `over`; an answer without a body arrives at the end of that time.
        case paced(over: Duration)
        /// As `paced`, but the connection closes after `after` bytes of the body.
        case cut(after: Int, over: Duration)
        /// No byte is sent; the connection is reset after `after`.
        case reset(after: Duration)
        /// No byte is sent, and the connection stays open.
        case silent
    }

    package var status: Int
    package var headers: [FetchAnswer.Header] = []
    package var body: [UInt8] = []
    package var transmission = Transmission.paced(over: .zero)

    static func notFound(_ path: String) -> CapturedResponse {
        CapturedResponse(
            status: 404, headers: [.init(name: "Content-Type", value: "text/plain; charset=utf-8")],
            body: Array("There is nothing at \(path).\n".utf8))
    }

    /// The announced length of a body that was received only in part.
    private static let announcedByteCount = 65_536

    /// A response that fails for a client as the captured request failed.
    ///
    /// A failure without an answer (a reset, a refused connection, an unresolved host) becomes a reset connection.
    static func failing(_ reason: FetchError.Reason, path: String, after latency: Duration) -> CapturedResponse {
        switch reason {
        case .timedOut, .canceled: CapturedResponse(status: 200, transmission: .silent)
        case .shortBody:
            CapturedResponse(
                status: 200, body: [UInt8](repeating: 0, count: announcedByteCount),
                transmission: .cut(after: announcedByteCount / 2, over: latency))
        case .tooManyRedirects: redirect(to: path)
        case .unsupportedScheme: redirect(to: "ftp://upstream.invalid/")
        case .notInCapture: notFound(path)
        default: CapturedResponse(status: 200, transmission: .reset(after: latency))
        }
    }

    private static func redirect(to url: String) -> CapturedResponse {
        CapturedResponse(status: 302, headers: [.init(name: "Location", value: url)])
    }
}
