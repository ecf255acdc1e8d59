import Playlist
import Testing

@testable import Fetch
@testable import Support
@testable import Tracker

/// The target duration is 6 s, and an outage begins after 21 s of silence. A backup is alive once its playlist has
/// grown by one segment.
private let failoverRows: [ChannelRow] = [
    ChannelRow(when: "a healthy upstream: only its segments", seconds: 30, delivers: "p104 p105 p106 p107 p108 p109"),
    ChannelRow(
        when: "a dead upstream: the first backup takes over at its live edge",
        sources: ChannelOrigins().with { $0.primary.instead = down(14..<900) }, seconds: 60,
        delivers: "p104 p105 p106 p107 a108 a109 a110 a111 a112 a113 a114"),
    ChannelRow(
        when: "dated sources: the backup goes on where the upstream stopped",
        sources: ChannelOrigins().with {
            $0.primary.instead = down(14..<900)
            $0.primary.tags = dated()
            $0.backupA.tags = dated(every: 3)
        }, seconds: 60, delivers: "p104 p105 p106 p107 a108 a109 a110 a111 a112 a113 a114"),
    ChannelRow(
        when: "dated sources with other segment boundaries: the backup goes on where the upstream stopped",
        sources: ChannelOrigins().with {
            $0.primary.instead = down(14..<900)
            $0.primary.tags = dated()
            $0.backupA.tags = dated(ahead: 2)
        }, seconds: 60, delivers: "p104 p105 p106 p107 a108 a109 a110 a111 a112 a113 a114"),
    ChannelRow(
        when: "the backup's window begins after the published edge: all of it is delivered",
        sources: ChannelOrigins().with {
            $0.primary.instead = down(14..<900)
            $0.primary.tags = dated()
            $0.backupA.tags = dated()
            $0.backupA.windowLength = 2
        }, seconds: 60, delivers: "p104 p105 p106 p107 a108 a109 a110 a111 a112 a113 a114"),
    ChannelRow(
        when: "a backup that lags: nothing that was published is published again",
        sources: ChannelOrigins().with {
            $0.primary.instead = down(14..<900)
            $0.primary.tags = dated()
            $0.backupA.tags = dated()
            $0.backupA.edge = 103
        }, seconds: 60, delivers: "p104 p105 p106 p107 a108 a109 a110 a111"),
    ChannelRow(
        when: "a backup whose clock is an hour off: joined at its live edge",
        sources: ChannelOrigins().with {
            $0.primary.instead = down(14..<900)
            $0.primary.tags = dated()
            $0.backupA.tags = dated(ahead: 3600)
        }, seconds: 60, delivers: "p104 p105 p106 p107 a108 a109 a110 a111 a112 a113 a114"),
    ChannelRow(
        when: "the first backup is unreachable: the second takes over",
        sources: ChannelOrigins().with {
            $0.primary.instead = down(14..<900)
            $0.backupA.instead = down(0..<900)
        }, seconds: 60,
        delivers: "p104 p105 p106 p107 b108 b109 b110 b111 b112 b113"),
    ChannelRow(
        when: "the first backup serves a playlist that does not grow: the second takes over",
        sources: ChannelOrigins().with {
            $0.primary.instead = down(14..<900)
            $0.backupA.stopsAt = .zero
        }, seconds: 90,
        delivers: "p104 p105 p106 p107 b113 b114 b115 b116 b117 b118 b119"),
    ChannelRow(
        when: "the upstream recovers before the backup has grown: no switch",
        sources: ChannelOrigins().with {
            $0.primary.instead = down(14..<36)
            $0.backupA.latency = { _ in .seconds(9) }
        }, seconds: 50,
        delivers: "p104 p105 p106 p107 p108 p109 p110 p111 p112 p113"),
    ChannelRow(
        when: "an upstream that cannot be opened: the backup is published",
        sources: ChannelOrigins().with { $0.primary.instead = down(0..<900) }, seconds: 30,
        delivers: "a104 a105 a106 a107 a108 a109"),
    ChannelRow(
        when: "no source can be opened: the channel fails",
        sources: ChannelOrigins().with {
            $0.primary.instead = down(0..<900)
            $0.backupA.instead = down(0..<900)
            $0.backupB.instead = down(0..<900)
        }, seconds: 300, delivers: "",
        end: .failed(TrackerError(.unreachable(.refused), url: ChannelOrigins.primaryURL))),
    ChannelRow(
        when: "every source is silent until the give-up limit: the channel gives up",
        sources: ChannelOrigins().with {
            $0.primary.instead = down(14..<900)
            $0.backupA.instead = down(0..<900)
            $0.backupB.instead = down(0..<900)
        }, seconds: 300, giveUp: .seconds(60),
        delivers: "p104 p105 p106 p107",
        end: .gaveUp(TrackerError(.silent(for: .seconds(60)), url: ChannelOrigins.primaryURL))),
    ChannelRow(
        when: "ENDLIST of the upstream: the channel ends",
        sources: ChannelOrigins().with {
            $0.primary.stopsAt = .seconds(12)
            $0.primary.endsWithList = true
        }, seconds: 40, delivers: "p104 p105 p106 p107 .", end: .drained),
    ChannelRow(
        when: "the backup ends during the upstream's outage: its playlist is not published again",
        sources: ChannelOrigins().with {
            $0.primary.instead = down(14..<900)
            $0.backupA.stopsAt = .seconds(48)
            $0.backupA.endsWithList = true
        }, seconds: 120, backups: 1, gapTolerance: .beforeGaps,
        delivers: "p104 p105 p106 p107 - a108 a109 a110 a111 a112 a113 - . - - - - - - - -"),
]

@Test(arguments: failoverRows)
private func channelDeliversTheFirstUsableSource(row: ChannelRow) async throws { try await row.check() }

@Test func healthyPrimaryLeavesBackupsAlone() async throws {
    let simulation = try await ChannelSimulation(ChannelOrigins(), seconds: 100)
    #expect(simulation.requests.allSatisfy { $0.request.url.hasPrefix("http://primary.") })
}

@Test func deadSourcesAreTriedLessAndLessOften() async throws {
    let origins = ChannelOrigins().with {
        $0.primary.instead = down(14..<9000)
        $0.backupA.instead = down(0..<9000)
        $0.backupB.instead = down(0..<9000)
    }
    let simulation = try await ChannelSimulation(origins, seconds: 1000)
    let tries = simulation.requests.count { $0.request.purpose == .multivariantPlaylist }
    #expect(tries > 150 && tries < 400, "\(tries)")
    let trials = simulation.times { if case .trialStarted = $0 { true } else { false } }
    #expect(trials.count == 2, "each backup reported once")
    #expect(simulation.requests.count < 700, "\(simulation.requests.count)")
}

/// Primary and backup end while the primary is unreachable. When it is reachable again, all of it is published already.
@Test func primaryEndThatABackupPublishedEndsTheChannel() async throws {
    let origins = ChannelOrigins().with {
        for origin in [\ChannelOrigins.primary, \.backupA] {
            $0[keyPath: origin].tags = dated()
            $0[keyPath: origin].stopsAt = .seconds(48)
            $0[keyPath: origin].endsWithList = true
        }
        $0.primary.instead = down(14..<90)
    }
    let simulation = try await ChannelSimulation(origins, seconds: 260, backups: 1)
    #expect(simulation.end == .drained)
    let numbers = simulation.trace.split(separator: " ").compactMap { Int($0.drop { !$0.isNumber }) }
    #expect(numbers.last == 113 && zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 + 1 }, "\(simulation.trace)")
    #expect(simulation.trace.hasSuffix("."), "\(simulation.trace)")
}

/// The backup dies, and the primary, published again, has one more segment and an ENDLIST by then.
@Test func endedChannelRequestsNothing() async throws {
    let origins = ChannelOrigins().with {
        $0.primary.instead = down(14..<100)
        $0.primary.windowLength = 1
        $0.primary.stopsAt = .seconds(90)
        $0.primary.endsWithList = true
        $0.backupA.instead = down(60..<900)
    }
    let simulation = try await ChannelSimulation(origins, seconds: 400, backups: 1)
    #expect(simulation.switches == [1, 0] && simulation.end == .drained, "\(simulation.trace)")
    let ended = try #require(simulation.events.last?.at)
    #expect(simulation.requests.allSatisfy { $0.at < ended })
}
