import Foundation
import TestSupport
import Testing
import WebTestSupport

@testable import ChannelList
@testable import HTTP
@testable import Service
@testable import WebServer

/// Clients that leave: what they held is given back at once.
@Suite(.ownThreads, .timeLimit(.minutes(1))) struct LeavingViewerTests {
    /// The stream of a channel by its name, and by the number that a tuner knows.
    @Test(arguments: [false, true]) func closedStreamLeavesItsPlace(isTuner: Bool) async throws {
        let origin = try await CountingOrigin(.clean)
        let scene = try await ServeScene([("news", origin.url)], .init(idle: .seconds(30), maxRunning: 1))
        #expect(try scene.get("/news/live.m3u8").status == 200)
        scene.clock.advance(by: .seconds(20))
        let number = TunerDevice.guideNumbers(of: scene.host.directory.channels)[0]
        var client: RawClient? = try RawClient(port: scene.server.port)
        try client?.send(request("GET", isTuner ? "/auto/v\(number)" : "/news.ts", version: "1.0"))
        #expect(try client?.head().status == 200)
        #expect(try client?.read(188).first == 0x47)
        client = nil
        await scene.reaches { $0.channels["news"]?.streams == 0 }
        scene.clock.advance(by: .seconds(1))
        scene.host.handle(.wake)
        #expect(ServeStatus.state(of: scene.host.overview.channels["news"]) == "lingering", "its viewer has left")
        await scene.end()
        await origin.server.shutdown(within: .zero)
    }

    /// How a client leaves while its channel starts, whether other requests follow the one that is held, and for what it
    /// has asked.
    private static let departures: [(byReset: Bool, isPipelined: Bool, path: String)] = [
        (false, false, "/slow/live.m3u8"), (true, false, "/slow/live.m3u8"), (false, true, "/slow/live.m3u8"),
        (true, true, "/slow/live.m3u8"), (false, false, "/slow.ts"), (true, false, "/auto/v7"),
    ]

    @Test(arguments: departures.indices) func heldRequestEndsWithItsClient(_ index: Int) async throws {
        let (byReset, isPipelined, path) = Self.departures[index]
        let silent = try LoopbackServer { _ in [.hang] }
        let origin = try await CountingOrigin(.clean)
        let slow = ListedChannel(
            slug: "slow", name: "slow", number: "7",
            sources: [ListedSource(url: "http://127.0.0.1:\(silent.port)/x.m3u8")])
        let news = ListedChannel(slug: "news", name: "news", sources: [ListedSource(url: origin.url)])
        let scene = try await ServeScene([slow, news], .init(idle: .seconds(30), maxRunning: 1))
        var client: RawClient? = try RawClient(port: scene.server.port)
        if byReset { client?.resetAtEnd() }
        try client?.send(String(repeating: request("GET", path), count: isPipelined ? 3 : 1))
        await scene.reaches { $0.channels["slow"]?.waiters.count == 1 }
        client = nil
        await scene.reaches { $0.channels["slow"]?.waiters.isEmpty ?? true }
        #expect(
            ServeStatus.state(of: scene.host.overview.channels["slow"]) == "starting", "nothing else ended the wait")
        #expect(try scene.get("/news/live.m3u8").status == 200, "the place of a channel that nobody waits for is free")
        await scene.end()
        await origin.server.shutdown(within: .zero)
    }
}
