import Support
import Testing

@testable import Service

private typealias Input = ChannelSupervisor.Input
private typealias Run = ChannelSupervisor.Run

/// A situation with many channels, and an input whose cost must not depend on their number.
private struct SupervisorCost: CustomTestStringConvertible, Sendable {
    let testDescription: String
    var policy = ChannelSupervisor.Policy()
    /// Brings `count` channels into the situation, after their runs have published.
    var prepare: @Sendable (inout ChannelSupervisor, Int) -> Void = { _, _ in }
    let perform: @Sendable (inout ChannelSupervisor) -> Void

    /// The steps of the input with so many channels that run.
    func steps(_ count: Int) -> Int {
        var supervisor = ChannelSupervisor(policy)
        for index in 0..<count {
            let name = "c\(index)"
            _ = supervisor.handle(.requested(name, waiter: UInt64(index), isStream: true), at: .zero)
            _ = supervisor.handle(.published(Run(channel: name, number: UInt64(index + 1))), at: .zero)
        }
        prepare(&supervisor, count)
        return StepCounter.steps { perform(&supervisor) }
    }
}

private let costs: [SupervisorCost] = [
    SupervisorCost(testDescription: "nothing is due") { _ = $0.handle(.wake, at: .milliseconds(10)) },
    SupervisorCost(testDescription: "a playlist of a running channel") {
        _ = $0.recordRequest(of: "c5", at: .milliseconds(10))
    },
    SupervisorCost(testDescription: "a channel more") {
        _ = $0.handle(.requested("new", waiter: 1_000_000, isStream: false), at: .milliseconds(10))
    },
    SupervisorCost(testDescription: "a stream opens") {
        _ = $0.handle(.streamOpened(Run(channel: "c5", number: 6)), at: .milliseconds(10))
    },
    SupervisorCost(testDescription: "a stream closes") { supervisor in
        _ = supervisor.handle(.streamOpened(Run(channel: "c5", number: 6)), at: .milliseconds(10))
        _ = supervisor.handle(.streamClosed(Run(channel: "c5", number: 6)), at: .milliseconds(20))
    },
    SupervisorCost(testDescription: "a run fails") {
        _ = $0.handle(.ended(Run(channel: "c5", number: 6), failure: "no"), at: .milliseconds(10))
    },
    SupervisorCost(testDescription: "an entry changes") { _ = $0.handle(.retired("c5"), at: .milliseconds(10)) },
    SupervisorCost(
        testDescription: "nobody watches any channel, and one is asked for",
        prepare: { supervisor, _ in _ = supervisor.handle(.wake, at: .seconds(5)) },
        perform: { _ = $0.recordRequest(of: "c5", at: .seconds(6)) }),
    SupervisorCost(
        testDescription: "all channels are kept warm, and one more lingers", policy: .init(keepWarm: 100_000),
        prepare: { supervisor, _ in
            _ = supervisor.recordRequest(of: "c5", at: .milliseconds(500))
            _ = supervisor.handle(.wake, at: .seconds(5))
        }, perform: { _ = $0.handle(.wake, at: .seconds(40)) }),
    SupervisorCost(
        testDescription: "many requests wait for a place", policy: .init(maxRunning: 1),
        prepare: { supervisor, count in
            _ = supervisor.handle(.streamOpened(Run(channel: "c0", number: 1)), at: .zero)
            for index in 0..<count {
                _ = supervisor.handle(
                    .requested("w\(index)", waiter: UInt64(count + index), isStream: false), at: .milliseconds(1))
            }
        }, perform: { _ = $0.handle(.requested("new", waiter: 1_000_000, isStream: false), at: .milliseconds(10)) }),
    SupervisorCost(
        testDescription: "many requests wait for a connection of their account",
        prepare: { supervisor, count in
            _ = supervisor.handle(.connected(["one": 1]), at: .zero)
            let names = (0..<count).map { ("w\($0)", ChannelSupervisor.Demand(account: "one")) }
            _ = supervisor.handle(.demanded(Dictionary(uniqueKeysWithValues: names)), at: .zero)
            for index in 0..<count {
                _ = supervisor.handle(
                    .requested("w\(index)", waiter: UInt64(count + index), isStream: false), at: .milliseconds(1))
            }
        }, perform: { _ = $0.handle(.requested("new", waiter: 1_000_000, isStream: false), at: .milliseconds(10)) }),
    SupervisorCost(
        testDescription: "many always run", policy: .init(maxRunning: 1),
        prepare: { supervisor, count in
            let names = (0..<count).map { ("a\($0)", ChannelSupervisor.Demand(isAlways: true)) }
            _ = supervisor.handle(.demanded(Dictionary(uniqueKeysWithValues: names)), at: .milliseconds(1))
        },
        perform: { _ = $0.handle(.demanded(["a7": ChannelSupervisor.Demand()]), at: .milliseconds(10)) }),
]

@Suite struct ChannelSupervisorCostTests {
    @Test("An input costs the channels that it concerns", arguments: costs)
    fileprivate func steps(_ cost: SupervisorCost) {
        let steps = [1, 2, 4].map { cost.steps($0 * 500) }
        #expect(steps[0] <= 32 && steps.allSatisfy { $0 == steps[0] }, "\(steps)")
    }

    @Test("Every channel beyond the descriptors is refused") func descriptors() {
        var supervisor = ChannelSupervisor(.init(descriptorLimit: 20))
        var effects: [ChannelSupervisor.Effect] = []
        for index in 0..<420 {
            effects += supervisor.handle(
                .requested("c\(index)", waiter: UInt64(index), isStream: true), at: .milliseconds(index))
        }
        let starts = effects.count { if case .start = $0 { true } else { false } }
        effects = supervisor.handle(.wake, at: .seconds(3))
        let refusals = effects.count { if case .answer(_, .full(limit: 20)?) = $0 { true } else { false } }
        #expect(
            starts == 20 && refusals == 400 && supervisor.channels.entries.values.count { $0.state.run != nil } == 20)
    }
}
