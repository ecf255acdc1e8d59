import TestSupport
import Testing

@testable import Service

private let two = HandoverState(channels: ["a": "/spool/a", "b": "/spool/b"])

/// An input at a second.
private typealias Step = (at: Double, input: OutgoingHandover.Input)

private let ready: Step = (1, .message(.ready))
private let accepted: [Step] = [ready, (1, .stoppedAccepting(two)), (2, .message(.accepting))]
/// Both channels wait for a segment.
private let releasing: [Step] = accepted + [(3, .drained)]
private let offeredA: [Step] = releasing + [(4, .published(channel: "a")), (4, .closed(channel: "a"))]

private let rows: [(when: String, steps: [Step], last: [OutgoingHandover.Effect])] = [
    ("the new process is ready", [ready], [.stopAccepting]),
    ("nothing is accepted any more", [ready, (1, .stoppedAccepting(two))], [.send(.accept(two))]),
    ("the new process accepts", accepted, [.drain]),
    ("channels stay until connections are closed", accepted + [(3, .published(channel: "a"))], []),
    ("a channel has a segment", releasing + [(4, .published(channel: "a"))], [.release(channel: "a")]),
    (
        "it has another one before its ring is closed",
        releasing + [(4, .published(channel: "a")), (5, .published(channel: "a"))], []
    ),
    ("its ring is closed", offeredA, [.send(.released(channel: "a"))]),
    ("a channel ends by itself", releasing + [(4, .closed(channel: "b"))], [.send(.released(channel: "b"))]),
    ("one of two is taken", offeredA + [(5, .message(.taken(channel: "a")))], []),
    (
        "both are taken",
        offeredA + [
            (5, .message(.taken(channel: "a"))), (6, .published(channel: "b")), (6, .closed(channel: "b")),
            (7, .message(.taken(channel: "b"))),
        ], [.send(.completed), .complete]
    ),
    (
        "a process without channels",
        [ready, (1, .stoppedAccepting(HandoverState())), (2, .message(.accepting)), (2, .drained)],
        [.send(.completed), .complete]
    ),
    ("clients keep their connections", accepted + [(16.9, .wake)], []),
    (
        "clients keep their connections for too long", accepted + [(17, .wake), (17.1, .published(channel: "a"))],
        [.release(channel: "a")]
    ),
    ("no segment comes", releasing + [(18, .wake)], [.release(channel: "a"), .release(channel: "b")]),
    ("no segment of one channel comes", offeredA + [(18, .wake)], [.release(channel: "b")]),

    ("the new process ends at its start", [(1, .successorEnded(reason: "status 25"))], [.abandon(reason: "status 25")]),
    ("it refuses", [(1, .message(.refused(reason: "a later format")))], [.abandon(reason: "a later format")]),
    ("many rings are read", [(119, .wake)], []),
    ("it is not ready in time", [(120, .wake)], [.abandon(reason: "the new process was not ready in time")]),
    (
        "it ends when it is to accept", [ready, (1, .stoppedAccepting(two)), (2, .successorEnded(reason: "signal 9"))],
        [.takeBack(reason: "signal 9")]
    ),
    (
        "it does not accept in time", [ready, (1, .stoppedAccepting(two)), (31, .wake)],
        [.takeBack(reason: "the new process accepted no connections in time")]
    ),
    (
        "it ends while clients leave", accepted + [(5, .successorEnded(reason: "signal 9"))],
        [.takeBack(reason: "signal 9")]
    ),
    (
        "it ends when it has a channel", offeredA + [(5, .successorEnded(reason: "signal 9"))],
        [.takeBack(reason: "signal 9")]
    ),
    (
        "it cannot publish a channel", offeredA + [(5, .message(.failed(channel: "a", reason: "the disk is full")))],
        [.takeBack(reason: "a: the disk is full")]
    ),
    (
        "it does not take a channel in time", offeredA + [(18, .closed(channel: "b")), (78, .wake)],
        [.takeBack(reason: "a was not taken over in time")]
    ),
    ("after a failure", [(1, .successorEnded(reason: "")), ready], []),
]

@Test(arguments: rows.indices) func channelsAreHandedOver(_ index: Int) {
    let row = rows[index]
    var handover = OutgoingHandover(at: .zero)
    var effects: [OutgoingHandover.Effect] = []
    for step in row.steps { effects = handover.handle(step.input, at: .seconds(step.at)) }
    #expect(effects == row.last, "\(row.when)")
    let ends = row.last.contains { effect in
        switch effect {
        case .complete, .takeBack, .abandon: true
        default: false
        }
    }
    if ends { #expect(handover.isOver && handover.nextWake == nil, "\(row.when)") }
}

/// Whatever comes in which order, the handover ends, and no channel is released twice or belongs to nobody.
@Test(arguments: 0..<300) func everyHandoverEnds(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var handover = OutgoingHandover(at: .zero)
    var now = Duration.zero
    var (released, taken): (Set<String>, Set<String>) = ([], [])
    var end: [OutgoingHandover.Effect] = []
    var inputs: [OutgoingHandover.Input] = [.message(.ready)]
    for _ in 0..<400 where !handover.isOver {
        now += .milliseconds(Int.random(in: 0...900, using: &random))
        let name = ["a", "b"].randomElement(using: &random) ?? "a"
        if Int.random(in: 0..<200, using: &random) == 0 { inputs.append(.successorEnded(reason: "killed")) }
        if Int.random(in: 0..<4, using: &random) == 0 { inputs.append(.published(channel: name)) }
        if Int.random(in: 0..<30, using: &random) == 0 { inputs.append(.drained) }
        let input = inputs.isEmpty || Int.random(in: 0..<3, using: &random) == 0 ? .wake : inputs.removeFirst()
        for effect in handover.handle(input, at: now) {
            switch effect {
            case .stopAccepting: inputs.append(.stoppedAccepting(two))
            case .send(.accept): inputs.append(.message(.accepting))
            case .release(let channel):
                #expect(released.insert(channel).inserted, "seed \(seed): \(channel) is released twice")
                inputs.append(.closed(channel: channel))
            case .send(.released(let channel)):
                taken.insert(channel)
                if Int.random(in: 0..<20, using: &random) > 0 { inputs.append(.message(.taken(channel: channel))) }
            case .complete, .takeBack, .abandon: end.append(effect)
            case .send, .drain: break
            }
        }
    }
    #expect(end.count == 1, "seed \(seed): \(end)")
    if end == [.complete] { #expect(taken == ["a", "b"], "seed \(seed)") }
}
