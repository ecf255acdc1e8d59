import Testing

@testable import Tracker

typealias StallRow = (when: String, giveUp: Duration?, at: [Duration], steps: [[StallEscalation.Step]])

/// Target duration 6 s; the list grew at 0 s.
let stallRows: [StallRow] = [
    ("on time", nil, [.seconds(8)], [[]]),
    ("late at one and a half", nil, [.seconds(9)], [[.late]]),
    ("once only", nil, [.seconds(9), .seconds(10)], [[.late], []]),
    (
        "step by step", nil, [.seconds(9), .seconds(12), .seconds(18), .seconds(21), .seconds(900)],
        [[.late], [.redundantVariant], [.reloadMultivariant], [.outage], []]
    ),
    ("all at once after a hang", nil, [.seconds(21)], [[.late, .redundantVariant, .reloadMultivariant, .outage]]),
    (
        "hope lost", .seconds(60), [.seconds(59), .seconds(60)],
        [Array(StallEscalation.Step.allCases.dropLast()), [.giveUp]]
    ),
    (
        "never before an outage", .seconds(5), [.seconds(20), .seconds(21)],
        [
            [.late, .redundantVariant, .reloadMultivariant], [.outage, .giveUp],
        ]
    ),
]

@Test(arguments: stallRows)
func stallSteps(when: String, giveUp: Duration?, at times: [Duration], steps: [[StallEscalation.Step]]) {
    var ladder = StallEscalation(giveUp: giveUp)
    #expect(ladder.restart(targetDuration: .seconds(6), at: .zero) == nil)
    #expect(times.map { ladder.escalate(at: $0) } == steps, "\(when)")
}

@Test func growthTakesTheLadderAway() {
    var ladder = StallEscalation(giveUp: nil)
    #expect(ladder.escalate(at: .seconds(99)).isEmpty, "nothing is expected before joining")
    #expect(ladder.restart(targetDuration: .seconds(6), at: .seconds(100)) == nil)
    #expect(ladder.nextDeadline == .seconds(109))
    #expect(ladder.escalate(at: .seconds(112)) == [.late, .redundantVariant])
    #expect(ladder.restart(targetDuration: .seconds(6), at: .seconds(113)) == .seconds(13))
    #expect(ladder.restart(targetDuration: .seconds(6), at: .seconds(119)) == nil, "it was on time")
    ladder.stop()
    #expect(ladder.nextDeadline == nil)
}
