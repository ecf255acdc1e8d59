import Testing

@testable import Fetch
@testable import Support
@testable import Tracker

typealias StallRow = (when: String, giveUp: Duration?, at: [Duration], steps: [[StallEscalation.Step]])

/// Target duration 6 s; the playlist grew at 0 s.
let stallRows: [StallRow] = [
    ("on time", nil, [.seconds(8)], [[]]),
    ("late at 1.5 target durations", nil, [.seconds(9)], [[.late]]),
    ("each step once", nil, [.seconds(9), .seconds(10)], [[.late], []]),
    (
        "step by step", nil, [.seconds(9), .milliseconds(10_500), .seconds(12), .milliseconds(13_500), .seconds(900)],
        [[.late], [.redundantVariant], [.reloadMultivariant], [.outage], []]
    ),
    (
        "all steps at once after a hang", nil, [.seconds(14)],
        [[.late, .redundantVariant, .reloadMultivariant, .outage]]
    ),
    (
        "give up", .seconds(60), [.seconds(59), .seconds(60)],
        [Array(StallEscalation.Step.allCases.dropLast()), [.giveUp]]
    ),
    (
        "give up after the outage step", .seconds(5), [.seconds(20), .seconds(21)],
        [
            [.late, .redundantVariant, .reloadMultivariant, .outage], [.giveUp],
        ]
    ),
]

@Test(arguments: stallRows)
func stallSteps(when: String, giveUp: Duration?, at times: [Duration], steps: [[StallEscalation.Step]]) {
    var escalation = StallEscalation(giveUp: giveUp)
    #expect(escalation.restart(targetDuration: .seconds(6), at: .zero) == nil)
    #expect(times.map { escalation.escalate(at: $0) } == steps, "\(when)")
}

/// With a target duration of a second, an outage begins after 4 s, and a gap is listed after 5 s.
@Test func outageOfShortSegmentsBeginsAfterFourSeconds() {
    var escalation = StallEscalation(giveUp: .zero)
    _ = escalation.restart(targetDuration: .seconds(1), at: .zero)
    #expect(escalation.escalate(at: .milliseconds(3999)) == [.late, .redundantVariant, .reloadMultivariant])
    #expect(escalation.escalate(at: .seconds(4)) == [.outage, .giveUp])
}

@Test func growthRestartsTheEscalation() {
    var escalation = StallEscalation(giveUp: nil)
    #expect(escalation.escalate(at: .seconds(99)).isEmpty, "nothing is expected before joining")
    #expect(escalation.restart(targetDuration: .seconds(6), at: .seconds(100)) == nil)
    #expect(escalation.nextDeadline == .seconds(109))
    #expect(escalation.escalate(at: .seconds(112)) == [.late, .redundantVariant, .reloadMultivariant])
    #expect(escalation.restart(targetDuration: .seconds(6), at: .seconds(113)) == .seconds(13))
    #expect(escalation.restart(targetDuration: .seconds(6), at: .seconds(119)) == nil, "no step was taken")
    escalation.stop()
    #expect(escalation.nextDeadline == nil)
}
