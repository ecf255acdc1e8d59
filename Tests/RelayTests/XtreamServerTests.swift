import Foundation
import Logging
import Playlist
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

private let server = "server-token-0123"
private let newsToken = "news-token-012345"
private let login = "username=anna&password=\(server)"

/// Seconds since 1970 of the beginning of the test.
private let now = WallClock.milliseconds / 1000

private func listed(
    _ name: String, _ groups: [String], number: String? = nil, url: String = "http://127.0.0.1:9/x.m3u8"
) -> ListedChannel {
    ListedChannel(
        slug: ChannelSlug.slug(ofName: name), name: name, number: number, logo: "http://l/\(name).png", groups: groups,
        guideID: "\(name).tv", sources: [ListedSource(url: url)])
}

private func channels(url: String, isAlways: Bool) -> [ListedChannel] {
    var news = listed("News", ["UK", "News; Talk"], number: "7", url: url)
    news.options.tokens = [Secret(newsToken)]
    (news.options.rewind, news.options.keepsRewind, news.options.isAlways) = (.seconds(200_000), true, isAlways)
    return [news, listed("Sport", ["UK"], number: "5.1"), listed("Alone", [])]
}

private func guideTime(_ seconds: Int64) -> String {
    let digits = XtreamCatalog.text(ProgramDateTime(millisecondsSince1970: seconds * 1000)).filter(\.isNumber)
    return digits + " +0000"
}

private var guideText: String {
    let programs = [(-7200, "Past &amp; gone"), (-600, "Now é &#233;"), (3000, "Next"), (6600, "Later")]
    let elements = programs.map { start, title in
        "<programme channel='News.tv' start='\(guideTime(now + Int64(start)))'"
            + " stop='\(guideTime(now + Int64(start) + 3600))'>"
            + "<title lang='en'>\(title)</title><desc>About &lt;\(title)&gt;</desc></programme>"
    }
    return "<tv><channel id='News.tv'/>\(elements.joined())</tv>"
}

/// A type of JSON, and texts that are numbers.
private enum FieldType: String { case text, numericText, number, null, flag, texts, object }

private func type(of node: ConfigurationNode) -> FieldType {
    switch node.content {
    case .nothing: .null
    case .scalar(_, .number): .number
    case .scalar(_, .boolean): .flag
    case .scalar(let text, _): !text.isEmpty && text.allSatisfy(\.isNumber) ? .numericText : .text
    case .list: .texts
    case .map: .object
    }
}

extension ConfigurationNode {
    fileprivate subscript(name: String) -> ConfigurationNode? {
        if case .map(let entries) = content { entries.first { $0.key == name }?.value } else { nil }
    }

    fileprivate subscript(index: Int) -> ConfigurationNode? {
        if case .list(let items) = content, items.indices.contains(index) { items[index] } else { nil }
    }

    fileprivate var text: String? { if case .scalar(let text, _) = content { text } else { nil } }
    fileprivate var count: Int {
        switch content {
        case .list(let items): items.count
        case .map(let entries): entries.count
        default: 0
        }
    }
}

private let userFields: [String: FieldType] = [
    "username": .text, "password": .text, "auth": .number, "status": .text, "exp_date": .numericText,
    "is_trial": .numericText, "active_cons": .numericText, "created_at": .numericText, "max_connections": .numericText,
    "allowed_output_formats": .texts,
]
private let serverFields: [String: FieldType] = [
    "url": .text, "port": .numericText, "server_protocol": .text,
    "rtmp_port": .numericText, "timezone": .text, "timestamp_now": .number, "time_now": .text, "process": .flag,
]
private let streamFields: [String: FieldType] = [
    "num": .number, "name": .text, "stream_type": .text, "stream_id": .number, "stream_icon": .text,
    "epg_channel_id": .text, "added": .numericText, "category_id": .numericText, "custom_sid": .text,
    "tv_archive": .number, "direct_source": .text, "tv_archive_duration": .number,
]
private let listingFields: [String: FieldType] = [
    "id": .numericText, "epg_id": .text, "title": .text, "lang": .text, "start": .text, "end": .text,
    "description": .text, "channel_id": .text, "start_timestamp": .numericText, "stop_timestamp": .numericText,
    "now_playing": .number, "has_archive": .number,
]

/// A server of three channels, one of which has a guide and plays.
private struct XtreamScene {
    let scene: ServeScene
    let http: HTTPServer
    let responder: ServeResponder
    let guide: GuideService
    private let work: Task<Void, Never>
    private let directory: URL

    /// - Parameter isAlways: whether the channel that plays always runs, so that it has an archive.
    init(url: String = "http://127.0.0.1:9/x.m3u8", tokens: [AccessToken] = [], isAlways: Bool = false) async throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "xtream-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let file = directory.appending(path: "guide.xml").path
        try Data(guideText.utf8).write(to: URL(filePath: file))
        let channels = channels(url: url, isAlways: isAlways)
        scene = try await ServeScene(channels)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let guide = GuideService(.init(guides: [file]), directory: directory.path, logger: logger)
        self.guide = guide
        guide.update(
            channels: channels, guides: [], fetcher: GuideFetcher(requests: CurlConfiguration()))
        work = Task { await guide.run() }
        responder = ServeResponder(scene.host, guide: guide, tokens: ServerTokens(tokens))
        http = try await HTTPServer.start(
            on: ListenAddress(host: "127.0.0.1", port: 0), threads: 1, responder: responder)
        _ = await guide.waitForGuide(atMost: .seconds(10))
    }

    func get(_ uri: String, bearer: String? = nil) async throws -> Response {
        let target = try RequestTarget(
            method: .get, uri: uri, fields: .init(host: "tv.example:8080", authorization: bearer.map { "Bearer \($0)" })
        )
        return await responder.answer(to: target).response()
    }

    func text(_ uri: String) async throws -> String {
        guard case .bytes(let bytes, _) = try await get(uri).body else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The value of a JSON document.
    func json(_ uri: String) async throws -> ConfigurationNode {
        let text = try await text(uri)
        return try #require(ConfigurationNode(json: Array("{\"value\":\(text)}".utf8))?["value"], "\(text)")
    }

    func api(_ query: String = "") async throws -> ConfigurationNode {
        try await json("/player_api.php?\(login)" + query)
    }

    func end() async {
        work.cancel()
        await work.value
        await http.shutdown(within: .zero)
        await scene.end()
        try? FileManager.default.removeItem(at: directory)
    }
}

@Suite(.ownThreads, .timeLimit(.minutes(1))) struct XtreamServerTests {
    /// One program of the guide is over, and the archive reaches it.
    @Test func libraryHasPastPrograms() async throws {
        let scene = try await XtreamScene(tokens: [try #require(AccessToken(server))])
        #expect(try await scene.get("/library.zip?token=\(newsToken)").status == .unauthorized, "it names all channels")
        let response = try await scene.get("/library.zip?token=\(server)")
        guard case .bytes(let bytes, _) = response.body else {
            Issue.record("no archive: \(response.status)")
            return
        }
        #expect(response.contentType == .zip && bytes.count == 22, "no channel of this server always runs")
        let news = try #require(channels(url: "", isAlways: false).first)
        let library = ProgramLibrary(baseURL: "http://tv.example:8080", query: "token=\(server)", now: now)
        let archive = library.zip([(news, archive: .seconds(86_400))]) { scene.guide.listings(of: $0) }
        let text = String(decoding: archive, as: UTF8.self)
        #expect(text.contains("http://tv.example:8080/news/ts/archive-\(now - 7200)-3600.m3u8?token=\(server)\n"))
        #expect(text.contains("<title>Past &amp; gone</title>") && text.contains("<runtime>60</runtime>"))
        #expect(!text.contains("Next") && !text.contains("Later") && !text.contains("Now"))
        let short = library.zip([(news, archive: .seconds(3600))]) { scene.guide.listings(of: $0) }
        #expect(short.count == 22, "the archive does not reach the program")
        let paths = text.matches(of: /News\/Season \d{4}\/News - \d{4}-\d\d-\d\d - \d{4} Past & gone\.(strm|nfo)/)
        #expect(paths.count == 4, "two files, each in the directory too")
        await scene.end()
    }

    /// The channels, the programs of each, and those that the library has.
    static let libraries: [(channels: Int, programs: @Sendable (Int) -> Int, files: Int)] = [
        (3, { _ in 2 }, 6), (30_000, { _ in 1 }, 20_000), (4, { $0 == 3 ? 30_000 : 10 }, 20_000),
        (2, { _ in 15_000 }, 20_000),
    ]

    @Test(arguments: libraries.indices) func libraryHasALimit(row: Int) async throws {
        let (count, programs, files) = Self.libraries[row]
        let scene = try await XtreamScene(tokens: [])
        let news = try #require(channels(url: "", isAlways: false).first)
        let past = try #require(scene.guide.listings(of: news).first { $0.stop <= now })
        await scene.end()
        let all = (0..<count).map { number in
            var channel = news
            channel.slug = String(number)
            return (channel, archive: Duration.seconds(1 << 20))
        }
        let library = ProgramLibrary(baseURL: "http://h", query: nil, now: now)
        let zip = library.zip(all) { channel in
            Array(repeating: past, count: programs(Int(channel.slug) ?? 0))
        }
        // The number of files in the end of the directory: two of each program.
        let written = Int(zip[zip.count - 12]) | Int(zip[zip.count - 11]) << 8
        #expect(written == 2 * files)
    }

    /// Dates, with hours and minutes, days, months and years as MS-DOS has them.
    static let fileTimes: [(date: String, time: [Int], day: [Int])] = [
        ("2026-11-29T13:47:58.900Z", [13, 47, 29], [46, 11, 29]), ("1980-01-01T00:00:00Z", [0, 0, 0], [0, 1, 1]),
        ("1970-01-01T00:00:00Z", [0, 0, 0], [0, 1, 1]), ("2024-02-29T23:59:59Z", [23, 59, 29], [44, 2, 29]),
    ]

    @Test(arguments: fileTimes.indices) func filesHaveTheirTimes(row: Int) throws {
        let (text, time, day) = Self.fileTimes[row]
        var zip = ZipFile()
        zip.append("a", [1], at: try #require(ProgramDateTime(parsing: text)))
        let bytes = zip.finished().map { Int($0) }
        let (first, second) = (bytes[10] | bytes[11] << 8, bytes[12] | bytes[13] << 8)
        #expect([first >> 11, first >> 5 & 63, first & 31] == time, "\(text)")
        #expect([second >> 9, second >> 5 & 15, second & 31] == day, "\(text)")
    }

    private func check(_ node: ConfigurationNode?, _ fields: [String: FieldType], _ what: String) {
        guard case .map(let entries)? = node?.content else {
            Issue.record("\(what) is no object")
            return
        }
        #expect(entries.map(\.key).sorted() == fields.keys.sorted(), "\(what)")
        for entry in entries { #expect(type(of: entry.value) == fields[entry.key], "\(what): \(entry.key)") }
    }

    /// Every field by the type that clients parse: a field that is missing or another one has broken clients.
    @Test func everyFieldHasItsType() async throws {
        let scene = try await XtreamScene(tokens: [try #require(AccessToken(server))])
        let account = try await scene.api()
        check(account["user_info"], userFields, "user_info")
        check(account["server_info"], serverFields, "server_info")
        #expect(account.count == 2 && account["user_info"]?["auth"]?.text == "1")
        #expect(account["server_info"]?["url"]?.text == "tv.example" && account["server_info"]?["port"]?.text == "8080")
        let categories = try await scene.api("&action=get_live_categories")
        #expect(categories.count == 3, "UK, News; Talk and Other")
        check(categories[0], ["category_id": .numericText, "category_name": .text, "parent_id": .number], "category")
        let streams = try await scene.api("&action=get_live_streams")
        #expect(streams.count == 3)
        for index in 0..<3 { check(streams[index], streamFields, "stream \(index)") }
        #expect(streams[0]?["num"]?.text == "7" && streams[0]?["tv_archive_duration"]?.text == "0", "not always on")
        for action in ["get_vod_categories", "get_vod_streams", "get_series", "get_series_categories"] {
            #expect(try await scene.text("/player_api.php?\(login)&action=\(action)") == "[]")
        }
        #expect(try await scene.api("&action=no_such_action")["user_info"] != nil, "as without an action")
        let number = streams[0]?["stream_id"]?.text ?? ""
        let short = try await scene.api("&action=get_short_epg&stream_id=\(number)&limit=2")
        #expect(short["epg_listings"]?.count == 2)
        for index in 0..<2 { check(short["epg_listings"]?[index], listingFields, "listing \(index)") }
        let panel = try await scene.json("/panel_api.php?\(login)")
        check(panel["user_info"], userFields, "user_info of the panel")
        let further: [String: FieldType] = [
            "category_name": .text, "type_name": .text, "live": .numericText, "container_extension": .null,
        ]
        check(
            panel["available_channels"]?[number], streamFields.merging(further) { one, _ in one }, "stream of the panel"
        )
        #expect(panel["categories"]?["live"]?.count == 3 && panel["categories"]?["movie"]?.count == 0)
        await scene.end()
    }

    @Test func guideOfAChannel() async throws {
        let scene = try await XtreamScene(tokens: [try #require(AccessToken(server))])
        let number = scene.scene.host.directory.streamNumbers[0]
        func listings(_ action: String) async throws -> [ConfigurationNode] {
            let answer = try await scene.api("&action=\(action)&stream_id=\(number)")
            guard case .list(let items)? = answer["epg_listings"]?.content else { return [] }
            return items
        }
        func titles(_ listings: [ConfigurationNode]) -> [String] {
            listings.map { node in
                String(decoding: Data(base64Encoded: node["title"]?.text ?? "") ?? Data(), as: UTF8.self)
            }
        }
        let short = try await listings("get_short_epg")
        #expect(titles(short) == ["Now é é", "Next", "Later"], "what is over is left out")
        #expect(short.map { $0["now_playing"]?.text } == ["1", "0", "0"])
        let first = try #require(short.first)
        #expect(first["start_timestamp"]?.text == "\(now - 600)" && first["stop_timestamp"]?.text == "\(now + 3000)")
        #expect(first["start"]?.text?.wholeMatch(of: /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/) != nil)
        let all = try await listings("get_simple_data_table")
        #expect(titles(all) == ["Past & gone", "Now é é", "Next", "Later"])
        #expect(try await listings("get_simple_date_table").count == 4)
        #expect(all.allSatisfy { $0["has_archive"]?.text == "0" })
        #expect(try await scene.api("&action=get_short_epg&stream_id=1")["epg_listings"]?.count == 0)
        #expect(try await scene.get("/xmltv.php?\(login)").contentType == .xml)
        let ranges = [("", 4), ("start=\(now)", 3), ("start=\(now)&end=\(now + 60)", 1), ("end=\(now)", 2)]
        for (query, count) in ranges {
            let text = try await scene.text("/news/programs.json?token=\(newsToken)&\(query)")
            #expect(text.components(separatedBy: "\"title\"").count - 1 == count, "\(query): \(text)")
        }
        #expect(try await scene.text("/sport/programs.json?token=\(server)") == "{\"programs\":[]}")
        await scene.end()
    }

    /// The calls of a client in their order: account, categories, streams of one, guide, playing.
    @Test func sessionOfAClient() async throws {
        let origin = try await CountingOrigin(.clean)
        let scene = try await XtreamScene(url: origin.url, tokens: [try #require(AccessToken(server))])
        let base = "http://127.0.0.1:\(scene.http.port)"
        var client = try RawClient(port: scene.http.port)
        let form = "username=anna&password=\(server)&action=get_live_categories"
        try client.send(
            request(
                "POST", "/player_api.php",
                ["Content-Type: application/x-www-form-urlencoded", "Content-Length: \(form.utf8.count)"]) + form)
        let posted = try client.response()
        #expect(posted.status == 200 && posted["Content-Type"] == "application/json")
        let categories = try await scene.api("&action=get_live_categories")
        #expect(String(decoding: posted.body, as: UTF8.self).contains(categories[0]?["category_id"]?.text ?? "none"))
        let other = try #require(categories[1]?["category_id"]?.text)
        let streams = try await scene.api("&action=get_live_streams&category_id=\(other)")
        #expect(streams.count == 1 && streams[0]?["category_id"]?.text == other, "its second group")
        #expect(try await scene.text("/player_api.php?\(login)&action=get_live_streams&category_id=99") == "[]")
        let number = try #require(streams[0]?["stream_id"]?.text)
        for path in ["/live/anna/\(server)/\(number).ts", "/anna/\(server)/\(number)"] {
            let probe = try FFmpegTool.run(
                "ffprobe", ["-v", "error", "-show_entries", "stream=codec_type", "-of", "csv=p=0", base + path])
            #expect(
                Set(probe.text.split(separator: "\n")).isSuperset(of: ["video", "audio"]), "\(path): \(probe.errors)")
        }
        let live = try await scene.text("/news/live.m3u8?token=\(server)")
        let listed = try MediaPlaylistParser.parse(Array(live.utf8))
        let start = try #require(listed.segments.first?.programDateTime).millisecondsSince1970 / 1000
        let archive = "timeshift/anna/\(server)/60/\(start)/\(number).m3u8"
        let paths = [
            "/live/anna/\(server)/\(number).m3u8", "/anna/\(server)/\(number).m3u8", "/" + archive,
            "/" + archive.replacing("anna", with: ""),
        ]
        for path in paths {
            let playlist = try MediaPlaylistParser.parse(Array(try await scene.text(path).utf8))
            let (segment, map) = (try #require(playlist.segments.first), try #require(playlist.segments.first?.map))
            for uri in [segment.uri, map.uri] {
                let url = URIReference.resolve(uri, against: base + path)
                #expect(url.hasPrefix(base + "/news/") && url.hasSuffix("token=\(server)"), "\(path): \(url)")
                #expect(try await scene.get(String(url.dropFirst(base.count))).status == .ok, "\(url)")
            }
        }
        let past = try await scene.get("/timeshift/anna/\(server)/60/2026-01-02:12-00/\(number).m3u8")
        #expect(past.status == .notFound, "outside of the archive")
        let played = try FFmpegTool.run(
            "ffmpeg",
            [
                "-v", "error", "-i", "\(base)/live/anna/\(server)/\(number).m3u8", "-t", "1", "-f", "framecrc", "-",
            ])
        #expect(played.text.split(separator: "\n").count > 20, "\(played.errors)")
        #expect(scene.scene.host.overview.startCount == 1)
        await scene.end()
        await origin.server.shutdown(within: .zero)
    }

    /// The archive as a client finds it: announced with the stream and its programs, and addressed by minutes and a stamp.
    @Test func archiveOfAClient() async throws {
        let origin = try await CountingOrigin(.clean)
        let scene = try await XtreamScene(
            url: origin.url, tokens: [try #require(AccessToken(server))], isAlways: true)
        let stream = try #require(try await scene.api("&action=get_live_streams")[0])
        check(stream, streamFields, "stream with an archive")
        #expect(stream["tv_archive"]?.text == "1" && stream["tv_archive_duration"]?.text == "2")
        let number = try #require(stream["stream_id"]?.text)
        let programs = try await scene.api("&action=get_simple_data_table&stream_id=\(number)")["epg_listings"]
        let archived = (0..<4).map { programs?[$0]?["has_archive"]?.text }
        #expect(archived == ["1", "0", "0", "0"], "what is over, and as old as the archive at most")
        let live = try await scene.text("/live/anna/\(server)/\(number).m3u8")
        let segments = try MediaPlaylistParser.parse(Array(live.utf8)).segments
        let start = try #require(segments.first?.programDateTime).millisecondsSince1970 / 1000
        let minute = XtreamCatalog.text(ProgramDateTime(millisecondsSince1970: start * 1000)).prefix(16)
        let stamps = ["\(start)", "\(start)000", minute.replacing(" ", with: ":").replacing(/:(\d\d)$/) { "-\($0.1)" }]
        let account = "username=anna&password=\(server)&stream=\(number)&duration=60"
        let paths = stamps.flatMap { stamp in
            [
                "/timeshift/anna/\(server)/60/\(stamp)/\(number).ts", "/timeshift/anna/\(server)/60/\(stamp)/\(number)",
                "/streaming/timeshift.php?\(account)&start=\(stamp)", "/timeshift.php?\(account)&start=\(stamp)",
            ]
        }
        for path in paths {
            var client = try RawClient(port: scene.http.port)
            try client.send(request("GET", path))
            // The hour that begins there is not over, so its end is not waited for.
            let answer = try client.head()
            #expect(answer.status == 200 && answer["Content-Type"] == "video/mp2t", "\(path): \(answer.status)")
        }
        await scene.end()
        await origin.server.shutdown(within: .zero)
    }

    /// Long documents are counted as long as somebody holds them, and made on a thread of documents.
    @Test func longDocumentsAreCounted() async throws {
        let scene = try await XtreamScene(tokens: [try #require(AccessToken(server))])
        let number = scene.scene.host.directory.streamNumbers[0]
        let actions = [
            "get_live_categories", "get_live_streams", "get_short_epg&stream_id=\(number)",
            "get_simple_data_table&stream_id=\(number)",
        ]
        let documents = ["/panel_api.php?\(login)", "/get.php?\(login)"]
        for uri in actions.map({ "/player_api.php?\(login)&action=\($0)" }) + documents {
            #expect(try await scene.get(uri).held?.bytes.isEmpty == false, "\(uri)")
        }
        await scene.end()
    }

    @Test func listsHoldTheSameStreams() async throws {
        let scene = try await XtreamScene(tokens: [try #require(AccessToken(server))])
        let numbers = scene.scene.host.directory.streamNumbers
        let list = try await scene.text("/get.php?\(login)&type=m3u_plus&output=m3u8")
        let guide = "http://tv.example:8080/xmltv.php?\(login)"
        #expect(list.hasPrefix("#EXTM3U x-tvg-url=\"\(guide)\" url-tvg=\"\(guide)\"\n"))
        #expect(list.contains(",News\nhttp://tv.example:8080/live/anna/\(server)/\(numbers[0]).m3u8\n"))
        let plain = try await scene.text("/get.php?\(login)&type=m3u&output=ts")
        #expect(
            plain.hasPrefix("#EXTM3U\n#EXTINF:-1,News\nhttp://tv.example:8080/live/anna/\(server)/\(numbers[0]).ts\n"))
        #expect(!plain.contains("KODIPROP"))
        let odd = try await scene.text("/get.php?username=a%2Fb&password=\(server)&type=m3u_plus")
        #expect(odd.contains("/live/a%2Fb/\(server)/"))
        let cached = try await scene.get("/get.php?username=eve&password=\(newsToken)&type=m3u_plus")
        guard case .bytes(let bytes, _) = cached.body else { return }
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains("/live/eve/\(newsToken)/\(numbers[0]).ts") && !text.contains(server), "of one viewer")
        #expect(!text.contains("Sport") && !text.contains("xmltv"))
        await scene.end()
    }
}
