import ChannelTestSupport
import Mux
import TestSupport
import Testing

@testable import Channel
@testable import Conformance

/// The transport stream of every capture, judged by the checker that shares no code with the multiplexer.
@Suite struct TransportStreamConformanceTests {
    /// A capture whose transport stream has faults, which come from its upstream.
    struct Exemption: Sendable {
        let faults: Set<TransportIndicator>
        let because: String
    }

    private static let outage = Exemption(
        faults: [.clockRepetition, .clockDiscontinuity],
        because: "the clock runs on while the upstream is out, and the gap has no packets")

    static let exemptions: [String: Exemption] = [
        "interleave": Exemption(
            faults: [.bufferUnderflow, .clockRepetition],
            because: """
                the upstream multiplexes the audio a second after its video, and PCR leads by 0.7 s; the audio that \
                comes late comes at once, which the checker takes for a second without PCR
                """)
    ]

    @Test(arguments: CaptureRow.all) func checkerFindsNothing(_ row: CaptureRow) async throws {
        let output = try await TransportStreamCaptureTests.output(of: row)
        var checker = TransportChecker()
        var faults: [TransportFault] = []
        for segment in output.segments { faults += checker.check(segment.transport.bytes) }
        faults += checker.finish()
        let exemption = Self.exemptions[row.capture.name] ?? (row.hasOutageGaps ? Self.outage : nil)
        let found = faults.prefix(5).map { "\($0.packet), \($0.pid ?? 0): \($0.indicator) \($0.message)" }
        #expect(Set(checker.report.counts.keys).isSubset(of: exemption?.faults ?? []), "\(found)")
        #expect(exemption == nil || checker.report.faults > 0, "needs no exemption: \(exemption?.because ?? "")")
        #expect(checker.report.unjudged == 0 && checker.report.programs == 1)
    }
}
