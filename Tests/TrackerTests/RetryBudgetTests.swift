import Testing

@testable import Tracker

typealias RetryRow = (
    when: String, targetDuration: Duration, failures: [(at: Duration, isListed: Bool)],
    verdicts: [RetryBudget.Verdict]
)

let retryRows: [RetryRow] = [
    (
        "three failures", .seconds(6), [(.zero, true), (.milliseconds(250), true), (.seconds(2), true)],
        [.retry(at: .milliseconds(250)), .retry(at: .milliseconds(1250)), .exhausted]
    ),
    ("not listed any more", .seconds(6), [(.seconds(1), false)], [.exhausted]),
    (
        "two slow attempts exceed the budget", .seconds(2), [(.seconds(5), true), (.milliseconds(9500), true)],
        [.retry(at: .milliseconds(5250)), .exhausted]
    ),
    ("one attempt longer than the budget", .seconds(2), [(.seconds(11), true)], [.exhausted]),
    (
        "longer budget for long segments", .seconds(10), [(.seconds(11), true), (.seconds(18), true)],
        [.retry(at: .milliseconds(11_250)), .retry(at: .seconds(19))]
    ),
]

@Test(arguments: retryRows)
func retryVerdicts(
    when: String, targetDuration: Duration, failures: [(at: Duration, isListed: Bool)],
    verdicts: [RetryBudget.Verdict]
) {
    var budget = RetryBudget(targetDuration: targetDuration, at: .zero)
    let all = failures.map { budget.failed(isListed: $0.isListed, at: $0.at) }
    #expect(all == verdicts, "\(when)")
}
