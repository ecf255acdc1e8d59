package import Conformance
package import Fetch
import Support

extension CheckedAnswer {
    /// - Parameters:
    ///   - isLocal: whether files were read, which have no status and no headers.
    package init(_ outcome: FetchOutcome, to target: CheckTarget.Resource, at time: AnswerTime, isLocal: Bool = false) {
        switch outcome {
        case .success(let answer):
            self.init(
                url: target.url, finalURL: answer.finalURL, byteRange: target.byteRange,
                status: isLocal ? nil : answer.status, headers: answer.headers.map { ($0.name, $0.value) },
                body: answer.body, time: time, failure: isLocal && !answer.isSuccess ? .noFile : nil)
        case .failure(let error):
            let failure: Failure =
                switch error.reason {
                case .shortBody: .short
                case .tooManyRedirects: .tooManyRedirects
                default: .other(error.reason.message)
                }
            self.init(
                url: target.url, byteRange: target.byteRange, status: nil, body: [], time: time, failure: failure)
        }
    }
}
