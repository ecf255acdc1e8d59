import ChannelList
import Foundation
import Synchronization
import Testing
import Tracker

@testable import liverelay

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
        ("missing.yaml", nil, liverelay.ExitStatus.notAPlaylist), ("c.yaml", "playlist: missing.m3u", .notAPlaylist),
        ("c.yaml", "channels: {a: {url: http://h/, slate: missing.mp4}}", .badSlate),
        ("c.m3u", "channels: {a: http://h/}", .notAPlaylist),
    ]) func filesThatAreMissing(file: String, text: String?, exit: liverelay.ExitStatus) async throws {
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

    @Test func checkPrintsChannelsAndMistakes() async throws {
        let files = try CatalogFiles([
            "good.yaml": "channels: {news: {url: [http://h/1, http://h/2], name: News HD, rewind: 2h}}",
            "bad.yaml": "channels: {a: x, b: y}",
        ])
        let lines = Mutex<[String]>([])
        try await CatalogCheck(source: files.source("good.yaml")) { line in lines.withLock { $0.append(line) } }.run()
        #expect(lines.withLock { $0.first } == "/news  News HD  2 sources  always  rewind 7200 s")
        lines.withLock { $0 = [] }
        await #expect(throws: RelayError.self) {
            try await CatalogCheck(source: files.source("bad.yaml")) { line in lines.withLock { $0.append(line) } }
                .run()
        }
        #expect(lines.withLock { $0.count } == 2)
    }
}
