package import Playlist

/// One resource to get from the upstream: an absolute http or https address and, if only a part is wanted, which bytes.
package struct FetchRequest: Hashable, Sendable {
    package enum Purpose: String, Hashable, Sendable { case multivariantPlaylist, mediaPlaylist, segment, key, map }

    package let purpose: Purpose
    package let url: String
    package let byteRange: ByteRange?
    /// EXTINF, of a segment: a long one may take longer to come. nil when it is not known.
    package let duration: Duration?

    package init(_ purpose: Purpose, url: String, byteRange: ByteRange? = nil, duration: Duration? = nil) {
        self.purpose = purpose
        self.url = url
        self.byteRange = byteRange
        self.duration = duration
    }
}

/// What the upstream answered: any status, a whole body.
package struct FetchAnswer: Equatable, Sendable {
    package struct Header: Hashable, Sendable {
        package let name: String
        package let value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    package let status: Int
    /// The address after redirects: what relative URIs in the body are resolved against.
    package let finalURL: String
    package let headers: [Header]
    package let body: [UInt8]
    /// Neither a length nor a last chunk says that the body is whole: it ended because the connection did (RFC 9112
    /// §6.3, rule 8), and a connection that broke looks the same.
    package let endsAtClose: Bool

    package init(
        status: Int, finalURL: String, headers: [Header] = [], body: [UInt8], endsAtClose: Bool = false
    ) {
        self.status = status
        self.finalURL = finalURL
        self.headers = headers
        self.body = body
        self.endsAtClose = endsAtClose
    }

    /// The first header of that name, compared without case.
    package func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

/// Why there is no whole answer.
package struct FetchError: Error, Equatable, Sendable {
    package enum Reason: String, Equatable, Sendable, CaseIterable {
        case unresolvedHost, refused, timedOut, reset, tlsFailure, tooManyRedirects, unsupportedScheme, tooLarge
        /// The connection ended before Content-Length was reached.
        case shortBody
        case canceled = "cancelled"
        /// The host has no other address than such as are not of the public Internet, and those are denied; the
        /// message is one of them.
        case privateAddress
        /// Replay only: the capture holds no answer for this address.
        case notInCapture
        case other

        /// Asked again, it would not go otherwise.
        var isFinal: Bool { [.unsupportedScheme, .privateAddress, .tooLarge].contains(self) }
    }

    package let reason: Reason
    package let url: String
    /// The C library's code, 0 when there is none.
    package let code: Int32
    package let message: String

    package init(_ reason: Reason, url: String, code: Int32 = 0, message: String = "") {
        self.reason = reason
        self.url = url
        self.code = code
        self.message = message
    }
}

package typealias FetchOutcome = Result<FetchAnswer, FetchError>

/// The seam between the tracker and the world: libcurl in service, a capture in replay, a table in tests.
package protocol Fetcher: Sendable {
    /// Cancelling the task cancels the transfer.
    func fetch(_ request: FetchRequest) async -> FetchOutcome
}
