import Playlist
import Testing

@testable import Fetch
@testable import Support
@testable import Tracker

/// The upstream's silence is none of its successor's: each source has the whole time of its trial, and then 21 s of silence of
/// its own, or 15 s without usable media.
private let successorRows: [(row: ChannelRow, switches: [Int])] = [
    (
        ChannelRow(
            when: "a backup whose answers take 5 s: it has its whole trial",
            sources: ChannelOrigins().with {
                $0.primary.instead = down(14..<900)
                $0.backupA.latency = { _ in .seconds(5) }
            }, seconds: 120,
            delivers:
                "p104 p105 p106 p107 a108 a109 a110 a111 a112 a113 a114 a115 a116 a117 a118 a119 a120 a121 a122 a123"),
        [1]
    ),
    (
        ChannelRow(
            when: "an upstream whose connections stay open without a byte: one source is lost, not two",
            sources: ChannelOrigins().with {
                $0.primary.instead = { request, now in now >= .seconds(14) ? failed(.timedOut, request) : nil }
                $0.backupA.latency = { _ in .seconds(5) }
            }, seconds: 120,
            delivers:
                "p104 p105 p106 p107 a108 a109 a110 a111 a112 a113 a114 a115 a116 a117 a118 a119 a120 a121 a122 a123"),
        [1]
    ),
    (
        ChannelRow(
            when: "a backup that is silent for 8 s right after the switch: it stays",
            sources: ChannelOrigins().with {
                $0.primary.instead = down(14..<900)
                $0.backupA.instead = down(44..<52)
            }, seconds: 120,
            delivers:
                "p104 p105 p106 p107 a108 a109 a110 a111 a112 a113 a114 a115 a116 a117 a118 a119 a120 a121 a122 a123 a124"
        ),
        [1]
    ),
    (
        ChannelRow(
            when: "a backup without usable media for 8 s right after the switch: it stays",
            sources: ChannelOrigins().with { $0.primary.instead = withoutMedia(14..<900) }, seconds: 120,
            outcome: unusable(44..<52, of: 1),
            delivers:
                "p104 p105 p106 p107 a109 a110 a111 a112 a113 a114 a115 a116 a117 a118 a119 a120 a121 a122 a123 a124"),
        [1]
    ),
    (
        ChannelRow(
            when: "a backup that fails for good right after the switch: the next after its own silence",
            sources: ChannelOrigins().with {
                $0.primary.instead = down(14..<900)
                $0.backupA.instead = down(44..<900)
            }, seconds: 120,
            delivers:
                "p104 p105 p106 p107 a108 a109 a110 a111 a112 b113 b114 b115 b116 b117 b118 b119 b120 b121 b122 b123 b124"
        ),
        [1, 2]
    ),
]

@Test(arguments: successorRows.indices) private func silenceDoesNotSurviveASwitch(row: Int) async throws {
    let (row, switches) = successorRows[row]
    let simulation = try await ChannelSimulation(
        row.sources, seconds: row.seconds, backups: row.backups, outcome: row.outcome)
    #expect(simulation.trace == row.delivers, "\(row.when)")
    #expect(simulation.switches == switches, "\(row.when)")
    let times = simulation.times { if case .sourceSwitched = $0 { true } else { false } }
    if let first = times.first, times.count > 1 { #expect(times[1] - first >= .seconds(13), "\(row.when): \(times)") }
    if switches == [1] { #expect(!simulation.requests.contains { $0.request.url.contains("backup-b") }, "\(row.when)") }
}

/// One source is asked again for as long as it is away, half an hour, and at no pace that could keep it away. Nothing of that
/// stays when it is back.
@Test(arguments: [("nothing answers", true, 200..<400), ("no segment can be had", false, 1800..<2600)])
func oneSourceIsAskedUntilItIsBack(when: String, isDown: Bool, requests: Range<Int>) async throws {
    let away = 14..<1814
    let origins = ChannelOrigins().with { $0.primary.instead = isDown ? down(away) : withoutMedia(away) }
    let simulation = try await ChannelSimulation(origins, seconds: 1880, backups: 0)
    #expect(simulation.end == nil, "\(when)")
    #expect(
        simulation.trace.contains("x1 |p402 p403 p404") || simulation.trace.contains("x294 |p402 p403 p404"), "\(when)")
    let asked = simulation.requests.count { away.contains(Int($0.at.components.seconds)) }
    #expect(requests.contains(asked), "\(when): \(asked)")
    #expect(simulation.status?.stall == nil, "\(when)")
    let outages = simulation.times { event in
        switch event {
        case .stalled(_, .outage, _), .mediaStalled(.outage, _, _): true
        default: false
        }
    }
    #expect(outages.count == 1, "\(when): one outage is reported once: \(outages)")
}
