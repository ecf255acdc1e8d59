package import Capture
package import Conformance
import Fetch
import Support

/// The answers of a capture in the order in which they arrived.
package enum CaptureFeed {
    /// - Returns: nil for a capture of a stream, which has no playlist.
    package static func check(
        _ capture: CaptureDirectory, variants: VariantsChecked = .all, excluded: Set<Rule> = []
    ) throws(CaptureError) -> ChannelChecker {
        var checker = ChannelChecker(url: capture.index.upstream, variants: variants, excluded: excluded)
        for exchange in ordered(capture.index.exchanges) where exchange.stream.isEmpty {
            _ = checker.handle(try answer(exchange, of: capture))
        }
        checker.finish()
        return checker
    }

    /// By the end of the answer: a playlist that was asked for before a segment may arrive after it.
    private static func ordered(_ exchanges: [CapturedExchange]) -> [CapturedExchange] {
        exchanges.enumerated().sorted {
            ($0.element.at + $0.element.took, $0.offset) < ($1.element.at + $1.element.took, $1.offset)
        }.map(\.element)
    }

    package static func answer(
        _ exchange: CapturedExchange, of capture: CaptureDirectory
    ) throws(CaptureError) -> CheckedAnswer {
        let time = AnswerTime(requested: exchange.at, received: exchange.at + exchange.took)
        let resource = CheckTarget.Resource(url: exchange.url, byteRange: exchange.byteRange)
        switch exchange.ending {
        case .answer(let answer):
            return CheckedAnswer(.success(try capture.answer(answer, to: exchange.url)), to: resource, at: time)
        case .failure(let reason):
            return CheckedAnswer(.failure(FetchError(reason, url: exchange.url)), to: resource, at: time)
        }
    }
}
