package import Playlist

/// What an upstream answered and when: the `index.json` of a capture's directory.
package struct CaptureIndex: Equatable, Sendable {
    /// Absolute address that the recording began with.
    package let upstream: String
    /// For a reader, what is to be seen in this capture.
    package let about: String
    /// Which variant of a master playlist was followed: another one was never asked for.
    package let variant: VariantChoice
    /// Absolute addresses that stood in for the upstream, in order.
    package let backups: [String]
    /// In the order they were asked for; those of one moment in the order they are written.
    package let exchanges: [CapturedExchange]

    package init(
        upstream: String, about: String, variant: VariantChoice = .highest, backups: [String] = [],
        exchanges: [CapturedExchange]
    ) {
        self.backups = backups
        self.upstream = upstream
        self.about = about
        self.variant = variant
        self.exchanges = exchanges.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
            .map(\.element)
    }

    /// Until the last answer was there; zero for an empty capture.
    package var duration: Duration { exchanges.map { $0.at + $0.took }.max() ?? .zero }
}

/// One request and how it ended.
package struct CapturedExchange: Equatable, Sendable {
    package enum Ending: Equatable, Sendable {
        case answer(CapturedAnswer)
        case failure(FetchError.Reason)
    }

    /// When it was asked for, since the recording began, to the microsecond; never negative.
    package let at: Duration
    /// From asking to the end; zero when unknown.
    package let took: Duration
    package let url: String
    package let byteRange: ByteRange?
    package let ending: Ending

    package init(at: Duration, took: Duration = .zero, url: String, byteRange: ByteRange? = nil, ending: Ending) {
        self.at = at
        self.took = took
        self.url = url
        self.byteRange = byteRange
        self.ending = ending
    }
}

package struct CapturedAnswer: Equatable, Sendable {
    package enum Body: Equatable, Sendable {
        /// UTF-8, in the index itself.
        case text(String)
        /// Path of a file, relative to the capture's directory.
        case file(String)
    }

    package let status: Int
    /// After redirects; nil when it is the address asked for.
    package let finalURL: String?
    /// By name; none twice.
    package let headers: [FetchAnswer.Header]
    package let body: Body
    /// As in `FetchAnswer`.
    package let endsAtClose: Bool

    package init(
        status: Int, finalURL: String? = nil, headers: [FetchAnswer.Header] = [], body: Body, endsAtClose: Bool = false
    ) {
        self.status = status
        self.finalURL = finalURL
        self.headers = headers
        self.body = body
        self.endsAtClose = endsAtClose
    }
}
