import Foundation
import Support
import Testing

@testable import Service

private let one = HandoverState(channels: ["a": "/spool/a"])
private let offer = IncomingHandover.Input.message(.offer(format: HandoverMessage.format, one))
private let started: [IncomingHandover.Input] = [offer, .checked(refusal: nil), .message(.accept(one)), .started]

private let rows: [(when: String, inputs: [IncomingHandover.Input], last: [IncomingHandover.Effect])] = [
    ("an offer", [offer], [.check(one)]),
    (
        "an offer of another version", [.message(.offer(format: 9, one))],
        [
            .send(.refused(reason: "it hands over in format 9, and this is 1")),
            .end(reason: "it hands over in format 9, and this is 1"),
        ]
    ),
    ("the rings can be read", [offer, .checked(refusal: nil)], [.send(.ready)]),
    (
        "a ring is of a later version", [offer, .checked(refusal: "later")],
        [.send(.refused(reason: "later")), .end(reason: "later")]
    ),
    ("the connections are free", [offer, .checked(refusal: nil), .message(.accept(one))], [.start(one)]),
    ("the server runs", started, [.send(.accepting)]),
    ("a channel is released", started + [.message(.released(channel: "a"))], [.take(channel: "a")]),
    ("a channel is taken", started + [.taken(channel: "a")], [.send(.taken(channel: "a"))]),
    (
        "a channel cannot be published", started + [.failed(channel: "a", reason: "full")],
        [.send(.failed(channel: "a", reason: "full"))]
    ),
    ("everything is handed over", started + [.message(.completed)], [.becomeService]),
    ("the other process ends first", [.predecessorEnded], [.end(reason: "the running process has ended")]),
    (
        "the other process ends after its offer", [offer, .predecessorEnded, .checked(refusal: nil)],
        [.start(HandoverState())]
    ),
    (
        "the other process ends before it accepts nothing", [offer, .checked(refusal: nil), .predecessorEnded],
        [.start(HandoverState())]
    ),
    (
        "the other process ends while the server starts",
        [offer, .checked(refusal: nil), .message(.accept(one)), .predecessorEnded, .started],
        [.takeAll, .becomeService]
    ),
    ("the other process ends with channels", started + [.predecessorEnded], [.takeAll, .becomeService]),
    ("after the end", started + [.message(.completed), .predecessorEnded], []),
]

@Test(arguments: rows.indices) func channelsAreTakenOver(_ index: Int) {
    let row = rows[index]
    var handover = IncomingHandover()
    var effects: [IncomingHandover.Effect] = []
    for input in row.inputs { effects = handover.handle(input) }
    #expect(effects == row.last, "\(row.when)")
}

@Test func messagesAreLines() throws {
    let state = HandoverState(
        channels: ["news": "/spool/a \"b\"\n"], spool: "/spool", isTemporary: true, generation: 3,
        health: HealthHandover())
    let messages: [HandoverMessage] = [
        .offer(format: 1, state), .accept(state), .released(channel: "a"), .completed, .ready, .refused(reason: "no"),
        .accepting, .taken(channel: ""), .failed(channel: "a", reason: "b"),
    ]
    for message in messages {
        #expect(!message.line.contains(UInt8(ascii: "\n")))
        #expect(HandoverMessage(line: message.line) == message)
    }
    #expect(HandoverMessage(line: Data(#"{"later":{}}"#.utf8)) == nil)
}

/// A report that comes before the release counts after it, and only the first report counts.
@Test func channelIsReportedOnceAfterItsRelease() async {
    let (reports, report) = AsyncStream<String?>.makeStream()
    let early = ChannelPredecessor(in: "/a") { report.yield($0?.operatorText) }
    early.report(nil)
    early.report("a failure")
    early.release()
    let late = ChannelPredecessor(in: "/b") { report.yield($0?.operatorText) }
    late.release()
    late.report(nil)
    late.report("a failure")
    report.finish()
    let all = await reports.reduce(into: [String?]()) { $0.append($1) }
    #expect(all == ["a failure", nil])
}
