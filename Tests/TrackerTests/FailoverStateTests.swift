import Playlist
import Testing

@testable import Fetch
@testable import Support
@testable import Tracker

private typealias State = FailoverState
private typealias Event = FailoverState.Event

/// Sessions with the primary (`p`) and two backups (`a`, `b`). Their fetch IDs tell them apart.
private struct Sessions {
    static func make(_ source: Int, number: UInt64) -> SourceSession {
        SourceSession(
            source: source, url: "http://source\(source).example/", policy: .init(variant: .highest), number: number)
    }

    let p = make(0, number: 0)
    let a = make(1, number: 1)
    let b = make(2, number: 2)
    let monitoring = PrimaryMonitor().started(make(0, number: 3))
    let lost = Predecessor(make(1, number: 4), lost: .drained)

    func trial(_ session: SourceSession) -> SourceTrial { SourceTrial(session, until: .seconds(30)) }

    /// A trial of another variant of the session's source.
    func variantTrial(_ session: SourceSession) -> SourceTrial {
        let variant = Variant(uri: "a.m3u8", bandwidth: 1)
        return SourceTrial(
            session, until: .seconds(30),
            otherVariant: OtherVariant(published: variant, edge: .edge, isReturn: false))
    }

    var states: [(name: String, state: State)] {
        [
            ("idle", .idle),
            ("on p", .onPrimary(p)),
            ("on a", .onBackup(a, PrimaryMonitor())),
            ("on a, p monitored", .onBackup(a, monitoring)),
            ("on p, trying a", .trying(trial(a), .source(p), nil)),
            ("on a, trying b", .trying(trial(b), .source(a), PrimaryMonitor())),
            ("on a, trying b, p monitored", .trying(trial(b), .source(a), monitoring)),
            ("on a, trying p", .trying(trial(p), .source(a), PrimaryMonitor())),
            ("trying b", .trying(trial(b), .none(after: lost), nil)),
            ("trying b, p monitored", .trying(trial(b), .none(after: lost), monitoring)),
            ("trying p", .trying(trial(p), .none(after: lost), nil)),
            ("on a, failing back to p", .failingBack(trial(p), from: a)),
            ("on p, trying a variant", .trying(variantTrial(Self.make(0, number: 5)), .source(p), nil)),
            ("on p, a variant returns", .failingBack(variantTrial(Self.make(0, number: 6)), from: p)),
            ("searching", .searching(after: lost, nil)),
            ("searching, p monitored", .searching(after: lost, monitoring)),
            ("ended", .ended(after: lost)),
        ]
    }

    var events: [(name: String, event: Event)] {
        let another = Self.make(0, number: 9)
        return [
            ("primaryOpened", .primaryOpened(another)),
            ("trialStarted p", .trialStarted(trial(another))),
            ("trialStarted a", .trialStarted(trial(Self.make(1, number: 8)))),
            ("trialStarted b", .trialStarted(trial(Self.make(2, number: 7)))),
            ("variant of p", .trialStarted(variantTrial(another))),
            ("variant of a", .trialStarted(variantTrial(Self.make(1, number: 8)))),
            ("variant of p returns", .failbackStarted(variantTrial(another))),
            ("failbackStarted p", .failbackStarted(trial(another))),
            ("failbackStarted b", .failbackStarted(trial(Self.make(2, number: 7)))),
            ("trialPassed", .trialPassed),
            ("trialEnded", .trialEnded),
            ("activeEnded", .activeEnded(.drained)),
            ("activeReopened p", .activeReopened(another)),
            ("activeReopened a", .activeReopened(Self.make(1, number: 8))),
            ("trialReopened p", .trialReopened(trial(another))),
            ("trialReopened b", .trialReopened(trial(Self.make(2, number: 7)))),
            ("monitorStarted", .monitorStarted(another)),
            ("monitorPaused", .monitorPaused(at: .seconds(1))),
            ("channelEnded", .channelEnded),
        ]
    }
}

/// The state in short: the case, the active source, `?` and the source on trial, `m` while the primary is monitored.
private func summary(_ state: State) -> String {
    let sources = ["p", "a", "b"]
    let name =
        switch state {
        case .idle: "idle"
        case .onPrimary: "onPrimary"
        case .onBackup: "onBackup"
        case .trying: "trying"
        case .failingBack: "failingBack"
        case .searching: "searching"
        case .ended: "ended"
        }
    var text = name
    if let active = state.active { text += " " + sources[active.source] }
    if let trial = state.trial { text += " ?" + sources[trial.source] }
    if state.monitor?.session != nil { text += " m" }
    return text
}

/// Every legal pair of state and event, with the next state. All other pairs have no transition.
private let transitions: [String: [String: String]] = [
    "idle": ["primaryOpened": "onPrimary p"],
    "on p": [
        "activeReopened p": "onPrimary p",
        "trialStarted a": "trying p ?a", "trialStarted b": "trying p ?b", "activeEnded": "searching",
        "variant of p": "trying p ?p", "variant of p returns": "failingBack p ?p", "channelEnded": "ended",
    ],
    "on p, trying a variant": [
        "activeReopened p": "trying p ?p", "trialReopened p": "trying p ?p",
        "trialPassed": "onPrimary p", "trialEnded": "onPrimary p", "activeEnded": "trying ?p", "channelEnded": "ended",
    ],
    "on p, a variant returns": [
        "activeReopened p": "failingBack p ?p", "trialReopened p": "failingBack p ?p",
        "trialPassed": "onPrimary p", "trialEnded": "onPrimary p", "activeEnded": "trying ?p", "channelEnded": "ended",
    ],
    "on a": [
        "activeReopened a": "onBackup a", "variant of a": "trying a ?a",
        "trialStarted p": "trying a ?p", "trialStarted b": "trying a ?b", "activeEnded": "searching",
        "monitorStarted": "onBackup a m", "channelEnded": "ended",
    ],
    "on a, p monitored": [
        "activeReopened a": "onBackup a m", "variant of a": "trying a ?a m",
        "trialStarted p": "trying a ?p", "trialStarted b": "trying a ?b m", "failbackStarted p": "failingBack a ?p",
        "activeEnded": "searching m", "monitorPaused": "onBackup a", "channelEnded": "ended",
    ],
    "on p, trying a": [
        "activeReopened p": "trying p ?a",
        "trialPassed": "onBackup a", "trialEnded": "onPrimary p", "activeEnded": "trying ?a", "channelEnded": "ended",
    ],
    "on a, trying b": [
        "activeReopened a": "trying a ?b", "trialReopened b": "trying a ?b",
        "trialPassed": "onBackup b", "trialEnded": "onBackup a", "activeEnded": "trying ?b",
        "monitorStarted": "trying a ?b m", "channelEnded": "ended",
    ],
    "on a, trying b, p monitored": [
        "activeReopened a": "trying a ?b m", "trialReopened b": "trying a ?b m",
        "failbackStarted p": "failingBack a ?p", "trialPassed": "onBackup b m", "trialEnded": "onBackup a m",
        "activeEnded": "trying ?b m", "monitorPaused": "trying a ?b", "channelEnded": "ended",
    ],
    "on a, trying p": [
        "activeReopened a": "trying a ?p", "trialReopened p": "trying a ?p",
        "trialPassed": "onPrimary p", "trialEnded": "onBackup a", "activeEnded": "trying ?p", "channelEnded": "ended",
    ],
    "trying b": [
        "trialReopened b": "trying ?b",
        "trialPassed": "onBackup b", "trialEnded": "searching", "channelEnded": "ended",
    ],
    "trying b, p monitored": [
        "trialReopened b": "trying ?b m",
        "trialPassed": "onBackup b m", "trialEnded": "searching m", "channelEnded": "ended",
    ],
    "trying p": [
        "trialReopened p": "trying ?p",
        "trialPassed": "onPrimary p", "trialEnded": "searching", "channelEnded": "ended",
    ],
    "on a, failing back to p": [
        "activeReopened a": "failingBack a ?p", "trialReopened p": "failingBack a ?p",
        "trialPassed": "onPrimary p", "trialEnded": "onBackup a", "activeEnded": "trying ?p", "channelEnded": "ended",
    ],
    "searching": [
        "trialStarted p": "trying ?p", "trialStarted a": "trying ?a", "trialStarted b": "trying ?b",
        "channelEnded": "ended",
    ],
    "searching, p monitored": [
        "trialStarted p": "trying ?p", "trialStarted a": "trying ?a m", "trialStarted b": "trying ?b m",
        "channelEnded": "ended",
    ],
    "ended": [:],
]

@Test func everyStateAndEventHasItsTransitionOrNone() {
    let sessions = Sessions()
    for (name, state) in sessions.states {
        for (eventName, event) in sessions.events {
            let next = state.transition(on: event).map { summary($0.next) }
            #expect(next == transitions[name]?[eventName], "\(name): \(eventName)")
        }
    }
}

@Test func noTransitionHoldsASourceTwiceOrForgetsASession() {
    let sessions = Sessions()
    for (name, state) in sessions.states {
        for (eventName, event) in sessions.events {
            guard let transition = state.transition(on: event) else { continue }
            let next = transition.next
            let held = [next.active, next.trial?.session, next.monitor?.session].compactMap { $0 }
            let isOfVariant = [next.trial, state.trial].contains { $0?.otherVariant != nil }
            #expect(isOfVariant || Set(held.map(\.source)).count == held.count, "\(name): \(eventName)")
            let numbers = held.map { number(of: $0) }
            let abandoned = transition.abandoned.compactMap { $0 }.map { number(of: $0) }
            #expect(Set(numbers).isDisjoint(with: abandoned), "\(name): \(eventName)")
            // An active session that has ended by itself has nothing to cancel.
            let active = eventName == "activeEnded" ? nil : state.active
            let before = [active, state.trial?.session, state.monitor?.session].compactMap { $0 }
            #expect(before.allSatisfy { (numbers + abandoned).contains(number(of: $0)) }, "\(name): \(eventName)")
        }
    }
}

private func number(of session: SourceSession) -> UInt64 {
    (0..<10).first { session.owns(FetchID(number: $0 * FetchID.perSession)) } ?? .max
}
