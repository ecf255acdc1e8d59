import Channel
import Foundation
import LiveRing
import Logging
import Observability
import Support
import Testing
import WebTestSupport

@testable import ChannelList
@testable import HTTP
@testable import Service
@testable import WebServer
@testable import liverelay

private func text(_ response: Response) -> String {
    guard case .bytes(let bytes, _) = response.body else { return "" }
    return String(decoding: bytes, as: UTF8.self)
}

@Suite("The web page") struct PageTests {
    private let host: ChannelHost
    /// The inputs of the host's supervisor.
    private let inputs: AsyncStream<ChannelSupervisor.Input>

    init() {
        let (inputs, input) = AsyncStream.makeStream(of: ChannelSupervisor.Input.self)
        self.inputs = inputs
        host = ChannelHost(
            ChannelDirectory([
                ListedChannel(
                    slug: "news", name: "<b>News</b>", number: "7", logo: "http://logos/7.png", groups: ["Local"],
                    sources: [ListedSource(url: "http://127.0.0.1:9/x.m3u8")])
            ]),
            policy: ChannelSupervisor.Policy(),
            settings: ChannelSettings(
                configuration: RelayConfiguration(
                    upstream: "", spool: "", retention: RetentionPolicy(rewind: .seconds(600), freeReserve: 0)),
                spool: "", logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }),
            observe: { input.yield($0) })
    }

    private func many(_ path: String) throws -> Response {
        try #require(ServeResponder(host).answer(to: RequestTarget(method: .get, uri: path)).now)
    }

    private func single(_ path: String) throws -> Response {
        let channel = ChannelResponder(ChannelState(upstream: "http://127.0.0.1:9/x.m3u8") { .zero })
        return try #require(channel.answer(to: RequestTarget(method: .get, uri: path)).now)
    }

    @Test(arguments: PageFile.allCases.filter { !$0.rawValue.hasSuffix(".html") })
    func fileBelowAnyPath(file: PageFile) throws {
        for response in [
            try single("/web/\(file.rawValue)"), try many("/web/\(file.rawValue)"),
            try many("/news/web/\(file.rawValue)"),
        ] {
            #expect(response.status == .ok && response.contentType == MimeType(fileName: file.rawValue))
            #expect(response.etag != nil && response.cacheControl == .maxAge(seconds: 0))
        }
    }

    @Test func documents() throws {
        for response in [try single("/"), try many("/"), try many("/news/")] {
            #expect(response.status == .ok && response.contentType == .html)
            let policy = try #require(response.extraHeaders.first { $0.name == "Content-Security-Policy" })
            #expect(policy.value.hasPrefix("default-src 'self';"))
        }
        #expect(try text(single("/")).contains("data-list=\"\""), "there is no list")
        #expect(try text(many("/news/")).contains("data-list=\"../\""))
        #expect(host.overview.startCount == 0, "looking at a page starts nothing")
    }

    @Test func folderHasASlash() throws {
        let response = try many("/news")
        #expect(response.status == .permanentRedirect)
        #expect(response.extraHeaders.contains(HeaderField(name: "Location", value: "news/")))
    }

    @Test(arguments: [
        "/nobody", "/nobody/", "/web/", "/web/channel.html", "/news/web/x.js", "/web/../a",
    ])
    func nothingElse(path: String) throws {
        guard let target = try? RequestTarget(method: .get, uri: path) else { return }
        #expect(ServeResponder(host).answer(to: target).now?.status == .notFound)
    }

    @Test func documentsOfTheList() async throws {
        let responder = ServeResponder(host)
        let channels = try #require(
            responder.answer(to: RequestTarget(method: .get, uri: "/web/channels.json")).later)
        let names = text(await channels())
        #expect(
            names.contains("\"<b>News</b>\"") && names.contains("http://logos/7.png"), "as it is: the page escapes it")
        let overview = try #require(
            responder.answer(to: RequestTarget(method: .get, uri: "/web/overview.json")).later)
        let summary = text(await overview())
        #expect(summary.contains("\"listed\" : 1") && summary.contains("\"idle\" : 1"))
        #expect(summary.contains("\"hasAPI\" : false"), "what there is not is not offered")
        let plain = try #require(
            responder.answer(to: RequestTarget(method: .get, uri: "/web/channels.html")).later)
        #expect(text(await plain()).contains("<li>&lt;b&gt;News&lt;/b&gt;: <a href=\"../news/live.m3u8\""))
        let health = try #require(responder.answer(to: RequestTarget(method: .get, uri: "/web/health.json")).later)
        #expect(text(await health()).contains("\"cellSeconds\" : 300"))
    }

    /// An idle channel whose last run failed is not well, until it publishes.
    @Test func failureStays() async throws {
        let waiting = Task { await host.waitUntilRunning("news", isStream: false) }
        for await case .requested in inputs { break }
        let run = try #require(host.running("news")?.run)
        host.handle(.ended(run, failure: "The upstream has ended."))
        _ = await waiting.value
        #expect(ServeStatus(host.overview, clients: ClientCounts()).failed == 1)
        let status = text(try many("/news/status.json"))
        #expect(status.contains("\"lastFailure\"") && status.contains("The upstream has ended."), "\(status)")
        host.close()
    }

    @Test("Every file that the page refers to is there, and everything comes from the same server")
    func references() throws {
        let published = ["live.ts", "master.m3u8", "playlist.m3u", "channels.html"]
        let reference = /(?:href|src)="([^"#][^"]*)"|(?:from |import |import\()"([^"]*)"/
        for file in PageFile.allCases {
            let text = String(decoding: file.bytes, as: UTF8.self)
            for match in text.matches(of: reference) {
                let name = String(match.1 ?? match.2 ?? "").replacing("web/", with: "").replacing("./", with: "")
                #expect(PageFile(rawValue: name) != nil || published.contains(name), "\(file) refers to \(name)")
            }
            #expect(!text.contains("style=\"") && !text.contains("<script>") && !text.contains("innerHTML"), "\(file)")
        }
    }

    @Test func weight() {
        #expect(PageFile.allCases.allSatisfy { !$0.bytes.isEmpty })
        let compressed = PageFile.allCases.map { LazyGzip($0.bytes).member?.count ?? $0.bytes.count }
        #expect(compressed.reduce(0, +) < 60_000, "\(compressed)")
        let lines = String(decoding: PageFile.player.bytes, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count <= 301, "the player has at most 300 lines")
    }
}

@Suite("Notifications to systemd") struct ServiceManagerTests {
    static let environments: [(when: String, environment: [String: String], socket: String?, interval: Duration?)] = [
        ("no service", [:], nil, nil),
        ("a service", ["NOTIFY_SOCKET": "/run/systemd/notify"], "/run/systemd/notify", nil),
        ("an abstract socket", ["NOTIFY_SOCKET": "@a"], "@a", nil),
        ("a watchdog", ["NOTIFY_SOCKET": "/a", "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "42"], "/a", .seconds(30)),
        ("a watchdog for any process", ["NOTIFY_SOCKET": "/a", "WATCHDOG_USEC": "5"], "/a", .microseconds(5)),
        (
            "the watchdog of another process", ["NOTIFY_SOCKET": "/a", "WATCHDOG_USEC": "5", "WATCHDOG_PID": "1"], "/a",
            nil
        ),
        ("a malformed interval", ["NOTIFY_SOCKET": "/a", "WATCHDOG_USEC": "soon"], "/a", nil),
        ("no socket's name", ["NOTIFY_SOCKET": "a"], nil, nil),
        ("a name that is too long", ["NOTIFY_SOCKET": "/" + String(repeating: "a", count: 107)], nil, nil),
    ]

    @Test(arguments: environments)
    func environment(when: String, environment: [String: String], socket: String?, interval: Duration?) {
        let manager = ServiceManager(environment: environment, processID: 42)
        #expect(manager?.socketName == socket && manager?.watchdogInterval == interval, "\(when)")
    }
}
