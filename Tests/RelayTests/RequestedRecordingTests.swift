import ChannelList
import ChannelTestSupport
import Foundation
import HTTP
import Logging
import Observability
import TestSupport
import Testing
import WebServer
import WebTestSupport

@testable import Channel
@testable import LiveRing
@testable import Record
@testable import Service
@testable import Support

/// Recordings that the API is asked for.
@Suite(.ownThreads, .timeLimit(.minutes(1))) struct RequestedRecordingTests {
    /// A directory of recordings that is removed with its owner.
    private final class Folder {
        let path = FileManager.default.temporaryDirectory.appending(path: "liverelay-test-\(UUID().uuidString)").path
        /// The time since the folder was made, which goes on by hand.
        let time = ManualHostClock()
        private let start = WallClock.milliseconds
        deinit { try? FileManager.default.removeItem(atPath: path) }

        func place(_ format: String = "ts", at time: Int64 = 0, isDiskFull: Bool = false) throws
            -> ServeScene.RecordingPlace
        {
            // So much later than in the ring: a range of it is over.
            let (start, manual) = (start + time, self.time.clock)
            let clock = RecordingClock(
                now: { ProgramDateTime(millisecondsSince1970: start + manual.now().wholeMilliseconds) },
                sleep: { try await manual.sleep(.milliseconds($0.millisecondsSince1970 - start)) })
            return .init(
                pattern: try RecordingPattern("\(path)/{channel}/{title}.\(format)"), clock: clock,
                fileSystem: FileSystem(space: { _ in
                    isDiskFull ? FileSystemSpace(freeBytes: 0, byteCount: 1 << 30) : nil
                }))
        }

        var files: [String] {
            ((try? FileManager.default.contentsOfDirectory(atPath: "\(path)/news")) ?? []).sorted()
        }

        func write(_ bytes: [UInt8], as name: String) throws {
            try FileManager.default.createDirectory(atPath: "\(path)/news", withIntermediateDirectories: true)
            try Data(bytes).write(to: URL(filePath: "\(path)/\(name)"))
        }

        /// Leaves the list of an earlier process.
        func write(_ schedule: RecordingSchedule) throws {
            try write(Array(try JSONEncoder().encode(schedule)), as: ".recordings.json")
        }

        var schedule: RecordingSchedule {
            get throws {
                let bytes = try Data(contentsOf: URL(filePath: "\(path)/.recordings.json"))
                return try JSONDecoder().decode(RecordingSchedule.self, from: bytes)
            }
        }

        func document(_ name: String) throws -> String {
            String(decoding: try Data(contentsOf: URL(filePath: "\(path)/news/\(name).json")), as: UTF8.self)
        }
    }

    private static func scene(_ origin: CountingOrigin, _ place: ServeScene.RecordingPlace) async throws -> ServeScene {
        let scene = try await ServeScene(
            [(slug: "news", url: origin.url)], always: ["news"], recordings: place)
        scene.host.start()
        scene.recordings?.start()
        return scene
    }

    private static func dates(_ scene: ServeScene) async throws -> Range<ProgramDateTime> {
        await scene.reaches("running", "news")
        let dates = try #require(scene.host.running("news")?.state.snapshot?.dates)
        return dates.first..<dates.end
    }

    private static func id(_ response: RawResponse) throws -> Int {
        let object = try JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any]
        return try #require(object?["id"] as? Int, "\(String(decoding: response.body, as: UTF8.self))")
    }

    /// A range that is over is there at once, with what the ring has no more of.
    @Test func pastIsRecorded() async throws {
        let (origin, folder) = (try await CountingOrigin(.clean), Folder())
        let scene = try await Self.scene(origin, try folder.place("mkv", at: 86_400_000))
        let dates = try await Self.dates(scene)
        let start = dates.lowerBound.advanced(byMilliseconds: -10_000)
        let body = #"{"channel":"news","name":"../A","start":"\#(start.text)","end":"\#(dates.upperBound.text)"}"#
        let planned = try scene.api("POST", "/api/recordings", body)
        let id = try Self.id(planned)
        #expect(String(decoding: planned.body, as: UTF8.self).contains("\"lostSeconds\" : 10"), "it is said at once")
        await scene.reaches(recording: id) { $0?.isOver == true }
        let answer = String(decoding: try scene.api("GET", "/api/recordings/\(id)").body, as: UTF8.self)
        #expect(answer.contains("\"state\" : \"done\"") && answer.contains("\"lostSeconds\" : 10"), "\(answer)")
        #expect(answer.contains("news/_._A.mkv") && !answer.contains("playlist"), "\(answer)")
        #expect(folder.files == ["_._A.json", "_._A.mkv"], "\(folder.files)")
        let document = try folder.document("_._A")
        #expect(document.contains(#""reason":"evicted""#) && document.contains(#""title":"../A""#), "\(document)")
        #expect(try scene.api("DELETE", "/api/recordings/\(id)?files=true").status == 204)
        #expect(folder.files.isEmpty && scene.recordings?.recordings.isEmpty == true)
        await scene.end()
        await origin.server.shutdown(within: .zero)
    }

    /// A recording by its length that is repeated: the next one is planned when it begins, and its file can be had.
    @Test func recordingIsRepeated() async throws {
        let (origin, folder) = (try await CountingOrigin(.clean), Folder())
        let scene = try await Self.scene(origin, try folder.place())
        let dates = try await Self.dates(scene)
        let body = """
            {"channel":"news","name":"A b","start":"\(dates.lowerBound.text)","duration":"1h","repeat":"daily","ads":"cut"}
            """
        let id = try Self.id(try scene.api("POST", "/api/recordings", body))
        await scene.reaches(recording: id) { ($0?.files?.byteCount ?? 0) > 0 }
        await scene.reaches(recording: id + 1) { $0 != nil }
        let next = try #require(scene.recordings?[id + 1])
        #expect(scene.recordings?[id]?.ads == .cut && next.ads == .cut)
        #expect(next.state == .planned && next.repetition?.rule == .daily && scene.recordings?[id]?.repetition == nil)
        #expect(abs(next.startDate.milliseconds(since: dates.lowerBound) - 86_400_000) <= 3_600_000)
        #expect(try scene.get("/web/recordings/\(id).ts").status == 404, "it is open")
        #expect(try scene.api("DELETE", "/api/recordings/\(id)").status == 204)
        await scene.reaches(recording: id) { $0?.isOver == true }
        let ended = try #require(scene.recordings?[id])
        #expect(ended.actualEnd < ended.endDate, "a recording that was stopped ends where it was")
        let file = try scene.get("/web/recordings/\(id).ts")
        #expect(file.status == 200 && file.body.first == 0x47)
        #expect(file["Content-Disposition"] == "attachment; filename*=UTF-8''A%20b.ts")
        for path in ["\(id).mkv", "\(id)", "999.ts"] {
            #expect(try scene.get("/web/recordings/\(path)").status == 404, "\(path)")
        }
        #expect(try scene.text("/web/recordings.json").contains("/web/recordings/\(id).ts"))
        for (keys, status) in [
            (#""duration":"1h","end":1767268800"#, 422), (#""duration":"1h","repeat":"title""#, 422),
            (#""duration":"1h","repeat":"hourly""#, 422), (#""duration":"1h","ads":"skip""#, 422),
            (#""programme":"now","duration":"1h""#, 422),
        ] {
            let body = #"{"channel":"news",\#(keys)}"#
            #expect(try scene.api("POST", "/api/recordings", body).status == status, "\(keys)")
        }
        await scene.end()
        await origin.server.shutdown(within: .zero)
    }

    /// Whoever deletes an open recording has what was published until then.
    @Test func openRecordingEndsWhenItIsDeleted() async throws {
        let (origin, folder) = (try await CountingOrigin(.clean), Folder())
        let scene = try await Self.scene(origin, try folder.place())
        let dates = try await Self.dates(scene)
        let end = dates.upperBound.advanced(byMilliseconds: 3_600_000)
        let body = #"{"channel":"news","start":"\#(dates.lowerBound.text)","end":"\#(end.text)","keep":true}"#
        let id = try Self.id(try scene.api("POST", "/api/recordings", body))
        await scene.reaches(recording: id) { ($0?.files?.byteCount ?? 0) > 0 }
        let answer = String(decoding: try scene.api("GET", "/api/recordings").body, as: UTF8.self)
        #expect(answer.contains("\"state\" : \"recording\"") && answer.contains("archive-"), "\(answer)")
        #expect(try scene.text("/web/recordings.json").contains("archive-"), "the page has it too")
        #expect(try scene.api("DELETE", "/api/recordings/\(id)").status == 204)
        await scene.reaches(recording: id) { $0?.isOver == true }
        #expect(scene.recordings?[id]?.files?.lostMilliseconds == 0)
        #expect(folder.files == ["news.json", "news.keep", "news.m3u8", "news.ts"])
        #expect(try scene.api("PATCH", "/api/recordings/\(id)", #"{"keep":false}"#).status == 200)
        #expect(folder.files == ["news.json", "news.m3u8", "news.ts"])
        #expect(try scene.api("DELETE", "/api/recordings/\(id)").status == 204)
        #expect(folder.files == ["news.json", "news.m3u8", "news.ts"], "only the list has forgotten it")
        #expect(try scene.api("DELETE", "/api/recordings/\(id)").status == 404)
        await scene.end()
        await origin.server.shutdown(within: .zero)
    }

    private static let record =
        #"{"id":3,"channel":"news","name":"a","start":1,"end":60001,"isKept":false,"isEnded":true,"state":{"done":{}}}"#

    /// The list of an earlier process, what is left of it, and the next number.
    private static let damagedLists: [(what: String, text: String, kept: [Int], isSetAside: Bool, next: Int)] = [
        ("whole", #"{"recordings":[\#(record)],"lastID":7}"#, [3], false, 8),
        ("empty", "", [], true, 1), ("a page", "<html>", [], true, 1),
        ("cut short", #"{"recordings":[\#(record)],"las"#, [], true, 1), ("zeros", "\0\0\0\0", [], true, 1),
        ("a list of another kind", "[1, 2]", [], true, 1),
        ("one recording without its channel", #"{"recordings":[{"id":1},\#(record)],"lastID":7}"#, [3], true, 8),
        ("the largest number", #"{"recordings":[\#(record)],"lastID":9223372036854775807}"#, [3], false, 4),
        ("a number below that of a recording", #"{"recordings":[\#(record)],"lastID":-5}"#, [3], false, 4),
        (
            "the largest number of a recording",
            #"{"recordings":[\#(record.replacing("\"id\":3", with: "\"id\":9223372036854775807"))],"lastID":7}"#, [],
            true, 8
        ),
        (
            "a recording that ends before its start",
            #"{"recordings":[\#(record.replacing("60001", with: "0"))],"lastID":7}"#, [], true, 8
        ),
        (
            "a file outside of the directory",
            #"{"recordings":[\#(record.dropLast()),"files":{"base":"../../etc/x","suffixes":[],"byteCount":0,"lostMilliseconds":0}}],"lastID":7}"#,
            [], true, 8
        ),
    ]

    @Test(arguments: damagedLists.indices) func aDamagedListKeepsNoChannelAway(row: Int) async throws {
        let row = Self.damagedLists[row]
        let (origin, folder) = (try await CountingOrigin(.clean), Folder())
        try folder.write(Array(row.text.utf8), as: ".recordings.json")
        let scene = try await Self.scene(origin, try folder.place())
        #expect(scene.recordings?.recordings.map(\.id) == row.kept, "\(row.what)")
        let aside = FileManager.default.contents(atPath: "\(folder.path)/.recordings.json.damaged")
        #expect(aside.map { String(decoding: $0, as: UTF8.self) } == (row.isSetAside ? row.text : nil), "\(row.what)")
        let seconds = WallClock.milliseconds / 1000 + 86_400
        let body = #"{"channel":"news","start":\#(seconds),"end":\#(seconds + 60)}"#
        #expect(try Self.id(try scene.api("POST", "/api/recordings", body)) == row.next, "\(row.what)")
        await scene.end()
        await origin.server.shutdown(within: .zero)
    }

    /// A list of a later version is refused and left as it is.
    @Test func laterFormatIsRefused() async throws {
        let (origin, folder, other) = (try await CountingOrigin(.clean), Folder(), Folder())
        let scene = try await Self.scene(origin, try other.place())
        let text = #"{"format":2,"recordings":[],"lastID":7}"#
        try folder.write(Array(text.utf8), as: ".recordings.json")
        let path = "\(folder.path)/.recordings.json"
        #expect(throws: RecordingFile.Failure.laterFormat(path: path)) {
            let place = try folder.place()
            _ = try RecordingService(
                place.pattern, host: scene.host, logger: .init(label: "test"), bus: .init(), clock: place.clock)
        }
        #expect(FileManager.default.contents(atPath: path) == Data(text.utf8))
        await scene.end()
        await origin.server.shutdown(within: .zero)
    }

    /// Nothing is planned where nothing can be written.
    @Test func directoryWithoutPermission() async throws {
        let (origin, folder) = (try await CountingOrigin(.clean), Folder())
        let scene = try await Self.scene(origin, try folder.place())
        try FileManager.default.removeItem(atPath: folder.path)
        try Data("a file".utf8).write(to: URL(filePath: folder.path))
        let seconds = WallClock.milliseconds / 1000
        let response = try scene.api("POST", "/api/recordings", #"{"channel":"news","end":\#(seconds + 60)}"#)
        let text = String(decoding: response.body, as: UTF8.self)
        #expect(response.status == 503 && text.contains("Not a directory"), "\(text)")
        await scene.end()
        await origin.server.shutdown(within: .zero)
    }

    /// A process that ends leaves its recordings to the next one, and a full disk is waited for.
    @Test func nextProcessGoesOn() async throws {
        let (origin, folder) = (try await CountingOrigin(.clean), Folder())
        let full = try await Self.scene(origin, try folder.place(isDiskFull: true))
        let dates = try await Self.dates(full)
        let id = try #require(
            try await full.recordings?.add(
                channel: "news", name: nil,
                range: (dates.lowerBound, dates.upperBound.advanced(byMilliseconds: 3_600_000)), isKept: false)
        ).id
        await full.reaches(recording: id) { if case .paused? = $0?.state { true } else { false } }
        #expect(full.recordings?[id]?.state == .paused(reason: RecordingFile.Failure.full.message))
        #expect(throws: RecordingFile.Failure.inUse(path: folder.path)) {
            let place = try folder.place()
            _ = try RecordingService(
                place.pattern, host: full.host, logger: .init(label: "test"), bus: .init(), clock: place.clock)
        }
        let later = Int64(30 * 86_400)
        let seconds = WallClock.milliseconds / 1000 + later
        let planned = try Self.id(
            try full.api("POST", "/api/recordings", #"{"channel":"news","start":\#(seconds),"end":\#(seconds + 60)}"#))
        await full.end()
        let next = try await Self.scene(origin, try folder.place())
        #expect(next.recordings?[planned]?.state == .planned)
        await next.reaches(recording: id) { ($0?.files?.byteCount ?? 0) > 0 && $0?.state == .recording }
        #expect(try next.api("DELETE", "/api/recordings/\(planned)").status == 204)
        #expect(next.recordings?[planned] == nil)
        await next.end()
        await origin.server.shutdown(within: .zero)
    }

    /// A channel that is relayed from elsewhere has another run, and the recording goes on with that.
    @Test func nextRunGoesOn() async throws {
        let (origin, folder) = (try await CountingOrigin(.clean), Folder())
        let scene = try await Self.scene(origin, try folder.place())
        let dates = try await Self.dates(scene)
        let range = (dates.lowerBound, dates.upperBound.advanced(byMilliseconds: 3_600_000))
        let recording = try await scene.recordings?.add(channel: "news", name: nil, range: range, isKept: false)
        let id = try #require(recording).id
        await scene.reaches(recording: id) { ($0?.files?.byteCount ?? 0) > 0 }
        let channel = #"{"url":"\#(origin.url)?again","always":true}"#
        #expect(try scene.api("PUT", "/api/channels/news", channel).status == 200)
        await scene.reaches { $0.startCount == 2 && ServeStatus.state(of: $0.channels["news"]) == "running" }
        let count = scene.recordings?[id]?.files?.byteCount ?? 0
        let goesOn = await waits {
            // It looks for the next run at intervals.
            folder.time.advance(by: .seconds(1))
            return (scene.recordings?[id]?.files?.byteCount ?? 0) > count
        }
        #expect(goesOn)
        await scene.end()
        await origin.server.shutdown(within: .zero)
    }

    /// A list that is gone costs no recording its file: the next one of its number has another.
    @Test func journalOfAnotherRecordingStays() async throws {
        let (origin, folder) = (try await CountingOrigin(.clean), Folder())
        var sizes: [Int] = []
        for milliseconds: Int64 in [3_600_000, 7_200_000] {
            let scene = try await Self.scene(origin, try folder.place())
            let dates = try await Self.dates(scene)
            let range = (dates.lowerBound, dates.upperBound.advanced(byMilliseconds: milliseconds))
            let recording = try await scene.recordings?.add(channel: "news", name: nil, range: range, isKept: false)
            let id = try #require(recording).id
            #expect(id == 1)
            await scene.reaches(recording: id) { ($0?.files?.byteCount ?? 0) > 0 }
            await scene.end()
            sizes.append(try Data(contentsOf: URL(filePath: "\(folder.path)/news/news.ts")).count)
            try FileManager.default.removeItem(atPath: "\(folder.path)/.recordings.json")
        }
        #expect(folder.files == ["news-2.m3u8", "news-2.ts", "news.m3u8", "news.ts"], "\(folder.files)")
        #expect(sizes[0] == sizes[1], "\(sizes)")
        await origin.server.shutdown(within: .zero)
    }

    /// A recording that somebody ended before the process did has no more than was there.
    @Test func nextProcessEndsWhatIsEnded() async throws {
        let (origin, folder) = (try await CountingOrigin(.clean), Folder())
        let first = try await Self.scene(origin, try folder.place())
        let dates = try await Self.dates(first)
        let end = dates.upperBound.advanced(byMilliseconds: 3_600_000)
        let range = (dates.lowerBound, end)
        let recording = try await first.recordings?.add(channel: "news", name: nil, range: range, isKept: false)
        let id = try #require(recording).id
        await first.reaches(recording: id) { ($0?.files?.byteCount ?? 0) > 0 }
        await first.end()
        var schedule = try folder.schedule
        schedule.update(id) { $0.isEnded = true }
        #expect(schedule[id]?.isOver == false)
        try folder.write(schedule)
        let next = try await Self.scene(origin, try folder.place())
        await next.reaches(recording: id) { $0?.isOver == true }
        #expect(next.recordings?[id]?.state == .done(note: nil))
        #expect(next.recordings?[id]?.files?.lostMilliseconds == 0)
        await next.end()
        await origin.server.shutdown(within: .zero)
    }

    private static let now = ProgramDateTime(millisecondsSince1970: 1_767_268_800_000)

    /// Recordings of 100 s of one channel.
    private static func schedule(of count: Int, from seconds: Int64 = 0) throws -> RecordingSchedule {
        let start = now.advanced(byMilliseconds: seconds * 1000)
        var schedule = RecordingSchedule()
        for _ in 0..<count {
            _ = try schedule.add(
                channel: "news", name: "News", range: (start, start.advanced(byMilliseconds: 100_000)), isKept: false,
                at: now)
        }
        return schedule
    }

    private static let left: [(when: String, files: [String], suffixes: [String]?, byteCount: UInt64)] = [
        ("finished, and not listed so", ["json", "mkv"], ["mkv", "json"], 20), ("gone", [], nil, 0),
        ("without its media", ["json"], nil, 0),
    ]

    /// The process ended while a recording got its last form: the list says what is there.
    @Test func listSaysWhatIsThere() async throws {
        for row in Self.left {
            let folder = Folder()
            var schedule = try Self.schedule(of: 1, from: -100)
            schedule.update(1) { found in
                found.files = .init(base: "news/a", byteCount: 7)
                found.state = .finishing
            }
            for suffix in row.files { try folder.write([UInt8](repeating: 0, count: 10), as: "news/a.\(suffix)") }
            try folder.write([], as: "news/other.ts")
            try folder.write(schedule)
            let scene = try await ServeScene(
                [(slug: "news", url: "http://127.0.0.1:9/x.m3u8")], recordings: try folder.place("mkv"))
            scene.recordings?.start()
            await scene.reaches(recording: 1) { $0?.isOver == true }
            let found = try #require(scene.recordings?[1])
            if let suffixes = row.suffixes {
                #expect(found.state == .done(note: nil) && found.files?.suffixes == suffixes, "\(row.when)")
                #expect(found.files?.byteCount == row.byteCount, "\(row.when)")
            } else {
                #expect(found.state == .failed(reason: "Its files are gone."), "\(row.when)")
            }
            await scene.end()
        }
    }

    /// A recording waits for its time, starts its channel before it, and for its media for a while after it.
    @Test func recordingHasItsTime() async throws {
        let (origin, folder) = (try await CountingOrigin(.clean), Folder())
        let scene = try await ServeScene([(slug: "news", url: origin.url)], recordings: try folder.place())
        let recordings = try #require(scene.recordings)
        let now = recordings.clock.now()
        let day: Int64 = 86_400_000
        let range = (now.advanced(byMilliseconds: day), now.advanced(byMilliseconds: day + 60_000))
        let id = try await recordings.add(channel: "news", name: nil, range: range, isKept: false).id
        folder.time.advance(by: .seconds(86_360))
        #expect(scene.host.running("news") == nil && recordings[id]?.state == .planned)
        folder.time.advance(by: .seconds(10))
        await scene.reaches("running", "news")
        folder.time.advance(by: .seconds(30 + 60 + 120))
        await scene.reaches(recording: id) { $0?.isOver == true }
        #expect(recordings[id]?.state == .failed(reason: "Nothing of its time was published."))
        await scene.end()
        await origin.server.shutdown(within: .zero)
    }

    /// Whoever deletes a recording before it is launched has none.
    @Test func launchForgetsWhatIsEnded() async throws {
        let folder = Folder()
        var schedule = try Self.schedule(of: 2)
        schedule.update(1) { $0.isEnded = true }
        try folder.write(schedule)
        let later = Self.now.millisecondsSince1970 - 3_600_000 - WallClock.milliseconds
        let scene = try await ServeScene(
            [(slug: "news", url: "http://127.0.0.1:9/x.m3u8")], recordings: try folder.place(at: later))
        scene.recordings?.start()
        await scene.reaches(recording: 1) { $0 == nil }
        #expect(scene.recordings?.recordings.map(\.id) == [2])
        await scene.end()
    }

    /// A process that ended while it removed a recording: before the first file, between two, before the list was stored, and
    /// after that. The names of files are those that are left.
    private static let removals: [(when: String, listed: Bool, marked: Bool, left: [String], kept: [String])] = [
        (
            "before the mark", true, false, ["film.json", "film.m3u8", "film.ts"],
            ["film.json", "film.m3u8", "film.ts"]
        ),
        ("before the first file", true, true, ["film.json", "film.m3u8", "film.ts"], []),
        ("between two files", true, true, ["film.json", "film.m3u8"], []),
        ("before the list was stored", true, true, [], []),
        ("after the list was stored", false, true, [], []),
    ]

    @Test(arguments: removals.indices) func nextProcessEndsARemoval(row: Int) async throws {
        let (row, folder) = (Self.removals[row], Folder())
        var schedule = try Self.schedule(of: 2)
        for id in 1...2 {
            schedule.update(id) {
                $0.files = .init(base: id == 1 ? "news/film" : "news/other")
                $0.state = .done(note: nil)
            }
        }
        if !row.listed { schedule.remove(1) }
        try folder.write(schedule)
        for name in row.left + ["other.ts"] { try folder.write([1], as: "news/\(name)") }
        if row.marked { try folder.write([], as: ".api-1.removed") }
        let scene = try await ServeScene(
            [(slug: "news", url: "http://127.0.0.1:9/x.m3u8")], recordings: try folder.place())
        #expect(scene.recordings?.recordings.map(\.id) == (row.kept.isEmpty ? [2] : [1, 2]), "\(row.when)")
        #expect(try folder.schedule.recordings.map(\.id) == (row.kept.isEmpty ? [2] : [1, 2]), "\(row.when)")
        #expect(folder.files == row.kept + ["other.ts"], "\(row.when): \(folder.files)")
        #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/.api-1.removed"), "\(row.when)")
        await scene.end()
    }

    /// What retention removes has left the list before the first file goes, and the mark of a removal goes with its end.
    @Test func removalsLeaveTheListFirst() async throws {
        let folder = Folder()
        var schedule = try Self.schedule(of: 2)
        for id in 1...2 {
            let name = id == 1 ? "old" : "film"
            schedule.update(id) {
                $0.files = .init(base: "news/\(name)", suffixes: ["ts", "json"])
                $0.state = .done(note: nil)
            }
            try folder.write(Array(#"{"file":"\#(name).ts","channel":"news"}"#.utf8), as: "news/\(name).json")
        }
        try folder.write(schedule)
        let scene = try await ServeScene(
            [(slug: "news", url: "http://127.0.0.1:9/x.m3u8")], recordings: try folder.place())
        let recordings = try #require(scene.recordings)
        let old = "\(folder.path)/news/old"
        let hourAgo = Date(timeIntervalSinceNow: -3600)
        try FileManager.default.setAttributes([.modificationDate: hourAgo], ofItemAtPath: old + ".json")
        var listed: [Int] = []
        let gone = RecordingRetention(longest: 60).sweep(recordings.pattern, channel: "news") { paths in
            #expect(paths == [old] && FileManager.default.fileExists(atPath: old + ".json"))
            listed = recordings.recordings.map(\.id)
        }
        #expect(gone == [old] && listed == [1, 2])
        try folder.write(Array(#"{"file":"old.ts","channel":"news"}"#.utf8), as: "news/old.json")
        try FileManager.default.setAttributes([.modificationDate: hourAgo], ofItemAtPath: old + ".json")
        #expect(recordings.sweep("news", RecordingRetention(longest: 60)) == [old])
        #expect(try folder.schedule.recordings.map(\.id) == [2], "stored by the sweep")
        #expect(try await recordings.remove(2, removesFiles: true))
        #expect(folder.files == [] && recordings.recordings.isEmpty)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == [".recordings.json", "news"])
        await scene.end()
    }

    /// A change that cannot be stored does not happen, and nothing is stored for a process that ends.
    @Test func changesThatCannotBeStored() async throws {
        let (server, folder) = (SilentServer(), Folder())
        let scene = try await ServeScene([(slug: "news", url: server.url)], recordings: try folder.place())
        let recordings = try #require(scene.recordings)
        let now = recordings.clock.now()
        let range = (now, now.advanced(byMilliseconds: 3_600_000))
        let id = try await recordings.add(channel: "news", name: nil, range: range, isKept: false).id
        while server.connectionCount == 0 { await Task.yield() }
        // A directory is in the way of the list.
        try FileManager.default.createDirectory(
            atPath: "\(folder.path)/.recordings.json.part", withIntermediateDirectories: true)
        let refused = [
            try scene.api("PATCH", "/api/recordings/\(id)", #"{"keep":true}"#),
            try scene.api("DELETE", "/api/recordings/\(id)"),
            try scene.api("POST", "/api/recordings", #"{"channel":"news","end":"\#(range.1.text)"}"#),
        ]
        #expect(refused.map(\.status) == [503, 503, 503], "\(refused)")
        #expect(recordings[id]?.isKept == false && recordings[id]?.isEnded == false)
        #expect(recordings.recordings.map(\.id) == [id])
        try FileManager.default.removeItem(atPath: "\(folder.path)/.recordings.json.part")
        await scene.end()
        #expect(recordings[id]?.state == .planned, "nobody has left")
        await #expect(throws: RecordingService.Problem.storage(.closed)) {
            _ = try await recordings.add(channel: "news", name: nil, range: range, isKept: false)
        }
        #expect(try folder.schedule.recordings.map(\.id) == [id])
    }

    private static let refused: [(when: String, body: String, status: Int, says: String)] = [
        ("no such channel", #"{"channel":"nobody","end":4000000000}"#, 404, "nobody"),
        ("no end", #"{"channel":"news"}"#, 422, "end"),
        ("no date", #"{"channel":"news","end":"tomorrow"}"#, 422, "2026-01-02T20:15:00Z"),
        ("an end that is too far", #"{"channel":"news","end":"2999-01-01T00:00:00Z"}"#, 409, "8 days"),
        ("an end before the start", #"{"channel":"news","start":5,"end":4}"#, 409, "does not run"),
        ("what nobody has kept", #"{"channel":"news","start":4,"end":5}"#, 409, "nothing of that time"),
        ("no guide", #"{"channel":"news","programme":"now"}"#, 409, "guide"),
        ("a path", #"{"channel":"news","end":4000000000,"path":"/etc"}"#, 422, "path"),
        ("a programme and an end", #"{"channel":"news","programme":"now","end":5}"#, 422, "end"),
        ("time before a range", #"{"channel":"news","before":"1m","end":5}"#, 422, "before"),
    ]

    @Test func refusalsSayWhy() async throws {
        let folder = Folder()
        let scene = try await ServeScene(
            [(slug: "news", url: "http://127.0.0.1:9/x.m3u8")], recordings: try folder.place())
        for row in Self.refused {
            let response = try scene.api("POST", "/api/recordings", row.body)
            let body = String(decoding: response.body, as: UTF8.self)
            #expect(response.status == row.status && body.contains(row.says), "\(row.when): \(body)")
        }
        for path in ["/api/recordings/1", "/api/recordings/x", "/api/recordings/"] {
            #expect(try scene.api("GET", path).status == 404, "\(path)")
        }
        await scene.end()
        let none = try await ServeScene([(slug: "news", url: "http://127.0.0.1:9/x.m3u8")])
        #expect(try none.api("POST", "/api/recordings", #"{"channel":"news","end":4000000000}"#).status == 409)
        #expect(try none.api("GET", "/api/recordings").status == 200, "channels may be recorded all the same")
        #expect(try none.api("PUT", "/api/recordings").status == 405)
        #expect(try !none.text("/web/recordings.json").contains("\"id\""), "the page asks in any case")
        await none.end()
    }

    /// The recordings of a channel that is recorded as it runs are listed, and so are those of the process before.
    @Test func recordingsOfChannelsAreListed() async throws {
        let (origin, folder) = (try await CountingOrigin(.clean), Folder())
        let yaml = """
            channels:
              news:
                name: The News
                url: \(origin.url)
                record-to: \(folder.path)/{channel}/{start:%s}.ts
            """
        try folder.write([UInt8](repeating: 0, count: 10), as: "news/1.ts")
        let document =
            #"{"file":"1.ts","channel":"news","title":"Old","start":"2026-01-01T00:00:00.000Z","#
            + #""end":"2026-01-01T01:00:00.000Z","seconds":3590,"breaks":[],"lost":[{"seconds":10.5}]}"#
        try folder.write(Array(document.utf8), as: "news/1.json")
        let scene = try await ServeScene(yaml: yaml)
        scene.host.start()
        let list = scene.host.continuousRecordings
        func reaches(_ condition: ([ContinuousRecording]) -> Bool) async {
            while !condition(list.recordings) { await Task.yield() }
        }
        await reaches { $0.count == 2 && $0[1].files.byteCount > 0 }
        let (old, open) = (list.recordings[0], list.recordings[1])
        #expect(old.id == "news-1767225600000" && old.state == .done(note: nil) && old.files.lostMilliseconds == 10_500)
        #expect(old.files.suffixes == ["ts", "json"] && old.name == "Old")
        #expect(open.state == .recording && open.end == nil && open.name == "The News")
        let text = String(decoding: try scene.api("GET", "/api/recordings").body, as: UTF8.self)
        #expect(text.contains("\"id\" : \"\(old.id)\"") && text.contains("news/1.ts"), "\(text)")
        #expect(text.contains("-now.m3u8"), "\(text)")
        #expect(try scene.text("/web/recordings.json").contains(open.id), "the page has it too")
        let path = "/api/recordings/"
        #expect(try scene.api("GET", path + open.id).status == 200)
        #expect(try scene.api("DELETE", path + open.id).status == 409, "the channel goes on")
        #expect(try scene.api("PATCH", path + old.id, #"{"keep":true}"#).status == 200)
        #expect(folder.files.contains("1.keep") && list[old.id]?.isKept == true)
        #expect(try scene.api("DELETE", path + old.id).status == 204)
        #expect(folder.files.contains("1.ts") && list[old.id] == nil, "only the list has forgotten it")
        await scene.end()
        // What was left open is closed, and the next process lists both.
        let next = try await ServeScene(yaml: yaml)
        next.host.start()
        while next.host.continuousRecordings.recordings.count < 2 { await Task.yield() }
        #expect(next.host.continuousRecordings[old.id]?.isKept == true)
        #expect(try next.api("DELETE", path + old.id + "?files=true").status == 204)
        #expect(!folder.files.contains { $0.hasPrefix("1.") })
        await next.end()
        await origin.server.shutdown(within: .zero)
    }

    /// A document that somebody has changed states a loss of any length.
    @Test func lossesOfADocumentAreBounded() throws {
        let folder = Folder()
        let (list, pattern) = (ContinuousRecordings(), try RecordingPattern("\(folder.path)/{channel}/{start:%s}.ts"))
        try folder.write([0], as: "news/1.ts")
        let document =
            #"{"file":"1.ts","channel":"news","title":"Old","start":"2026-01-01T00:00:00.000Z","#
            + #""end":"2026-01-01T01:00:00.000Z","lost":[{"seconds":1e300},{"seconds":-5},{"seconds":2}]}"#
        try folder.write(Array(document.utf8), as: "news/1.json")
        list.read("news", in: pattern)
        #expect(list.recordings.map(\.files.lostMilliseconds) == [3_200_000_002_000])
    }
}
