import Testing

@testable import Fetch
@testable import Support
@testable import Tracker

private typealias RetryRow = (
    when: String, failures: [FetchFailure], retryAfter: Duration?, pauses: [ClosedRange<Double>?]
)

/// Pauses in seconds after failures at 10 s. The jitter is 15 %.
private let retryRows: [RetryRow] = [
    (
        "pauses double up to a second", [.refused(status: 503)], nil,
        [0.17...0.231, 0.34...0.461, 0.68...0.921, 0.85...1.151, 0.85...1.151]
    ),
    ("a Retry-After is honored", [.refused(status: 503)], .seconds(3), [3...3]),
    ("a Retry-After beyond any window is cut", [.refused(status: 503)], .seconds(90), [30...30]),
    ("a shorter Retry-After than the pause changes nothing", [.refused(status: 404)], .zero, [0.17...0.231]),
    ("a rate limit is no failure of the resource", [.refused(status: 429)], .seconds(9), [0...0, 0...0, 0...0]),
    ("a permanent failure is not repeated", [.unreachable(.tooLarge)], nil, [nil]),
]

@Test(arguments: retryRows.indices)
func pauseAfterFailure(row: Int) {
    let row = retryRows[row]
    var schedule = RetrySchedule(seed: 1)
    for (index, expected) in row.pauses.enumerated() {
        let failure = row.failures[index % row.failures.count]
        let pause = schedule.failed(failure, retryAfter: row.retryAfter, at: .seconds(10)).map {
            ($0 - .seconds(10)) / .seconds(1)
        }
        #expect(pause.map { expected?.contains($0) ?? false } ?? (expected == nil), "\(row.when): \(pause ?? -1)")
    }
}

@Test func pausesOfTwoSeedsDiffer() {
    var schedules = [RetrySchedule(seed: 1), RetrySchedule(seed: 2)]
    #expect(
        schedules[0].failed(.refused(status: 503), at: .zero) != schedules[1].failed(.refused(status: 503), at: .zero))
}

// MARK: - Patience

private struct PatienceRow: Sendable {
    let when: String
    var configured: Duration?
    var target = 4
    var isFinished = false
    let head: SegmentPatience.Head
    let loss: SegmentPatience.Loss?
}

private func head(
    lasting duration: Int = 4, listedAt: Double = 0, heldSince: Double? = nil, gapAt: Int? = nil,
    failedAt: Double? = nil,
    isRefused: Bool = false, retryAfter: Int = 0, removedAt: Double? = nil
) -> SegmentPatience.Head {
    SegmentPatience.Head(
        duration: .seconds(duration), listedAt: .milliseconds(Int(listedAt * 1000)),
        heldSince: heldSince.map { .milliseconds(Int($0 * 1000)) }, gapAt: gapAt.map { .seconds($0) },
        firstFailureAt: failedAt.map { .milliseconds(Int($0 * 1000)) },
        isRefused: isRefused, retryAfter: .seconds(retryAfter),
        removedAt: removedAt.map { .milliseconds(Int($0 * 1000)) })
}

// The target duration is 4 s if the row names no other, and the playlist lists six segments.
private let patienceRows: [PatienceRow] = [
    PatienceRow(
        when: "the next segment is ready: three target durations to the end of the head",
        head: head(heldSince: 24.3, failedAt: 20), loss: .init(at: .milliseconds(32_300), cause: .overtaken)),
    PatienceRow(
        when: "listed together with the next segment, at 22 s: that one is due four seconds later",
        head: head(listedAt: 22, heldSince: 22.5), loss: .init(at: .seconds(34), cause: .overtaken)),
    PatienceRow(
        when: "a slow head is no exception in a live playlist",
        head: head(heldSince: 24.3), loss: .init(at: .milliseconds(32_300), cause: .overtaken)),
    PatienceRow(when: "nothing else could be delivered", head: head(failedAt: 20), loss: nil),
    PatienceRow(
        when: "a gap would be listed before", head: head(heldSince: 24, gapAt: 30),
        loss: .init(at: .seconds(30), cause: .overtaken)),
    PatienceRow(
        when: "a gap would be listed before, however long the operator would wait", configured: .seconds(18),
        head: head(heldSince: 24, gapAt: 30), loss: .init(at: .seconds(30), cause: .overtaken)),
    PatienceRow(
        when: "a gap was listed before the next segment came: one more try", head: head(heldSince: 24, gapAt: 20),
        loss: .init(at: .milliseconds(25_500), cause: .overtaken)),
    PatienceRow(
        when: "nothing else could be delivered, and a gap is listed", head: head(gapAt: 20, failedAt: 20), loss: nil),
    PatienceRow(
        when: "not listed any more, nothing else could be delivered: one window",
        head: head(failedAt: 20, removedAt: 30), loss: .init(at: .seconds(54), cause: .gone)),
    PatienceRow(
        when: "refused and not listed any more",
        head: head(failedAt: 20, isRefused: true, removedAt: 30), loss: .init(at: .seconds(30), cause: .gone)),
    PatienceRow(
        when: "refused and still listed: as any failure",
        head: head(heldSince: 24, isRefused: true), loss: .init(at: .seconds(32), cause: .overtaken)),
    PatienceRow(
        when: "not listed any more, the next segment is ready: the earlier of both",
        head: head(heldSince: 24, failedAt: 20, removedAt: 30), loss: .init(at: .seconds(32), cause: .overtaken)),
    PatienceRow(
        when: "configured: the operator's limit", configured: .seconds(6),
        head: head(heldSince: 24), loss: .init(at: .seconds(26), cause: .overtaken)),
    PatienceRow(
        when: "configured longer than the window: the window", configured: .seconds(600),
        head: head(heldSince: 24), loss: .init(at: .seconds(44), cause: .overtaken)),
    PatienceRow(
        when: "configured shorter than the head: at once", configured: .zero,
        head: head(heldSince: 24), loss: .init(at: .seconds(24), cause: .overtaken)),
    PatienceRow(
        when: "segments of a second: five seconds", target: 1,
        head: head(lasting: 1, heldSince: 24), loss: .init(at: .seconds(28), cause: .overtaken)),
    PatienceRow(
        when: "segments of a second, configured: the operator's limit", configured: .seconds(3), target: 1,
        head: head(lasting: 1, heldSince: 24), loss: .init(at: .seconds(26), cause: .overtaken)),
    PatienceRow(
        when: "segments of two seconds: three target durations", target: 2,
        head: head(lasting: 2, heldSince: 24), loss: .init(at: .seconds(28), cause: .overtaken)),
    PatienceRow(
        when: "a Retry-After of three seconds changes nothing",
        head: head(heldSince: 24, retryAfter: 3), loss: .init(at: .seconds(32), cause: .overtaken)),
    PatienceRow(
        when: "a long Retry-After: twice as long",
        head: head(heldSince: 24, retryAfter: 8), loss: .init(at: .seconds(36), cause: .overtaken)),
    PatienceRow(
        when: "a Retry-After of most of the window: the window",
        head: head(heldSince: 24, retryAfter: 20), loss: .init(at: .seconds(44), cause: .overtaken)),
    PatienceRow(
        when: "a Retry-After beyond the window changes nothing",
        head: head(heldSince: 24, retryAfter: 21), loss: .init(at: .seconds(32), cause: .overtaken)),
    PatienceRow(
        when: "a long Retry-After, configured: the operator's limit", configured: .seconds(6),
        head: head(heldSince: 24, retryAfter: 8), loss: .init(at: .seconds(26), cause: .overtaken)),
    PatienceRow(
        when: "a finished playlist: a slow segment is waited for", isFinished: true,
        head: head(heldSince: 24), loss: nil),
    PatienceRow(
        when: "a finished playlist: an error is waited out for a minute", isFinished: true,
        head: head(heldSince: 24, failedAt: 20), loss: .init(at: .seconds(80), cause: .overtaken)),
    PatienceRow(
        when: "a finished playlist: a refusal for three target durations", isFinished: true,
        head: head(failedAt: 20, isRefused: true), loss: .init(at: .seconds(32), cause: .overtaken)),
]

@Test(arguments: patienceRows.indices)
func lossOfTheHead(row: Int) {
    let row = patienceRows[row]
    let patience = SegmentPatience(
        configured: row.configured, targetDuration: .seconds(row.target), window: .seconds(row.target * 6),
        isFinished: row.isFinished)
    #expect(patience.loss(of: row.head) == row.loss, "\(row.when)")
}

// MARK: - Late requests

@Test(
    arguments: [
        ("no fetch has ended", [], 3.0), ("fast fetches", Array(repeating: 0.1, count: 32), 1.2),
        ("with few fetches, the longest counts", [0.1, 0.9], 2.7),
        ("one slow fetch of 32 is no rule", Array(repeating: 0.5, count: 31) + [9], 1.5),
        ("fetches before the last 32 do not count", [9, 9, 9] + Array(repeating: 0.5, count: 32), 1.5),
    ] as [(String, [Double], Double)])
func fetchIsLateAfterThreeTimesThe95thPercentile(when: String, durations: [Double], late: Double) {
    var times = TransferTimes()
    for duration in durations { times.append(.milliseconds(Int(duration * 1000))) }
    #expect(times.lateAfter == .milliseconds(Int(late * 1000)), "\(when)")
}

@Test func silenceLimitGrowsAfterTheSecondTimeout() {
    var times = TransferTimes()
    times.append(.seconds(0.1))
    let limits = (0...5).map { times.silenceLimit(after: $0) / .seconds(1) }
    #expect(limits == [1.2, 1.2, 2.4, 4.8, 8, 8])
}
