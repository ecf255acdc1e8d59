import Channel
import Foundation
import LiveRing
import Logging
import Synchronization
import Testing
import WebTestSupport

@testable import ChannelList
@testable import Fetch
@testable import HTTP
@testable import Service
@testable import Support
@testable import WebServer

/// A directory with a configuration and its lists.
private struct CatalogFiles: ~Copyable {
    let directory = FileManager.default.temporaryDirectory.appending(path: "liverelay-catalog-\(UUID().uuidString)")

    init(_ files: [String: String]) throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        for (name, text) in files { try write(text, to: name) }
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: directory.appending(path: name))
    }

    func remove(_ name: String) throws { try FileManager.default.removeItem(at: directory.appending(path: name)) }

    func source(_ name: String) -> CatalogSource {
        CatalogSource(
            location: directory.appending(path: name).path, requests: CurlConfiguration(), environment: ["T": "1"])
    }
}

private let list = "#EXTM3U\n#EXTINF:-1,Kids\nhttp://127.0.0.1:9/kids.m3u8\n"

@Suite struct CatalogTests {
    @Test func configurationIncludesItsLists() async throws {
        let files = try CatalogFiles([
            "c.yaml": "playlist: a.m3u\nchannels: {news: \"http://h/1?t=${T}\"}\ndefaults: {idle: 9}", "a.m3u": list,
        ])
        let catalog = try await files.source("c.yaml").read()
        #expect(catalog.channels.map(\.slug) == ["news", "kids"])
        #expect(catalog.channels.map { $0.sources[0].url } == ["http://h/1?t=1", "http://127.0.0.1:9/kids.m3u8"])
        #expect(catalog.channels.allSatisfy { $0.options.idle == .seconds(9) })
    }

    @Test func listAloneIsACatalog() async throws {
        let files = try CatalogFiles(["a.m3u": list])
        #expect(try await files.source("a.m3u").read().channels.map(\.slug) == ["kids"])
    }

    @Test func mistakesHaveTheirPlace() async throws {
        let files = try CatalogFiles(["c.yaml": "channels:\n  a: {url: http://h/, audio: mp3}\n  b: x"])
        do throws(CatalogError) {
            _ = try await files.source("c.yaml").read()
            Issue.record("it was read")
        } catch {
            #expect(error.summary.exit == .badConfiguration)
            #expect(error.lines.count == 2 && error.lines[0].contains("c.yaml:2:30: channels.a.audio: “mp3” is not"))
            #expect(error.summary.message.hasSuffix("(and 1 more)"))
        }
    }

    @Test(arguments: [
        ("missing.yaml", nil, Support.ExitStatus.notAPlaylist), ("c.yaml", "playlist: missing.m3u", .notAPlaylist),
        ("c.yaml", "channels: {a: {url: http://h/, slate: missing.mp4}}", .badSlate),
        ("c.m3u", "channels: {a: http://h/}", .notAPlaylist),
    ]) func filesThatAreMissing(file: String, text: String?, exit: Support.ExitStatus) async throws {
        let files = try CatalogFiles(text.map { [file: $0] } ?? [:])
        do throws(CatalogError) {
            _ = try await files.source(file).read()
            Issue.record("it was read")
        } catch { #expect(error.summary.exit == exit) }
    }

    @Test func listThatCannotBeReadAgainStays() async throws {
        let files = try CatalogFiles(["c.yaml": "playlist: a.m3u\nchannels: {news: http://h/1}", "a.m3u": list])
        let source = files.source("c.yaml")
        let before = try await source.read()
        try files.remove("a.m3u")
        try files.write("playlist: a.m3u\nchannels: {news: http://h/2, more: http://h/3}", to: "c.yaml")
        let after = try await source.read(after: before, keeping: before.channels)
        #expect(after.channels.map(\.slug) == ["news", "more", "kids"])
        #expect(after.lists.map(\.staleness?.exit) == [.notAPlaylist])
        try files.write("playlist: [a.m3u, b.m3u]", to: "c.yaml")
        await #expect(throws: CatalogError.self, "one that was never read") { try await source.read(after: before) }
    }

    /// Tokens do not wait for lists, of whichever reload.
    @Test(.timeLimit(.minutes(1))) func tokensHoldAtOnce() async throws {
        let silent = SilentServer()
        let token = { (letter: String) in String(repeating: letter, count: 16) }
        let yaml = { (own: String, others: String) in
            """
            playlist: \(silent.url)/list.m3u
            defaults: {token: \(others)}
            channels: {\(own)}
            """
        }
        let files = try CatalogFiles([
            "c.yaml": yaml("news: {url: http://h/1, token: \(token("a"))}, more: http://h/2", token("b"))
        ])
        let source = files.source("c.yaml")
        let kids = try M3UChannelListParser.parse(Array(list.utf8))
        let catalog = ChannelCatalog(
            try await source.configuration(), lists: [.init(name: "\(silent.url)/list.m3u", list: kids)])
        let host = ChannelHost(
            ChannelDirectory(catalog.channels), policy: .init(),
            settings: ChannelSettings(
                configuration: RelayConfiguration(upstream: "", spool: "", retention: RetentionPolicy(rewind: nil)),
                spool: "/nowhere",
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
        let updater = CatalogUpdater(catalog, from: source, host: host)
        let isOpen = { (slug: String, letter: String) in
            host.directory.isOpen(
                slug, to: Viewer(reach: .channels(of: TokenDigest(of: token(letter))), credential: .none))
        }
        #expect(isOpen("news", "a") && isOpen("more", "b") && isOpen("kids", "b"))
        for (step, (own, others)) in [
            ("news: {url: http://h/1, token: \(token("c"))}, more: http://h/2", "d"),
            ("news: {url: http://h/1, token: \(token("e"))}", "f"),
        ].enumerated() {
            try files.write(yaml(own, token(others)), to: "c.yaml")
            let reload = Task { await updater.reload() }
            while !isOpen("kids", others) { await Task.yield() }
            #expect(!isOpen("news", "a") && !isOpen("kids", "b") && isOpen("news", step == 0 ? "c" : "e"))
            #expect(isOpen("more", "d") == (step == 0), "one that has left the file opens for nobody")
            reload.cancel()
        }
        #expect(host.directory.channels.map(\.slug) == ["news", "more", "kids"], "no list has been read")
    }

    /// Credentials of the command line go to the host of the list that names a channel, not to whichever it names.
    @Test func credentialsStayWithTheListsHost() async throws {
        let text = "#EXTM3U\n#EXTINF:-1,A\nOWN/1\n#EXTINF:-1,B\nhttp://other/2\n#EXTINF:-1,C\nOWN/3\nhttp://other/4\n"
        let server = try await HTTPServer.start(
            on: ListenAddress(host: "127.0.0.1", port: 0), threads: 1,
            responder: TargetResponder { _ in
                let own = text.replacing("OWN", with: "http://127.0.0.1:9")
                return .now(Response(cacheControl: .noStore, body: .bytes(Array(own.utf8), gzip: nil)))
            })
        var requests = CurlConfiguration()
        requests.headers = [.init(name: "Authorization", value: "1"), .init(name: "Referer", value: "2")]
        requests.cookie = "a=3"
        let settings = ChannelSettings(
            configuration: RelayConfiguration(
                upstream: "", spool: "", retention: RetentionPolicy(rewind: nil), requests: requests),
            spool: "/nowhere",
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        func sent(_ list: M3UChannelList) -> [[String]] {
            list.channels.map { channel in
                let configuration = settings.runner(of: channel, run: .init(channel: channel.slug, number: 1))
                    .configuration
                return ([configuration.requests] + configuration.backupRequests).map { requests in
                    requests.headers.map(\.name).joined(separator: " ") + (requests.cookie == nil ? "" : " Cookie")
                }
            }
        }
        let fetched = try await ListDocument(
            location: "http://127.0.0.1:\(server.port)/list.m3u", requests: CurlConfiguration()
        ).list().get()
        let all = "Authorization Referer Cookie"
        #expect(sent(fetched) == [[all], ["Referer"], [all, "Referer"]])
        let files = try CatalogFiles(["a.m3u": text.replacing("OWN", with: "http://h")])
        #expect(sent(try await files.source("a.m3u").read().lists[0].list) == [[all], [all], [all, all]])
        await server.shutdown(within: .zero)
    }

    /// What a request made ends with the process, and so does its rewind.
    @Test func spoolsOfRequestsAreTemporary() {
        let settings = ChannelSettings(
            configuration: RelayConfiguration(upstream: "", spool: "", retention: RetentionPolicy(rewind: nil)),
            spool: "/own",
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        var channel = ListedChannel(slug: "news", name: "news", sources: [ListedSource(url: "http://h/1")])
        (channel.options.isAlways, channel.options.spool) = (true, "/kept")
        func spool() -> String {
            settings.runner(of: channel, run: .init(channel: "news", number: 1)).configuration.spool
        }
        #expect(spool() == "/kept/news" && !settings.removesSpool(spool(), current: nil))
        channel.options.isTemporary = true
        #expect(spool() == "/own/kept/news" && settings.removesSpool(spool(), current: nil))
        #expect(!settings.removesSpool(spool(), current: channel), "the next run resumes there")
    }

    @Test func checkPrintsChannelsAndMistakes() async throws {
        let files = try CatalogFiles([
            "good.yaml": "channels: {news: {url: [http://h/1, http://h/2], name: News HD, rewind: 2h}}",
            "bad.yaml": "channels: {a: x, b: y}",
        ])
        let lines = Mutex<[String]>([])
        try await files.source("good.yaml").check { line in lines.withLock { $0.append(line) } }
        #expect(lines.withLock { $0.first } == "/news  News HD  2 sources  always  rewind 7200 s")
        lines.withLock { $0 = [] }
        await #expect(throws: RelayError.self) {
            try await files.source("bad.yaml").check { line in lines.withLock { $0.append(line) } }
        }
        #expect(lines.withLock { $0.count } == 2)
    }
}
