import Testing
import WebTestSupport

@testable import HTTP
@testable import Observability
@testable import WebServer

/// A server of events on loopback, with one channel whose stream never ends.
private struct EventScene {
    let bus = EventBus()
    let server: HTTPServer

    init() async throws {
        server = try await HTTPServer.start(
            on: ListenAddress(host: "127.0.0.1", port: 0), threads: 1,
            responder: EventResponses(events: bus, clients: ClientEvents(bus)))
    }

    /// A client that has read the head of the response.
    func client(_ path: String, _ fields: [String] = ["Authorization: Bearer s3cret"]) throws -> EventClient {
        var client = try RawClient(port: server.port)
        try client.send(request("GET", path, fields, version: "1.0"))
        let status = try client.head().status
        return EventClient(client: client, status: status)
    }
}

private struct EventResponses: Responder {
    let events: EventBus
    let clients: ClientEvents

    func answer(to route: Route, _ target: RequestTarget) -> Answer {
        if case .api(.events, _) = route {
            let isAllowed = target.fields.authorization == "Bearer s3cret"
            return .now(isAllowed ? events.response(to: target) : .text(.unauthorized, "no"))
        }
        guard target.path == "/news.ts" else { return .now(.notFound(target.path)) }
        var response = Response(
            contentType: .transportStream, cacheControl: .noStore,
            body: .stream(ByteStream { Task.isCancelled ? nil : [UInt8](repeating: 0x47, count: 188)[...] }))
        response.sentBytes = ByteCounter(channel: "news")
        return clients.observed(.now(response), to: target)
    }
}

private struct EventClient: ~Copyable {
    var client: RawClient
    let status: Int

    /// The text up to and including the next blank line.
    mutating func block() throws -> String {
        var text = ""
        while !text.hasSuffix("\n\n") { text += String(decoding: try client.read(1), as: UTF8.self) }
        return text
    }
}

@Suite(.ownThreads) struct EventStreamTests {
    @Test func eventsArriveAndResume() async throws {
        let scene = try await EventScene()
        var client = try scene.client("/api/events?channel=news&type=client_connect,client_disconnect")
        let status = client.status
        #expect(status == 200)
        let greeting = try client.block()
        #expect(greeting == "retry: 3000\n\n")
        while scene.bus.subscriberCount == 0 { await Task.yield() }
        var viewer: EventClient? = try scene.client("/news.ts", ["User-Agent: a\u{9}b"])
        let media = try viewer?.client.read(376)
        #expect(media?.first == 0x47)
        scene.bus.publish(.listError(source: "list", reason: "not asked for"))
        let connected = try client.block()
        #expect(connected.hasPrefix("id: ") && connected.contains("\nevent: client_connect\ndata: {\"id\":"))
        #expect(connected.contains("\"path\":\"/news.ts\",\"address\":\"127.0.0.1\",\"userAgent\":\"a\\tb\""))
        viewer = nil
        let disconnected = try client.block()
        #expect(disconnected.contains("\"type\":\"client_disconnect\",\"channel\":\"news\",\"client\":1,"))
        let id = try #require(connected.split(separator: "\n").first?.dropFirst(4))
        var second = try scene.client("/api/events", ["Authorization: Bearer s3cret", "Last-Event-ID: \(id)"])
        let blocks = [try second.block(), try second.block(), try second.block()]
        #expect(blocks[0] == greeting && blocks[1].contains("event: list_error") && blocks[2] == disconnected)
        await scene.server.shutdown(within: .zero)
        #expect(scene.bus.subscriberCount == 0)
    }

    /// The streams are no response that the end of the process waits for, and have its last events.
    @Test(.timeLimit(.minutes(1))) func streamsEndWithTheLastEvent() async throws {
        let scene = try await EventScene()
        var client = try scene.client("/api/events")
        let greeting = try client.block()
        #expect(greeting == "retry: 3000\n\n")
        while scene.bus.subscriberCount == 0 { await Task.yield() }
        let delivery = scene.bus.subscribe()
        async let down: Void = scene.server.shutdown(within: .seconds(600))
        scene.bus.publish(.channelStop(.ended, seconds: 1, receivedBytes: 2), channel: "news")
        scene.bus.endStreams()
        let last = try client.block()
        #expect(last.contains("\"type\":\"channel_stop\",\"channel\":\"news\""))
        await down
        #expect(try client.client.rest().isEmpty)
        scene.bus.publish(.channelStart(url: "u"))
        #expect(delivery.count == 2 && !delivery.isEnded, "deliveries go on")
        let late = EventStream(scene.bus, EventFilter(), after: nil)
        #expect(await late.next() == nil)
    }

    @Test func othersAreRefused() async throws {
        let scene = try await EventScene()
        let rows: [(path: String, fields: [String], status: Int)] = [
            ("/api/events", [], 401), ("/api/events", ["Authorization: Bearer x"], 401),
            ("/api/events?type=x", ["Authorization: Bearer s3cret"], 400),
            ("/api/other", ["Authorization: Bearer s3cret"], 404),
        ]
        for (path, fields, expected) in rows {
            let status = try scene.client(path, fields).status
            #expect(status == expected, "\(path)")
        }
        #expect(scene.bus.subscriberCount == 0)
        await scene.server.shutdown(within: .zero)
    }

    @Test func silenceIsBroken() async {
        let bus = EventBus()
        let stream = EventStream(bus, EventFilter(), after: nil, heartbeatInterval: .milliseconds(1))
        #expect(await stream.next().map { String(decoding: $0, as: UTF8.self) } == ": no event\n\n")
        bus.publish(.listError(source: "a\nb", reason: "c\r\n\r\nevent: d"))
        let text = await stream.next().map { String(decoding: $0, as: UTF8.self) } ?? ""
        #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count == 5, "one line of data")
    }

    @Test func lossIsAnEvent() async {
        let bus = EventBus(capacity: 2, wallClock: { 0 })
        for _ in 0..<3 { bus.publish(.channelStart(url: "u")) }
        let stream = EventStream(bus, EventFilter(), after: 0)
        let text = await stream.next().map { String(decoding: $0, as: UTF8.self) } ?? ""
        #expect(text.hasPrefix("id: 1\nevent: channel_start\n"), "the one after 0")
        let late = EventStream(bus, EventFilter(), after: nil)
        for _ in 0...EventBus.subscriptionLimit { bus.publish(.channelStart(url: "u")) }
        let loss = await late.next().map { String(decoding: $0.prefix(32), as: UTF8.self) } ?? ""
        #expect(loss == "event: lost\ndata: {\"events\":1}\n\n")
    }
}
