import Testing

@testable import Fetch
@testable import Support
@testable import Tracker

@Test func primaryHealthyForAMinuteIsPublishedAgain() async throws {
    let origins = ChannelOrigins().with { $0.primary.instead = down(14..<80, 100..<110) }
    let simulation = try await ChannelSimulation(origins, seconds: 260)
    #expect(simulation.switches == [1, 0])
    let failback = try #require(simulation.times { $0 == .sourceSwitched(to: 0, url: ChannelOrigins.primaryURL) }.first)
    // The primary was late once more at 100 s, so the minute begins after that.
    #expect(failback > .seconds(170) && failback < .seconds(190), "\(failback)")
    let tokens = simulation.trace.split(separator: " ")
    #expect(
        tokens.filter { $0.hasPrefix("p") }.count == Set(tokens.filter { $0.hasPrefix("p") }).count, "no segment twice")
    #expect(tokens.last?.hasPrefix("p") == true)
    #expect(simulation.status?.failover?.source == 0 && simulation.status?.failover?.switches == 2)
}

/// The playlist of the primary is healthy all the time, so without a probe it would be published again every minute.
@Test func primaryWithUnusableMediaIsPublishedAgainOnceItIsUsable() async throws {
    let simulation = try await ChannelSimulation(ChannelOrigins(), seconds: 400, outcome: unusable(14..<250))
    #expect(simulation.switches == [1, 0])
    let failback = try #require(simulation.times { $0 == .sourceSwitched(to: 0, url: ChannelOrigins.primaryURL) }.first)
    #expect(failback > .seconds(250), "\(failback)")
    let failures = simulation.times { if case .sourceFailed(0, _) = $0 { true } else { false } }
    #expect(failures.count > 0, "reported")
}

@Test func datedSourcesLoseAndRepeatNothingOnFailoverAndFailback() async throws {
    let origins = ChannelOrigins().with {
        $0.primary.instead = down(14..<80)
        $0.primary.tags = dated()
        $0.backupA.tags = dated()
    }
    let simulation = try await ChannelSimulation(origins, seconds: 260)
    #expect(simulation.switches == [1, 0])
    let numbers = simulation.trace.split(separator: " ").compactMap { Int($0.drop { !$0.isNumber }) }
    #expect(numbers.count > 40 && zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 + 1 }, "\(simulation.trace)")
}

/// An operator who reads the counts an hour later still finds the fault.
@Test func countsOfASourceStayAfterASwitch() async throws {
    let origins = ChannelOrigins().with { $0.primary.instead = down(14..<80) }
    let simulation = try await ChannelSimulation(origins, seconds: 260)
    #expect(simulation.switches == [1, 0])
    let status = try #require(simulation.status)
    let main = try #require(status.renditions.first)
    let delivered = simulation.trace.split(separator: " ").count { $0 != "-" && $0 != "." }
    #expect(main.counts[.segmentsDelivered] == delivered && main.counts[.failedPlaylistLoads] > 3)
    #expect(status.faults.values.reduce(0, +) >= main.counts[.failedPlaylistLoads])
}

@Test func monitoredPrimaryHasNoSegmentFetched() async throws {
    let origins = ChannelOrigins().with { $0.primary.instead = down(14..<50) }
    let simulation = try await ChannelSimulation(origins, seconds: 100)
    let monitored = simulation.requests.filter { $0.at > .seconds(50) && $0.request.url.hasPrefix("http://primary.") }
    #expect(monitored.count > 5)
    #expect(monitored.allSatisfy { $0.request.purpose != .segment })
}
