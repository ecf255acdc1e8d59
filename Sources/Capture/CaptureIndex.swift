package import Fetch
package import Playlist
package import Support
package import Tracker

/// The contents of a capture's `index.json`: what an upstream answered, and when.
package struct CaptureIndex: Equatable, Sendable {
    /// Absolute URL with which the recording began.
    package let upstream: String
    /// A description of the capture for human readers.
    package let about: String
    /// The variant of the multivariant playlist that led.
    package let variant: VariantChoice
    package let ladder: CapturedLadder
    /// Absolute URLs of the backups, in order.
    package let backups: [String]
    /// How the reloads of the recording were timed; a replay times its reloads alike.
    package let polling: PollingMode
    /// Whether a media file began again when it had ended.
    package let loopsFiles: Bool
    /// Exchanges by request time; those with equal times keep the order of the file.
    package let exchanges: [CapturedExchange]

    package init(
        upstream: String, about: String, variant: VariantChoice = .highest, backups: [String] = [],
        polling: PollingMode = .standard, loopsFiles: Bool = false, ladder: CapturedLadder = CapturedLadder(),
        exchanges: [CapturedExchange]
    ) {
        self.backups = backups
        self.ladder = ladder
        self.polling = polling
        self.loopsFiles = loopsFiles
        self.upstream = upstream
        self.about = about
        self.variant = variant
        self.exchanges =
            exchanges.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
            .map(\.element).joiningStreams
    }

    /// Time from the start to the end of the last answer; zero for an empty capture.
    package var duration: Duration { exchanges.map { $0.at + $0.took }.max() ?? .zero }
}

/// One request and its result.
package struct CapturedExchange: Equatable, Sendable {
    package enum Ending: Equatable, Sendable {
        case answer(CapturedAnswer)
        case failure(FetchError.Reason)
    }

    /// Time of the request since the recording began, exact to the microsecond; never negative.
    package let at: Duration
    /// Time from the request to the end of the answer; zero if unknown.
    let took: Duration
    package let url: String
    let byteRange: ByteRange?
    package let ending: Ending
    /// The parts of a stream that arrived before the end, in order; empty for any other answer.
    package let stream: [CapturedStream]

    package init(
        at: Duration, took: Duration = .zero, url: String, byteRange: ByteRange? = nil, ending: Ending,
        stream: [CapturedStream] = []
    ) {
        self.stream = stream
        self.at = at
        self.took = took
        self.url = url
        self.byteRange = byteRange
        self.ending = ending
    }

    /// Whether the upstream answered with a 2xx status.
    var isSuccess: Bool {
        guard case .answer(let answer) = ending else { return false }
        return (200..<300).contains(answer.status)
    }
}

/// Some seconds of a stream, in one file.
package struct CapturedStream: Equatable, Sendable {
    /// Bytes that were received at once.
    package struct Part: Equatable, Sendable {
        /// Time since the request, exact to the microsecond.
        let after: Duration
        package let byteCount: Int
    }

    /// Path of the file, relative to the capture's directory.
    let file: String
    package let parts: [Part]
    /// Whether the next line of the index continues the stream.
    let continues: Bool
}

extension [CapturedExchange] {
    /// The exchanges with one for each stream, which the index has in lines of some seconds.
    fileprivate var joiningStreams: [CapturedExchange] {
        reduce(into: []) { joined, next in
            guard let last = joined.last, last.stream.last?.continues == true, last.url == next.url else {
                return joined.append(next)
            }
            joined[joined.count - 1] = CapturedExchange(
                at: last.at, took: next.took, url: last.url, byteRange: last.byteRange, ending: next.ending,
                stream: last.stream + next.stream)
        }
    }
}

/// A recorded HTTP answer; its body may lie in a file of the capture.
package struct CapturedAnswer: Equatable, Sendable {
    package enum Body: Equatable, Sendable {
        /// UTF-8 text inside the index.
        case text(String)
        /// Path of a file, relative to the capture's directory.
        case file(String)
    }

    let status: Int
    /// URL after redirects; nil if it equals the requested URL.
    let finalURL: String?
    /// Header fields, each name at most once.
    let headers: [FetchAnswer.Header]
    package let body: Body
    /// Same as `FetchAnswer.endsAtClose`.
    let endsAtClose: Bool

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
