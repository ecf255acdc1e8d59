import ChannelTestSupport
import Mux
import TestSupport
import Testing

@testable import Channel
@testable import Conformance
@testable import Export

/// The endless transport stream of every capture, judged by the checker that shares no code with the multiplexer.
@Suite struct TransportStreamConformanceTests {
    /// A capture whose transport stream has faults, which come from its upstream.
    struct Exemption: Sendable {
        let faults: Set<TransportIndicator>
        let because: String
    }

    static let exemptions: [String: Exemption] = [
        "interleave": Exemption(
            faults: [.bufferUnderflow, .clockRepetition],
            because: """
                the upstream multiplexes the audio a second after its video, and PCR leads by 0.7 s; the audio that \
                comes late comes at once, which the checker takes for a second without PCR
                """)
    ]

    /// What a client of the endless stream is sent.
    private static func packets(of output: TransportStreamCaptureTests.Output) -> [[UInt8]] {
        var clock = ClientClock()
        return output.segments.flatMap { segment in
            segment.transport.chunks.map { chunk in
                let placement = clock.append(from: chunk.start, lasting: chunk.duration)
                return TransportTimeShift.clock(placement.pause, of: segment.state.program)
                    + TransportTimeShift.packets(segment.transport.bytes[chunk.bytes], earlierBy: placement.shift)
            }
        }
    }

    @Test(arguments: CaptureRow.all) func checkerFindsNothing(_ row: CaptureRow) async throws {
        let output = try await TransportStreamCaptureTests.output(of: row)
        var checker = TransportChecker()
        var faults: [TransportFault] = []
        for packets in Self.packets(of: output) { faults += checker.check(packets) }
        faults += checker.finish()
        let exemption = Self.exemptions[row.capture.name]
        let found = faults.prefix(5).map { "\($0.packet), \($0.pid ?? 0): \($0.indicator) \($0.message)" }
        #expect(Set(checker.report.counts.keys).isSubset(of: exemption?.faults ?? []), "\(found)")
        #expect(exemption == nil || checker.report.faults > 0, "needs no exemption: \(exemption?.because ?? "")")
        #expect(checker.report.unjudged == 0 && checker.report.programs == 1)
    }
}
