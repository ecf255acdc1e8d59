import Foundation
import Glibc
import Logging
import Synchronization
import TestSupport
import Testing
import WebTestSupport

@testable import ChannelList
@testable import Fetch
@testable import Guide
@testable import HTTP
@testable import Service
@testable import Support
@testable import WebServer

private let guideText = """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE tv [<!ENTITY lol "lol"><!ENTITY lol2 "&lol;&lol;&lol;"><!ENTITY file SYSTEM "file:///etc/passwd">]>
    <tv>
      <channel id="news"><display-name>News</display-name></channel>
      <programme start="20261122140000 +0000" stop="20261122150000 +0000" channel="news">
        <title lang="en">Today &lol2; &file;</title>
      </programme>
      <programme start="20261122140000 +0000" stop="20261122150000 +0000" channel="other"><title>No</title></programme>
    </tv>
    """

/// A server of guides whose answer a test sets.
private struct GuideOrigin {
    let server: HTTPServer
    private let content: Content

    final class Content: Sendable {
        let answer = Mutex(Response(cacheControl: .noStore, body: .empty))
        let requests = Mutex<[RequestTarget.Fields]>([])
    }

    init() async throws {
        let content = Content()
        self.content = content
        server = try await HTTPServer.start(
            on: ListenAddress(host: "127.0.0.1", port: 0), threads: 1,
            responder: TargetResponder { target in
                content.requests.withLock { $0.append(target.fields) }
                return .now(content.answer.withLock { $0 })
            })
    }

    var url: String { "http://127.0.0.1:\(server.port)/guide.xml" }
    var requests: [RequestTarget.Fields] { content.requests.withLock { $0 } }

    func answer(_ bytes: [UInt8], etag: String? = nil, status: Int = 200) {
        content.answer.withLock {
            $0 = Response(
                status: HTTPStatus(rawValue: status), contentType: .xml, cacheControl: .noStore, etag: etag,
                body: .bytes(bytes, gzip: nil))
        }
    }
}

private func temporaryDirectory() throws -> URL {
    let url = FileManager.default.temporaryDirectory.appending(path: "liverelay-guide-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    return url
}

private let channels = [
    // The validator of the XMLTV project wants a dot in each id.
    ListedChannel(slug: "news", name: "News", guideID: "news.example", sources: [ListedSource(url: "http://u/1")]),
    ListedChannel(slug: "sport", name: "Sport", guideID: "sport.de", sources: [ListedSource(url: "http://u/2")]),
]

@Suite(.ownThreads) struct GuideTests {
    private static let target = RequestTarget(method: .get, path: "/epg.xml", query: [], fields: .init())

    /// What a program makes of bytes.
    private func output(_ program: String, _ arguments: [String], _ bytes: [UInt8], in directory: URL) throws -> [UInt8]
    {
        let (source, result) = (directory.appending(path: "in"), directory.appending(path: "out"))
        try Data(bytes).write(to: source)
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [program] + arguments + [source.path]
        try Data().write(to: result)
        process.standardOutput = try FileHandle(forWritingTo: result)
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return [UInt8](try Data(contentsOf: result))
    }

    @Test("Compressed and in other encodings", arguments: ["plain", "gzip", "xz", "two members", "Latin-1", "UTF-16"])
    func forms(form: String) throws {
        let directory = try temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        let text = guideText.replacing("Today", with: "Tödaý")
        let plain = Array(text.utf8)
        let half = plain.count / 2
        let latin = text.replacing("UTF-8", with: "ISO-8859-1")
        let bytes: [UInt8] =
            switch form {
            case "gzip": try output("gzip", ["-c"], plain, in: directory)
            case "xz": try output("xz", ["-c"], plain, in: directory)
            case "two members":
                try output("gzip", ["-c"], Array(plain[..<half]), in: directory)
                    + output("gzip", ["-c"], Array(plain[half...]), in: directory)
            case "Latin-1": latin.unicodeScalars.map { UInt8($0.value) }
            case "UTF-16": [0xFF, 0xFE] + text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
            default: plain
            }
        let built = try build([bytes], in: directory)
        #expect(built.text.contains("<title lang=\"en\">Tödaý &amp;lol2; &amp;file;</title>"), "\(built.text)")
        #expect(!built.text.contains("<title>No</title>") && !built.text.contains("id=\"sport.de\""))
        #expect(built.built.written.programs == 1 && built.built.written.channels == 1)
        #expect(built.built.byteCount == built.text.utf8.count)
        let gzip = [UInt8](try Data(contentsOf: directory.appending(path: "epg.xml.gz")))
        #expect(gzip.count == built.built.gzipByteCount)
        #expect(Gzip.decompress(gzip, limit: 1 << 20) == .whole(Array(built.text.utf8)))
    }

    private func build(_ guides: [[UInt8]], in directory: URL) throws -> (text: String, built: GuideBuilder.Built) {
        let paths = try guides.enumerated().map { number, bytes in
            let url = directory.appending(path: "guide-\(number)")
            try Data(bytes).write(to: url)
            return url.path
        }
        let path = directory.appending(path: "epg.xml").path
        let built = try GuideBuilder(channels: channels, guides: paths).build(to: path, gzip: path + ".gz")
        return (String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self), built)
    }

    private static let unusable: [(guide: BriefArgument<[UInt8]>, fault: GuideFault)] = [
        (BriefArgument("a web page", Array("<html><body>Moved</body></html>".utf8)), .notAGuide),
        (BriefArgument("nothing", []), .notAGuide),
        (
            BriefArgument(
                "a gzip member that ends early", Array((Gzip.compress(Array(guideText.utf8)) ?? []).dropLast(30))),
            .damaged
        ),
        (
            BriefArgument("an unknown encoding", Array("<?xml version='1.0' encoding='X-MARS'?><tv/>".utf8)),
            .unknownEncoding("X-MARS")
        ),
    ]

    @Test("What is no guide", arguments: unusable)
    func damaged(guide: BriefArgument<[UInt8]>, fault: GuideFault) throws {
        let directory = try temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        let built = try build([guide.value, Array(guideText.utf8)], in: directory)
        #expect(built.built.found.first == .failure(fault), "\(guide.name)")
        #expect(built.built.written.programs == 1, "the other one is used")
    }

    @Test("A compressed guide that expands without end is not read to its end") func bomb() throws {
        let directory = try temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.appending(path: "bomb").path
        try Data(Gzip.compress(Array(repeating: 0x20, count: 8 << 20)) ?? []).write(to: URL(filePath: path))
        var limits = GuideLimits()
        limits.textBytes = 1 << 20
        #expect(throws: GuideFault.tooLarge) { try GuideReader(path: path, limits: limits).read { _ in } }
    }

    @Test(
        "The XMLTV project's own program finds nothing wrong",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/tv_validate_file")))
    func validated() throws {
        let directory = try temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        _ = try build([Array(guideText.utf8)], in: directory)
        _ = try output(
            "tv_validate_file", ["--dtd-file", "/usr/share/xmltv/xmltv.dtd"],
            [UInt8](Data(contentsOf: directory.appending(path: "epg.xml"))), in: directory)
    }

    @Test("Guides are fetched, kept over failures, and asked for again only if they changed") func service()
        async throws
    {
        let origin = try await GuideOrigin()
        let directory = try temporaryDirectory()
        origin.answer(Array(guideText.utf8), etag: "\"1\"")
        let service = GuideService(
            .init(), directory: directory.path, logger: Logger(label: "t") { _ in SwiftLogNoOpLogHandler() })
        #expect(await service.response(to: Self.target, asGzipFile: false).status == .notFound)
        var requests = CurlConfiguration()
        requests.headers = [.init(name: "X-Secret", value: "1")]
        let fetcher = GuideFetcher(requests: requests)
        service.update(channels: channels, guides: [origin.url], fetcher: fetcher)
        let task = Task { await service.run() }

        let response = await service.response(to: Self.target, asGzipFile: false)
        #expect(response.status == .ok && response.contentType == .xml && response.lastModified != nil)
        let first = try #require(service.published)
        #expect(first.built.written.programs == 1)
        #expect(service.status?.sources.first?.state == "fetched" && service.status?.programs == 1)

        var fields = RequestTarget.Fields(ifNoneMatch: response.etag)
        var target = RequestTarget(method: .get, path: "/epg.xml", query: [], fields: fields)
        #expect(ConditionalResponse(response, to: target, date: "").status == .notModified)
        fields = RequestTarget.Fields()
        fields.ifModifiedSince = response.lastModified
        target = RequestTarget(method: .get, path: "/epg.xml", query: [], fields: fields)
        #expect(ConditionalResponse(response, to: target, date: "").status == .notModified)
        fields = RequestTarget.Fields(acceptEncoding: "gzip")
        target = RequestTarget(method: .get, path: "/epg.xml", query: [], fields: fields)
        let coded = await service.response(to: target, asGzipFile: false)
        #expect(coded.extraHeaders.contains(HeaderField(name: "Content-Encoding", value: "gzip")))
        #expect(
            coded.etag != response.etag
                && coded.body == .file(path: first.gzipPath, byteCount: first.built.gzipByteCount))
        let file = await service.response(to: target, asGzipFile: true)
        #expect(file.contentType == .gzip && !file.extraHeaders.contains { $0.name == "Content-Encoding" })

        // Other channels: made again of what was fetched.
        service.update(channels: [channels[1]], guides: [origin.url], fetcher: fetcher)
        #expect(await reaches { service.published?.built.written.programs == 0 })
        #expect(origin.requests.count == 1)
        task.cancel()
        await task.value
        await origin.server.shutdown(within: .zero)
        try? FileManager.default.removeItem(at: directory)
    }

    /// Starts in minutes, with the stop of each if the guide has it, and the programs that are listed from `time` on.
    private static let cuts:
        [(when: String, programs: [(start: Int64, stop: Int64?)], time: Int64, limit: Int, listed: [[Int64]])] = [
            ("the first is over", [(0, 20), (30, nil), (50, nil)], 25, 1, [[30, 50]]),
            ("the first goes on", [(0, nil), (30, nil), (50, nil)], 25, 1, [[0, 30]]),
            ("two of four", [(0, 20), (30, nil), (50, nil), (55, 70)], 25, 2, [[30, 50], [50, 55]]),
            ("the last one", [(0, 20), (30, nil)], 25, 2, [[30, 90]]),
        ]

    @Test("The program after the last one that is listed says where that ends", arguments: cuts)
    func cutListings(
        when: String, programs: [(start: Int64, stop: Int64?)], time: Int64, limit: Int, listed: [[Int64]]
    ) async throws {
        let origin = try await GuideOrigin()
        let directory = try temporaryDirectory()
        let base: Int64 = 4_102_444_800  // 2100-01-01
        let text = { (minutes: Int64) in
            "21000101" + String(format: "%02d%02d00 +0000", Int(minutes / 60), Int(minutes % 60))
        }
        let lines = programs.map { program in
            let stop = program.stop.map { " stop=\"\(text($0))\"" } ?? ""
            return
                "<programme start=\"\(text(program.start))\"\(stop) channel=\"news.example\"><title>T</title></programme>"
        }
        origin.answer(Array("<tv>\(lines.joined())</tv>".utf8))
        let service = GuideService(
            .init(), directory: directory.path, logger: Logger(label: "t") { _ in SwiftLogNoOpLogHandler() })
        service.update(channels: channels, guides: [origin.url], fetcher: GuideFetcher(requests: CurlConfiguration()))
        let task = Task { await service.run() }
        #expect(await reaches { service.published != nil })
        let found = service.listings(of: channels[0], from: base + time * 60, limit: limit)
        #expect(found.map { [($0.start - base) / 60, ($0.stop - base) / 60] } == listed, "\(when)")
        task.cancel()
        await task.value
        await origin.server.shutdown(within: .zero)
        try? FileManager.default.removeItem(at: directory)
    }

    @Test("A guide that could not be written is made again, though no other is fetched") func failedBuild() async throws
    {
        let origin = try await GuideOrigin()
        let directory = try temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        origin.answer(Array(guideText.utf8))
        let inTheWay = directory.appending(path: "epg-1.xml")
        try FileManager.default.createDirectory(at: inTheWay, withIntermediateDirectories: false)
        try Data().write(to: inTheWay.appending(path: "file"))
        var settings = GuideService.Settings(refresh: nil)
        settings.buildPause = .milliseconds(1)
        let service = GuideService(
            settings, directory: directory.path, logger: Logger(label: "t") { _ in SwiftLogNoOpLogHandler() })
        service.update(
            channels: channels, guides: [origin.url], fetcher: GuideFetcher(requests: CurlConfiguration()))
        let task = Task { await service.run() }
        #expect(await reaches { service.published?.built.written.programs == 1 })
        task.cancel()
        await task.value
        await origin.server.shutdown(within: .zero)
    }

    /// The time that a channel keeps, the starts of the programs of both guides in hours, and those of the second that is served.
    static let pasts: [(when: String, archive: Int64?, guides: [[Int64]], served: [Int64])] = [
        ("no archive", nil, [[-30, -5, 0, 1], [0, 1, 2]], [0, 1, 2]),
        ("an archive of a day", 86_400, [[-30, -5, 0, 1], [0, 1, 2]], [-5, 0, 1, 2]),
        ("of two days", 172_800, [[-30, -5, 0, 1], [0, 1, 2]], [-30, -5, 0, 1, 2]),
        ("the new guide has other programs of today", 86_400, [[-5, 0, 1], [-1, 0]], [-5, -1, 0]),
        ("the new guide does not know the channel", 86_400, [[-5, 0, 1], []], []),
        ("they stay over a third guide", 86_400, [[-5, -4], [-4, -3], [-3, 2]], [-5, -4, -3, 2]),
    ]

    @Test("Past programs stay as far back as the archive reaches", arguments: pasts)
    func pastProgramsStay(when: String, archive: Int64?, guides: [[Int64]], served: [Int64]) throws {
        let directory = try temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        var channel = ListedChannel(slug: "news", name: "News", guideID: "news", sources: [])
        channel.options.archive = archive.map { .seconds($0) }
        let noon: Int64 = 1_767_355_200
        let format = DateFormatter()
        (format.dateFormat, format.timeZone) = ("yyyyMMddHHmmss", TimeZone(identifier: "UTC"))
        var published: PublishedGuide?
        for (number, hours) in guides.enumerated() {
            let programs = hours.map { hour in
                let start = format.string(from: Date(timeIntervalSince1970: Double(noon + 3600 * hour)))
                return "<programme start=\"\(start) +0000\" channel=\"news\"><title>\(hour)</title></programme>"
            }
            // The other channel makes it a guide.
            let text =
                "<tv><channel id=\"other\"/><channel id=\"\(hours.isEmpty ? "x" : "news")\"/>\(programs.joined())</tv>"
            let source = directory.appending(path: "source-\(number)")
            try Data(text.utf8).write(to: source)
            let past = published.map {
                PastPrograms(of: $0, for: [channel], defaultRewind: .seconds(1800), now: noon)
            }
            let path = directory.appending(path: "epg-\(number)").path
            let built = try GuideBuilder(channels: [channel], guides: [source.path], past: past)
                .build(to: path, gzip: path + ".gz")
            published = PublishedGuide(
                path: path, gzipPath: path + ".gz", built: built, lastModified: "", made: .now)
        }
        let guide = try #require(published)
        let id = ChannelListWriter.guideID(of: channel)
        let places = guide.built.schedule.programs(of: id, from: nil, limit: 100)
        #expect(places.map { ($0.start - noon) / 3600 } == served, "\(when)")
        let bytes = try Data(contentsOf: URL(filePath: guide.path))
        for (place, hour) in zip(places, served) {
            #expect(String(decoding: bytes[place.bytes], as: UTF8.self).contains("<title>\(hour)</title>"), "\(when)")
        }
        #expect(bytes.count == guide.built.byteCount)
    }

    private func reaches(_ condition: () -> Bool) async -> Bool {
        let end = ContinuousClock.now + .seconds(30)
        while !condition(), ContinuousClock.now < end { await Task.yield() }
        return condition()
    }

    @Test("What a guide's server answers", arguments: [200, 304, 404, 999])
    func fetching(status: Int) async throws {
        let origin = try await GuideOrigin()
        let directory = try temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        var source = GuideSource(location: origin.url, path: directory.appending(path: "a").path, due: .now)
        let headers = [RequestHeader(name: "X-Secret", value: "1")]
        var requests = CurlConfiguration()
        requests.headers = headers
        let fetcher = GuideFetcher(requests: requests, listURL: "http://elsewhere/list.m3u")
        origin.answer(Array(guideText.utf8), etag: "\"1\"")
        guard case .changed(let counts, let tag, _) = await fetcher.fetch(source) else {
            Issue.record("it is not fetched")
            return
        }
        #expect(counts.programs == 2 && tag == "\"1\"")
        source.recordSuccess(at: .now, refresh: nil)
        source.entityTag = tag
        let before = try Data(contentsOf: URL(filePath: source.path))
        // As 999, a web page with status 200.
        let page = Array("<html>Sign in</html>".utf8)
        switch status {
        case 200: origin.answer(Array(guideText.utf8) + [0x20], etag: "\"2\"")
        case 304: origin.answer(page, etag: "\"1\"")
        case 404: origin.answer(page, status: 404)
        default: origin.answer(page)
        }
        let outcome = await fetcher.fetch(source)
        switch status {
        case 200: if case .changed = outcome {} else { Issue.record("\(outcome)") }
        case 304: #expect(outcome == .unchanged)
        case 404: #expect(outcome == .failed(.refused(status: 404)))
        default: #expect(outcome == .failed(.notAGuide))
        }
        if status != 200 { #expect(try Data(contentsOf: URL(filePath: source.path)) == before) }
        #expect(origin.requests.map(\.ifNoneMatch) == [nil, "\"1\""])
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["a"])
        await origin.server.shutdown(within: .zero)
    }

    @Test("A file is copied, and read again when it has changed") func files() async throws {
        let directory = try temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = directory.appending(path: "own.xml")
        try Data(guideText.utf8).write(to: file)
        var source = GuideSource(location: file.path, path: directory.appending(path: "a").path, due: .now)
        let fetcher = GuideFetcher(requests: CurlConfiguration())
        guard case .changed(_, _, let version) = await fetcher.fetch(source) else {
            Issue.record("it is not copied")
            return
        }
        source.recordSuccess(at: .now, refresh: nil)
        source.lastModified = version
        #expect(await fetcher.fetch(source) == .unchanged)
        try Data((guideText + " ").utf8).write(to: file)
        if case .changed = await fetcher.fetch(source) {} else { Issue.record("a change is not seen") }
        try FileManager.default.removeItem(at: file)
        #expect(await fetcher.fetch(source) == .failed(.unreadable(errno: 2)))
    }

    @Test("A directory and a pipe are no guide", .timeLimit(.minutes(1)), arguments: ["directory", "pipe", "device"])
    func otherFiles(kind: String) async throws {
        let directory = try temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = directory.appending(path: "own")
        switch kind {
        case "directory":
            try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
            try Data(guideText.utf8).write(to: file.appending(path: "guide.xml"))
        case "pipe": try #require(unsafe mkfifo(file.path, 0o600) == 0)
        default: try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: "/dev/zero")
        }
        let source = GuideSource(location: file.path, path: directory.appending(path: "a").path, due: .now)
        #expect(await GuideFetcher(requests: CurlConfiguration()).fetch(source) == .failed(.notRegular))
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["own"])
        let list = await ListDocument(location: file.path, requests: CurlConfiguration()).list()
        #expect(throws: RelayError.self) { try list.get() }
    }

    @Test("Guides that never come hold back no other, and few are asked for at once", .timeLimit(.minutes(1)))
    func silentGuides() async throws {
        let (origin, silent) = (try await GuideOrigin(), SilentServer())
        let directory = try temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        origin.answer(Array(guideText.utf8))
        let service = GuideService(
            .init(), directory: directory.path, logger: Logger(label: "t") { _ in SwiftLogNoOpLogHandler() })
        let others = GuideService.concurrency - 1
        let guides = (0..<others).map { "\(silent.url)/\($0)" } + [origin.url]
        service.update(channels: channels, guides: guides, fetcher: GuideFetcher(requests: CurlConfiguration()))
        let task = Task { await service.run() }
        #expect(await reaches { service.published?.built.written.programs == 1 })
        #expect(await reaches { silent.connectionCount == others })
        service.update(
            channels: channels, guides: guides + (0..<20).map { "\(silent.url)/more/\($0)" },
            fetcher: GuideFetcher(requests: CurlConfiguration()))
        #expect(await reaches { silent.connectionCount == GuideService.concurrency })
        for _ in 0..<1000 { await Task.yield() }
        #expect(silent.connectionCount == GuideService.concurrency)
        task.cancel()
        await task.value
        await origin.server.shutdown(within: .zero)
    }

    @Test("Failures are tried again with longer and longer pauses") func pauses() {
        var source = GuideSource(location: "http://h/g.xml", path: "", due: .now)
        let now = ContinuousClock.now
        var pauses: [Duration] = []
        for _ in 0..<9 {
            source.recordFailure(.damaged, at: now, refresh: .seconds(12 * 3600))
            pauses.append(now.duration(to: source.due))
        }
        #expect(pauses == [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600].map { .seconds($0) })
        source.recordSuccess(at: now, refresh: .seconds(100))
        #expect(source.fault == nil && now.duration(to: source.due) == .seconds(100))
    }
}
