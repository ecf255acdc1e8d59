package import Capture
package import Conformance
import Fetch
import Support

/// The answers of a capture in the order in which they arrived.
package enum CaptureFeed {
    package static func check(
        _ capture: CaptureDirectory, variants: VariantsChecked = .all, excluded: Set<Rule> = []
    ) throws(CaptureError) -> ChannelChecker {
        check(try answers(of: capture), of: capture.index.upstream, variants: variants, excluded: excluded)
    }

    /// - Parameters:
    ///   - answers: in the order in which they arrived.
    ///   - url: of the first playlist.
    package static func check(
        _ answers: [CheckedAnswer], of url: String, variants: VariantsChecked = .all, excluded: Set<Rule> = []
    ) -> ChannelChecker {
        var checker = ChannelChecker(url: url, variants: variants, excluded: excluded)
        // Sections and keys may come before the playlist that names them.
        var early: [CheckedAnswer] = []
        for answer in answers {
            guard checker.knows(answer) else {
                early.append(answer)
                continue
            }
            _ = checker.handle(answer)
            let due = early.filter { checker.knows($0) }
            guard !due.isEmpty else { continue }
            early.removeAll { checker.knows($0) }
            for answer in due { _ = checker.handle(answer) }
        }
        checker.finish()
        return checker
    }

    /// Every answer of the channel, in the order in which they arrived; none of a stream.
    package static func answers(of capture: CaptureDirectory) throws(CaptureError) -> [CheckedAnswer] {
        var answers: [CheckedAnswer] = []
        for exchange in ordered(capture.index.exchanges) where exchange.stream.isEmpty {
            answers.append(try answer(exchange, of: capture))
        }
        return answers
    }

    /// By the end of the answer: a playlist that was asked for before a segment may arrive after it.
    private static func ordered(_ exchanges: [CapturedExchange]) -> [CapturedExchange] {
        exchanges.enumerated().sorted {
            ($0.element.at + $0.element.took, $0.offset) < ($1.element.at + $1.element.took, $1.offset)
        }.map(\.element)
    }

    private static func answer(
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
