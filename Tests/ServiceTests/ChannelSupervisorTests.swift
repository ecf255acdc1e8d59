import Support
import Testing

@testable import Service

private typealias Input = ChannelSupervisor.Input
private typealias Effect = ChannelSupervisor.Effect
private typealias Run = ChannelSupervisor.Run

private func run(_ channel: String, _ number: UInt64 = 1) -> Run { Run(channel: channel, number: number) }

private func asks(_ channel: String, _ id: UInt64, stream: Bool = false) -> Input {
    .requested(channel, waiter: id, isStream: stream)
}

/// A request at 0 s that starts the channel, which publishes at 1 s.
private let started: [(Int, Input)] = [(0, asks("a", 1)), (1, .published(run("a")))]

struct SupervisorRow: Sendable {
    let when: String
    var idle = 30
    var startLimit = 15
    var maxRunning: Int?
    var keepWarm = 0
    var connections: [String: Int] = [:]
    let inputs: [(second: Int, input: ChannelSupervisor.Input)]
    /// The effects of the last input.
    let yields: [ChannelSupervisor.Effect]
    var wake: Int?

    init(
        _ when: String, idle: Int = 30, startLimit: Int = 15, maxRunning: Int? = nil, keepWarm: Int = 0,
        connections: [String: Int] = [:], _ inputs: [(Int, ChannelSupervisor.Input)],
        yields: [ChannelSupervisor.Effect], wake: Int? = nil
    ) {
        (self.when, self.idle, self.startLimit) = (when, idle, startLimit)
        (self.maxRunning, self.keepWarm, self.connections) = (maxRunning, keepWarm, connections)
        self.inputs = inputs.map { (second: $0.0, input: $0.1) }
        (self.yields, self.wake) = (yields, wake)
    }
}

private let startRows: [SupervisorRow] = [
    SupervisorRow("the first request starts the channel", [(0, asks("a", 1))], yields: [.start(run("a"))], wake: 15),
    SupervisorRow(
        "the second request waits for the same run", [(0, asks("a", 1)), (2, asks("a", 2))], yields: [], wake: 15),
    SupervisorRow(
        "both are answered when it publishes", [(0, asks("a", 1)), (2, asks("a", 2)), (3, .published(run("a")))],
        yields: [.answer(1, nil), .answer(2, nil)], wake: 15),
    SupervisorRow(
        "a later request is answered at once", started + [(2, asks("a", 2))], yields: [.answer(2, nil)], wake: 14),
    SupervisorRow(
        "nothing is published in time", [(0, asks("a", 1)), (15, .wake)], yields: [.answer(1, .startTimedOut)], wake: 45
    ),
    SupervisorRow(
        "the viewer asks again: the start goes on", [(0, asks("a", 1)), (15, .wake), (17, asks("a", 2))], yields: [],
        wake: 32),
    SupervisorRow(
        "nobody asks again", [(0, asks("a", 1)), (15, .wake), (45, .wake)], yields: [.end(run("a"))]),
    SupervisorRow(
        "the start fails", [(0, asks("a", 1)), (1, .ended(run("a"), failure: "no"))],
        yields: [.answer(1, .failed(reason: "no", retryAfter: .seconds(1)))], wake: 62),
    SupervisorRow(
        "a request during the pause", [(0, asks("a", 1)), (1, .ended(run("a"), failure: "no")), (1, asks("a", 2))],
        yields: [.answer(2, .failed(reason: "no", retryAfter: .seconds(1)))]),
    SupervisorRow(
        "a request after the pause", [(0, asks("a", 1)), (1, .ended(run("a"), failure: "no")), (2, asks("a", 2))],
        yields: [.start(run("a", 2))]),
    SupervisorRow(
        "the second pause is longer",
        [
            (0, asks("a", 1)), (1, .ended(run("a"), failure: "no")), (2, asks("a", 2)),
            (3, .ended(run("a", 2), failure: "no")),
        ], yields: [.answer(2, .failed(reason: "no", retryAfter: .seconds(2)))]),
    SupervisorRow(
        "a failure is forgotten", [(0, asks("a", 1)), (1, .ended(run("a"), failure: "no")), (62, .wake)], yields: []),
]

private let endRows: [SupervisorRow] = [
    SupervisorRow("no request for a while: the viewer has left", started + [(13, .wake)], yields: [], wake: 31),
    SupervisorRow("the idle time is over", started + [(13, .wake), (31, .wake)], yields: [.end(run("a"))]),
    SupervisorRow("the timer came late", started + [(40, .wake)], yields: [.end(run("a"))]),
    SupervisorRow(
        "a request in the idle time", started + [(13, .wake), (30, asks("a", 2)), (31, .wake)], yields: [], wake: 42),
    SupervisorRow(
        "an open stream", started + [(2, .streamOpened(run("a"))), (90, .wake)], yields: []),
    SupervisorRow(
        "the stream was closed", started + [(2, .streamOpened(run("a"))), (90, .streamClosed(run("a")))], yields: [],
        wake: 120),
    SupervisorRow(
        "the idle time after the stream",
        started + [(2, .streamOpened(run("a"))), (90, .streamClosed(run("a"))), (120, .wake)],
        yields: [.end(run("a"))]),
    SupervisorRow(
        "a request while the run ends", started + [(31, .wake), (32, asks("a", 2))], yields: [], wake: 47),
    SupervisorRow(
        "the next run begins after the end of the last",
        started + [(31, .wake), (32, asks("a", 2)), (33, .ended(run("a"), failure: nil))],
        yields: [.start(run("a", 2))]),
    SupervisorRow("the run is over", started + [(31, .wake), (33, .ended(run("a"), failure: nil))], yields: []),
    SupervisorRow("the list has another URL", started + [(2, .retired("a"))], yields: [.end(run("a"))]),
    SupervisorRow(
        "no idle time at all", idle: 0, [(0, asks("a", 1)), (1, .published(run("a")))],
        yields: [.answer(1, nil), .end(run("a"))]),
    SupervisorRow("kept warm", keepWarm: 1, started + [(13, .wake), (500, .wake)], yields: []),
    SupervisorRow(
        "of two, that watched last is kept warm", keepWarm: 1,
        started + [(2, asks("b", 2)), (3, .published(run("b", 2))), (60, .wake)], yields: [.end(run("a"))]),
]

private let limitRows: [SupervisorRow] = [
    SupervisorRow(
        "one more than may run has to wait for a place", maxRunning: 1, started + [(2, asks("b", 2))], yields: [],
        wake: 4),
    SupervisorRow(
        "no place becomes free in time", maxRunning: 1, started + [(2, asks("b", 2)), (4, .wake)],
        yields: [.answer(2, .full(limit: 1))]),
    SupervisorRow(
        "the player closes the last channel after it has asked for the next", maxRunning: 1,
        [
            (0, asks("a", 1, stream: true)), (1, .published(run("a"))), (1, .streamOpened(run("a"))),
            (50, asks("b", 2)), (51, .streamClosed(run("a"))),
        ], yields: [.end(run("a"))]),
    SupervisorRow(
        "the next starts once the last has ended", maxRunning: 1,
        [
            (0, asks("a", 1, stream: true)), (1, .published(run("a"))), (1, .streamOpened(run("a"))),
            (50, asks("b", 2)), (51, .streamClosed(run("a"))), (52, .ended(run("a"), failure: nil)),
        ], yields: [.start(run("b", 2))]),
    SupervisorRow(
        "two wait: the first gets the place", maxRunning: 1,
        [
            (0, asks("a", 1, stream: true)), (1, .published(run("a"))), (1, .streamOpened(run("a"))),
            (50, asks("c", 2)), (50, asks("b", 3)), (51, .streamClosed(run("a"))), (52, .ended(run("a"), failure: nil)),
        ], yields: [.answer(3, .full(limit: 1)), .start(run("c", 2))]),
    SupervisorRow(
        "the one without a viewer ends", maxRunning: 1, started + [(14, asks("b", 2))], yields: [.end(run("a"))]),
    SupervisorRow(
        "the other starts once it has ended", maxRunning: 1,
        started + [(14, asks("b", 2)), (15, .ended(run("a"), failure: nil))], yields: [.start(run("b", 2))]),
    SupervisorRow(
        "a closed stream leaves its place at once", maxRunning: 1,
        [
            (0, asks("a", 1, stream: true)), (1, .published(run("a"))), (1, .streamOpened(run("a"))),
            (50, .streamClosed(run("a"))), (50, asks("b", 2)),
        ], yields: [.end(run("a"))]),
    SupervisorRow(
        "a third has to wait for a viewer to leave", maxRunning: 1,
        started + [(14, asks("b", 2)), (14, asks("c", 3)), (16, .wake)], yields: [.answer(3, .full(limit: 1))]),
    SupervisorRow(
        "the one that ends is asked for again, and its place is promised", maxRunning: 1,
        started + [(14, asks("b", 2)), (14, asks("a", 3)), (16, .wake)], yields: [.answer(3, .full(limit: 1))]),
    SupervisorRow(
        "it has ended, and waits for the one that was started in its place", maxRunning: 1,
        started + [
            (14, asks("b", 2)), (14, asks("a", 3)), (15, .ended(run("a"), failure: nil)),
            (15, .ended(run("b", 2), failure: "no")),
        ], yields: [.answer(2, .failed(reason: "no", retryAfter: .seconds(1))), .start(run("a", 3))]),
    SupervisorRow(
        "nobody waits for the place any more", startLimit: 1, maxRunning: 1,
        [
            (0, asks("a", 1, stream: true)), (0, .published(run("a"))), (0, .streamOpened(run("a"))),
            (50, asks("b", 2)), (51, .wake), (51, .streamClosed(run("a"))), (60, .wake),
        ], yields: [], wake: 81),
    SupervisorRow(
        "a failed channel has no place", maxRunning: 1,
        [(0, asks("a", 1)), (1, .ended(run("a"), failure: "no")), (1, asks("b", 2))], yields: [.start(run("b", 2))]),
    SupervisorRow(
        "the longest without a viewer ends", maxRunning: 2,
        started + [(2, asks("b", 2)), (3, .published(run("b", 2))), (20, asks("c", 3))], yields: [.end(run("a"))]),
]

private let leavingRows: [SupervisorRow] = [
    SupervisorRow(
        "the only viewer leaves while the channel starts", [(0, asks("a", 1)), (1, .abandoned("a", waiter: 1))],
        yields: [], wake: 31),
    SupervisorRow(
        "nobody waits for what is published",
        [(0, asks("a", 1)), (1, .abandoned("a", waiter: 1)), (2, .published(run("a")))],
        yields: [], wake: 31),
    SupervisorRow(
        "one of two leaves",
        [(0, asks("a", 1)), (0, asks("a", 2)), (1, .abandoned("a", waiter: 1)), (2, .published(run("a")))],
        yields: [.answer(2, nil)]),
    SupervisorRow(
        "it leaves again", [(0, asks("a", 1)), (1, .abandoned("a", waiter: 1)), (1, .abandoned("a", waiter: 1))],
        yields: [], wake: 31),
    SupervisorRow(
        "a channel that nobody waits for gives its place away", maxRunning: 1,
        [(0, asks("a", 1)), (1, .abandoned("a", waiter: 1)), (1, asks("b", 2))], yields: [.end(run("a"))]),
    SupervisorRow(
        "one that somebody waits for keeps it", maxRunning: 1,
        [(0, asks("a", 1)), (0, asks("a", 2)), (1, .abandoned("a", waiter: 1)), (1, asks("b", 3))], yields: [],
        wake: 3),
    SupervisorRow(
        "the client that waits for a place leaves", maxRunning: 1,
        [(0, asks("a", 1)), (1, asks("b", 2)), (1, .abandoned("b", waiter: 2)), (1, .ended(run("a"), failure: "no"))],
        yields: [.answer(1, .failed(reason: "no", retryAfter: .seconds(1)))]),
]

private let always = Input.demanded(["a": .init(isAlways: true)])

private let demandRows: [SupervisorRow] = [
    SupervisorRow("a channel that always runs starts", [(0, always)], yields: [.start(run("a"))]),
    SupervisorRow("it needs no viewer", [(0, always), (1, .published(run("a"))), (500, .wake)], yields: []),
    SupervisorRow(
        "its start fails: it pauses", [(0, always), (1, .ended(run("a"), failure: "no"))], yields: [], wake: 2),
    SupervisorRow(
        "it is started again", [(0, always), (1, .ended(run("a"), failure: "no")), (2, .wake)],
        yields: [.start(run("a", 2))]),
    SupervisorRow(
        "what it published for a moment is no success",
        [
            (0, always), (1, .ended(run("a"), failure: "no")), (2, .wake), (3, .published(run("a", 2))),
            (4, .ended(run("a", 2), failure: "no")),
        ], yields: [], wake: 6),
    SupervisorRow(
        "what it published for long is one",
        [
            (0, always), (1, .ended(run("a"), failure: "no")), (2, .wake), (3, .published(run("a", 2))),
            (90, .ended(run("a", 2), failure: "no")),
        ], yields: [], wake: 91),
    SupervisorRow(
        "its entry changes: the next run follows",
        [(0, always), (1, .published(run("a"))), (2, .retired("a")), (2, always), (3, .ended(run("a"), failure: nil))],
        yields: [.start(run("a", 2))]),
    SupervisorRow(
        "its entry changes while it pauses",
        [(0, always), (1, .ended(run("a"), failure: "no")), (1, .retired("a")), (1, always)],
        yields: [.start(run("a", 2))]),
    SupervisorRow(
        "it leaves the list",
        [
            (0, always), (1, .published(run("a"))), (2, .retired("a")), (2, .demanded(["a": .init()])),
            (3, .ended(run("a"), failure: nil)),
        ],
        yields: []),
    SupervisorRow(
        "it does not always run any more", [(0, always), (1, .published(run("a"))), (50, .demanded(["a": .init()]))],
        yields: [],
        wake: 80),
    SupervisorRow(
        "and its idle time is over",
        [(0, always), (1, .published(run("a"))), (50, .demanded(["a": .init()])), (80, .wake)],
        yields: [.end(run("a"))]),
    SupervisorRow(
        "a channel that lingers is to run always", started + [(13, .wake), (20, always), (500, .wake)], yields: []),
    SupervisorRow(
        "it has a place", maxRunning: 1, [(0, always), (1, .published(run("a"))), (2, asks("b", 1)), (4, .wake)],
        yields: [.answer(1, .full(limit: 1))]),
    SupervisorRow(
        "there is no place for it", maxRunning: 1, [(0, asks("b", 1)), (1, always)], yields: []),
    SupervisorRow(
        "there is a place for it", maxRunning: 1,
        [(0, asks("b", 1)), (1, always), (2, .ended(run("b"), failure: "no"))],
        yields: [.answer(1, .failed(reason: "no", retryAfter: .seconds(1))), .start(run("a", 2))]),
    SupervisorRow(
        "an idle time of its own", [(0, .demanded(["a": .init(idle: .seconds(100))]))] + started + [(13, .wake)],
        yields: [], wake: 101),
]

/// The account of channels `a`, `b` and `c`; `x` and `y` have none, `z` has another one.
private let members: [(Int, Input)] = [
    (
        0,
        .demanded([
            "a": .init(account: "one"), "b": .init(account: "one"), "c": .init(account: "one"),
            "z": .init(account: "two"),
        ])
    )
]

/// A stream of `a`, the account's first connection.
private let streaming =
    members + [
        (0, asks("a", 1, stream: true)), (1, .published(run("a"))), (1, .streamOpened(run("a"))),
    ]

private let accountRows: [SupervisorRow] = [
    SupervisorRow(
        "one more than the account has waits for a place", connections: ["one": 1], streaming + [(2, asks("b", 2))],
        yields: [], wake: 4),
    SupervisorRow(
        "no connection becomes free in time", connections: ["one": 1], streaming + [(2, asks("b", 2)), (4, .wake)],
        yields: [.answer(2, .accountFull("one", connections: 1))]),
    SupervisorRow(
        "another channel needs no connection of it", connections: ["one": 1], streaming + [(2, asks("x", 2))],
        yields: [.start(run("x", 2))]),
    SupervisorRow(
        "another account has its own", connections: ["one": 1, "two": 1], streaming + [(2, asks("z", 2))],
        yields: [.start(run("z", 2))]),
    SupervisorRow(
        "a channel of the account that waits does not hold up the others", connections: ["one": 1],
        streaming + [(2, asks("b", 2)), (3, asks("x", 3))], yields: [.start(run("x", 2))]),
    SupervisorRow(
        "the one without a viewer ends", connections: ["one": 1],
        members + started + [(14, asks("b", 2))], yields: [.end(run("a"))]),
    SupervisorRow(
        "close, then open", connections: ["one": 1],
        members + started + [(14, asks("b", 2)), (15, .ended(run("a"), failure: nil))],
        yields: [.start(run("b", 2))]),
    SupervisorRow(
        "an idle channel without the account stays", connections: ["one": 1],
        members + [(0, asks("x", 9)), (0, .published(run("x")))]
            + [(20, asks("a", 1, stream: true)), (20, .published(run("a", 2))), (20, .streamOpened(run("a", 2)))]
            + [(25, asks("b", 2))], yields: [], wake: 27),
    SupervisorRow(
        "of three, the longest without a viewer ends", connections: ["one": 2],
        members + started + [(2, asks("b", 2)), (3, .published(run("b", 2))), (20, asks("c", 3))],
        yields: [.end(run("a"))]),
    SupervisorRow(
        "an account without a limit", connections: ["two": 1], streaming + [(2, asks("b", 2))],
        yields: [.start(run("b", 2))]),
    SupervisorRow(
        "the panel permits fewer: nothing ends, and the next has to wait", connections: ["one": 2],
        streaming + [(2, asks("b", 2)), (3, .published(run("b", 2))), (4, .connected(["one": 1])), (5, asks("c", 3))],
        yields: [], wake: 7),
    SupervisorRow(
        "the panel permits more: who waits gets a place", connections: ["one": 1],
        streaming + [(2, asks("b", 2)), (3, .connected(["one": 2]))], yields: [.start(run("b", 2))]),
    SupervisorRow(
        "the account is full, and so is the process: one end makes room in both", maxRunning: 2,
        connections: ["one": 1],
        members + [
            (0, asks("a", 1)), (0, .published(run("a"))), (0, asks("x", 2, stream: true)),
            (0, .published(run("x", 2))), (0, .streamOpened(run("x", 2))), (20, asks("b", 3)),
        ], yields: [.end(run("a"))]),
    SupervisorRow(
        "the process is full, and the account is not", maxRunning: 1, connections: ["one": 1],
        members + [
            (0, asks("x", 1, stream: true)), (0, .published(run("x"))), (0, .streamOpened(run("x"))),
            (2, asks("a", 2)), (4, .wake),
        ], yields: [.answer(2, .full(limit: 1))]),
    SupervisorRow(
        "a channel that always runs waits for its connection", connections: ["one": 1],
        streaming + [(2, .demanded(["b": .init(isAlways: true, account: "one")]))], yields: []),
    SupervisorRow(
        "it starts as soon as there is one", connections: ["one": 1],
        streaming + [
            (2, .demanded(["b": .init(isAlways: true, account: "one")])), (3, .ended(run("a"), failure: "gone")),
        ], yields: [.start(run("b", 2))]),
    SupervisorRow(
        "a failed channel leaves its connection", connections: ["one": 1],
        members + [(0, asks("a", 1)), (1, .ended(run("a"), failure: "no")), (1, asks("b", 2))],
        yields: [.start(run("b", 2))]),
]

@Suite struct ChannelSupervisorTests {
    @Test(arguments: startRows + endRows + limitRows + leavingRows + demandRows + accountRows)
    func lastInput(_ row: SupervisorRow) {
        var supervisor = ChannelSupervisor(
            .init(
                idle: .seconds(row.idle), startLimit: .seconds(row.startLimit), maxRunning: row.maxRunning,
                keepWarm: row.keepWarm))
        if !row.connections.isEmpty { _ = supervisor.handle(.connected(row.connections), at: .zero) }
        let effects = row.inputs.map { supervisor.handle($0.input, at: .seconds($0.second)) }
        #expect(effects.last == row.yields, "\(row.when)")
        if let wake = row.wake { #expect(supervisor.nextWake == .seconds(wake), "\(row.when)") }
    }

    @Test func idleChannelsAreNotStored() {
        var supervisor = ChannelSupervisor(.init())
        for (second, input) in started + [(31, Input.wake), (33, .ended(run("a"), failure: nil))] {
            _ = supervisor.handle(input, at: .seconds(second))
        }
        #expect(supervisor.channels.entries.isEmpty && supervisor.nextWake == nil)
    }

    @Test func streamsOfAnEarlierRunDoNotCount() {
        var supervisor = ChannelSupervisor(.init())
        let inputs: [(Int, Input)] = [
            (2, .streamOpened(run("a"))), (3, .ended(run("a"), failure: "gone")), (5, asks("a", 2)),
            (6, .published(run("a", 2))), (6, .streamOpened(run("a", 2))), (7, .streamClosed(run("a"))),
        ]
        for (second, input) in started + inputs { _ = supervisor.handle(input, at: .seconds(second)) }
        #expect(supervisor.channels["a"]?.streams == 1)
    }
}

/// The last failure of a channel, which the page shows until a success.
@Suite struct LastFailureTests {
    @Test func staysUntilTheChannelPublishes() {
        var supervisor = ChannelSupervisor(ChannelSupervisor.Policy())
        _ = supervisor.handle(asks("a", 1), at: .zero)
        _ = supervisor.handle(.ended(run("a"), failure: "gone"), at: .seconds(1))
        #expect(supervisor.failures["a"] == .init(reason: "gone", time: .seconds(1)))
        _ = supervisor.handle(.wake, at: .seconds(200))
        #expect(supervisor.channels["a"] == nil && supervisor.failures["a"] != nil, "it is idle again")
        _ = supervisor.handle(asks("a", 2), at: .seconds(201))
        #expect(supervisor.failures["a"] != nil, "it is tried again")
        _ = supervisor.handle(.published(run("a", 2)), at: .seconds(202))
        #expect(supervisor.failures["a"] == nil)
    }

    @Test func isForgottenWithTheChannel() {
        var supervisor = ChannelSupervisor(ChannelSupervisor.Policy())
        _ = supervisor.handle(asks("a", 1), at: .zero)
        _ = supervisor.handle(.ended(run("a"), failure: "gone"), at: .seconds(1))
        _ = supervisor.handle(.retired("a"), at: .seconds(2))
        #expect(supervisor.failures.isEmpty)
        let range = "a/archive-1767268800-60"
        _ = supervisor.handle(asks(range, 2), at: .seconds(3))
        _ = supervisor.handle(.ended(run(range, 2), failure: "gone"), at: .seconds(4))
        #expect(supervisor.failures[range] == nil || ProviderRange(name: range) == nil)
    }
}
