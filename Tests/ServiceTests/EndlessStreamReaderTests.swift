import ChannelTestSupport
import LiveRing
import Media
import TestSupport
import Testing
import WebTestSupport

@testable import Channel
@testable import Export
@testable import Service
@testable import Support

/// What one client of an endless stream is given, without a server.
@Suite(.ownThreads) struct EndlessStreamReaderTests {
    /// Without a pace, the bytes of several chunks come at once.
    @Test(arguments: [EndlessStream.Pace.none, .realTime(percent: 100_000)])
    func allMediaIsCounted(pace: EndlessStream.Pace) async throws {
        var channel = try SpooledChannel(of: CaptureFixture("ssai_tagged"))
        let state = try await channel.relay(.init(times: .zero ..< .seconds(120)))
        let policy = EndlessStream.Policy(pace: pace, longestLag: nil)
        let reader = EndlessStreamReader(state, policy, for: .output(sendsNullPackets: false))
        var count = 0
        while let bytes = await reader.next() { count += bytes.count }
        let entries = try #require(state.snapshot).index.listed
        #expect(count == entries.reduce(0) { $0 + ($1.transportStream?.extent?.byteCount ?? 0) })
        let published = Ticks(entries.reduce(0) { $0 + $1.duration }).duration
        #expect(await abs((reader.sentMedia - published).inSeconds) < 0.5)
    }

    /// A reader that has nothing to send looks at the ring when it changes, not at intervals.
    @Test(.timeLimit(.minutes(1))) func readerWaitsForAChange() async {
        let state = ChannelState(upstream: "http://127.0.0.1/") { .zero }
        let reader = EndlessStreamReader(state, EndlessStream.Policy())
        let bytes = Task { await reader.next() }
        while state.publications.waiterCount == 0 { await Task.yield() }
        state.setState(.ended, reason: nil)
        #expect(await bytes.value == nil)
    }
}
