package import Fetch
package import Playlist
package import Support
package import Tracker

/// The contents of a capture's `index.json`: what an upstream answered, and when.
package struct CaptureIndex: Equatable, Sendable {
    /// Absolute URL with which the capture began.
    package fileprivate(set) var upstream: String
    /// A description of the capture for human readers.
    package let about: String
    /// The rule that chose the leading variant of the multivariant playlist.
    package let variant: VariantChoice
    /// The rule that chose the variants followed beside the leading one.
    package let ladder: LadderChoice
    /// Whether these variants were followed only while somebody asked for them.
    package let followsLadderOnDemand: Bool
    package let demands: [Demand]
    /// Absolute URLs of the backups, in order.
    package fileprivate(set) var backups: [String]
    /// How the reloads of the capture were timed; a replay times its reloads alike.
    package let polling: PollingMode
    /// Whether media files restarted at their end.
    package let loopsFiles: Bool
    /// Exchanges by request time; exchanges with equal times keep the order of the file.
    package fileprivate(set) var exchanges: [CapturedExchange]

    /// A request of a client for a variant.
    package struct Demand: Equatable, Sendable {
        /// Time since the capture began, exact to the microsecond.
        package let at: Duration
        /// The text of the track's identity.
        package let track: String
    }

    package init(
        upstream: String, about: String = "", variant: VariantChoice = .highest, backups: [String] = [],
        polling: PollingMode = .standard, loopsFiles: Bool = false, ladder: LadderChoice = .one,
        followsLadderOnDemand: Bool = false, demands: [Demand] = [], exchanges: [CapturedExchange] = []
    ) {
        (self.upstream, self.about, self.variant, self.backups) = (upstream, about, variant, backups)
        (self.polling, self.loopsFiles, self.ladder) = (polling, loopsFiles, ladder)
        (self.followsLadderOnDemand, self.demands) = (followsLadderOnDemand, demands)
        self.exchanges =
            exchanges.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
            .map(\.element).joiningStreams
    }

    func redacted(by redactor: inout CaptureRedactor) -> CaptureIndex {
        var copy = self
        copy.upstream = redactor.redact(url: upstream)
        copy.backups = backups.map { redactor.redact(url: $0) }
        return copy
    }

    func replacingExchanges(by exchanges: [CapturedExchange]) -> CaptureIndex {
        var copy = self
        copy.exchanges = exchanges
        return copy
    }

    package var withoutFaults: CaptureIndex { replacingExchanges(by: exchanges.filter(\.isSuccess)) }

    /// Time from the start to the end of the last answer; zero for an empty capture.
    package var duration: Duration { exchanges.map { $0.at + $0.took }.max() ?? .zero }
}

/// One request and its result.
package struct CapturedExchange: Equatable, Sendable {
    package enum Ending: Equatable, Sendable {
        case answer(CapturedAnswer)
        case failure(FetchError.Reason)
    }

    /// Time of the request since the capture began, exact to the microsecond; never negative.
    package var at: Duration
    /// Time from the request to the end of the answer; zero if unknown.
    package var took = Duration.zero
    package let url: String
    package var byteRange: ByteRange?
    package var ending: Ending
    /// The parts of a stream that arrived before the end, in order; empty for any other answer.
    package var stream: [CapturedStream] = []

    /// Whether the upstream answered with a 2xx status.
    var isSuccess: Bool {
        guard case .answer(let answer) = ending else { return false }
        return (200..<300).contains(answer.status)
    }
}

package struct CapturedStream: Equatable, Sendable {
    /// Bytes that arrived together.
    package struct Part: Equatable, Sendable {
        /// Time since the request, exact to the microsecond.
        let after: Duration
        package let byteCount: Int
    }

    /// Path of the file, relative to the capture's directory.
    let file: String
    package let parts: [Part]
    /// Whether the next line of the index contains more of the stream.
    let continues: Bool
}

extension [CapturedExchange] {
    /// The exchanges with the lines of each stream joined; the index divides a stream into lines of some seconds.
    fileprivate var joiningStreams: [CapturedExchange] {
        reduce(into: []) { joined, next in
            guard let last = joined.last, last.stream.last?.continues == true, last.url == next.url else {
                return joined.append(next)
            }
            let end = joined.count - 1
            (joined[end].took, joined[end].ending) = (next.took, next.ending)
            joined[end].stream += next.stream
        }
    }
}

/// A captured HTTP answer; its body may be in a file of the capture.
package struct CapturedAnswer: Equatable, Sendable {
    package enum Body: Equatable, Sendable {
        /// UTF-8 text inside the index.
        case text(String)
        /// Path of a file, relative to the capture's directory.
        case file(String)
    }

    let status: Int
    /// URL after redirects; nil if it equals the requested URL.
    var finalURL: String?
    /// Header fields, each name at most once.
    var headers: [FetchAnswer.Header] = []
    package let body: Body
    /// Same as `FetchAnswer.endsAtClose`.
    var endsAtClose = false
}
