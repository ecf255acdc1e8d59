import Channel
import Foundation
import LiveRing
import Logging
import Synchronization
import Testing
import WebTestSupport

@testable import ChannelList
@testable import HTTP
@testable import Service
@testable import Support
@testable import WebServer

private let token = "news-token-012345"

private func channels(_ count: Int) -> [ListedChannel] {
    (0..<count).map { index in
        var channel = ListedChannel(
            slug: "c\(index)", name: "Channel \(index)", number: "\(index / 2 + 1)",
            sources: [ListedSource(url: "http://127.0.0.1:9/\(index).m3u8")])
        if index % 2 == 1 { channel.options.tokens = [Secret(token)] }
        return channel
    }
}

@Suite(.ownThreads) struct ServeDocumentTests {
    static let documents = [
        "/playlist.m3u", "/playlist.m3u?format=ts", "/playlist.m3u?group=a", "/lineup.json", "/lineup.m3u",
        "/web/channels.json", "/web/overview.json", "/status.json",
    ]

    @Test("No document about all channels is made on an event loop", arguments: documents)
    func deferred(path: String) async throws {
        let scene = try await ServeScene(channels(10))
        let target = try RequestTarget(method: .get, uri: path)
        let response = try #require(await ServeResponder(scene.host).answer(to: target).later?())
        #expect(response.status == .ok && response.held != nil)
        await scene.end()
    }

    @Test(
        "A document of the list is made once for each change, and can be revalidated",
        arguments: ["/playlist.m3u", "/lineup.json", "/lineup.m3u", "/web/channels.json"])
    func revalidated(path: String) async throws {
        let scene = try await ServeScene(channels(10))
        let responder = ServeResponder(scene.host)
        var tags: [String] = []
        for changes in [0, 0, 1] {
            for _ in 0..<changes { _ = scene.host.replace(ChannelDirectory(channels(9))) }
            let target = try RequestTarget(method: .get, uri: path, fields: .init(acceptEncoding: "gzip", host: "h"))
            let response = try #require(await responder.answer(to: target).later?())
            tags.append(try #require(response.etag))
            guard case .bytes(_, gzip: let gzip?) = response.body else { return #expect(Bool(false), "no gzip") }
            #expect(gzip.isFinished && response.cacheControl == .maxAge(seconds: 0))
        }
        #expect(tags[0] == tags[1] && tags[1] != tags[2])
        #expect(responder.lists.madeCount == 2)
        await scene.end()
    }

    @Test func unknownTokensShareADocument() async throws {
        let scene = try await ServeScene(channels(10))
        let responder = ServeResponder(scene.host)
        for text in ["unknown-token-0001", "unknown-token-0002", nil] {
            var target = try RequestTarget(method: .get, uri: "/playlist.m3u")
            target.viewer = Viewer(
                reach: .openChannels(and: text.flatMap { TokenDigest(of: $0) }), credential: .none)
            _ = await responder.answer(to: Route(target, in: .list), target).response()
        }
        #expect(responder.lists.madeCount == 1)
        await scene.end()
    }

    /// Number, and whether a viewer without a token gets it.
    @Test(
        "A number leads to its channel for all who may watch it",
        arguments: [("1", "c0", true), ("\(Int.max)", nil, false), ("", nil, false)])
    func numbers(number: String, slug: String?, isOpen: Bool) {
        let directory = ChannelDirectory(channels(1000))
        let stranger = Viewer(reach: .openChannels(and: nil), credential: .none)
        #expect(directory.channel(numbered: number, for: .unrestricted)?.slug == slug)
        #expect(directory.channel(numbered: number, for: stranger)?.slug == (isOpen ? slug : nil))
    }

    @Test func numbersAreThoseOfTheWholeLineup() throws {
        let directory = ChannelDirectory(channels(100))
        let viewer = Viewer(reach: .channels(of: TokenDigest(of: token)), credential: .none)
        let opened = directory.opened(to: viewer)
        #expect(opened.channels.count == 50 && opened.guideNumbers.count == 50)
        for (channel, number) in zip(opened.channels, opened.guideNumbers) {
            #expect(directory.channel(numbered: number, for: viewer) == channel)
            let nobody = Viewer(reach: .openChannels(and: nil), credential: .none)
            #expect(directory.channel(numbered: number, for: nobody) == nil)
        }
    }

    @Test("A change of one channel is one change for the supervisor", arguments: [500, 1000, 2000])
    func changes(count: Int) async throws {
        let inputs = Mutex<[ChannelSupervisor.Input]>([])
        var listed = channels(count)
        for index in listed.indices { listed[index].options.idle = .seconds(5) }
        let host = ChannelHost(
            ChannelDirectory(listed), policy: .init(),
            settings: ChannelSettings(
                configuration: .init(upstream: "", spool: "", retention: .init(rewind: .seconds(60), freeReserve: 0)),
                spool: "", logger: .init(label: "test") { _ in SwiftLogNoOpLogHandler() }),
            observe: { input in inputs.withLock { $0.append(input) } })
        listed[7].options.idle = .seconds(9)
        listed[8].name = "Another name"
        #expect(host.replace(ChannelDirectory(listed)).difference.changed.count == 2)
        #expect(inputs.withLock { $0 } == [.demanded(["c7": .init(idle: .seconds(9))])])
        #expect(host.directory.version == 1)
    }
}
