import Channel
import Support
import Testing

@testable import Service

@Suite struct StatusLineTests {
    private static let written: [(StreamWriter.Written, String)] = [
        (.init(), "00:00   0.0 MB   0 kbit/s"),
        (.init(bytes: 1_920_000, media: .seconds(24)), "00:24   1.9 MB   640 kbit/s"),
        (.init(bytes: 45_000_000_000, media: .seconds(100 * 3600)), "6000:00   45000.0 MB   1000 kbit/s"),
    ]

    @Test(arguments: written.indices) func writtenFileHasATimeASizeAndARate(row: Int) {
        let (written, text) = Self.written[row]
        #expect(StatusLine.text(of: written) == text)
    }

    @Test func channelIsDescribedInWords() {
        let status = ChannelState(upstream: "http://127.0.0.1/") { .zero }.status
        #expect(StatusLine.text(of: status) == "opening   0 splices   nothing missing")
        #expect(StatusLine.summary(of: status) == "0 segments, 0 s, 0 splices, nothing missing")
    }
}
