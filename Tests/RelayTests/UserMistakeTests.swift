import Foundation
import Synchronization
import TestSupport
import Testing
import WebTestSupport

/// A mistake of somebody who uses the program for the first time, and the answer: a row of `Tests/Commands/mistakes.json`.
struct UserMistake: Decodable, Sendable {
    let mistake: String
    /// The command line. `ORIGIN` is the URL of a server, `PORT` its port, `CAPTURES` the folder of captures.
    let arguments: [String]
    /// The exit status.
    let status: Int32
    /// Parts of the answer.
    let says: [String]

    static func all() throws -> [UserMistake] {
        let table = PackageRoot.url.appending(path: "Tests/Commands/mistakes.json")
        return try JSONDecoder().decode([UserMistake].self, from: Data(contentsOf: table))
    }
}

/// The program itself, in a folder with files that are not what the user takes them for. No channel is relayed.
@Suite struct UserMistakeTests {
    private static let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appending(path: "liverelay")
    /// A sanitizer has a heap of its own.
    private static let isPlainBuild = program.path.contains("/.build/")

    @Test(.enabled(if: isPlainBuild)) func eachMistakeHasItsAnswer() throws {
        let (scene, mistakes) = (try MistakeScene(), try UserMistake.all())
        #expect(mistakes.count >= 76)
        #expect(Set(mistakes.map(\.mistake)).count == mistakes.count)
        let answers = Mutex<[Int: MistakeScene.Answer]>([:])
        DispatchQueue.concurrentPerform(iterations: mistakes.count) { index in
            let answer = scene.run(Self.program, mistakes[index])
            answers.withLock { $0[index] = answer }
        }
        for (index, mistake) in mistakes.enumerated() {
            let answer = try #require(answers.withLock { $0[index] })
            #expect(answer.exit == mistake.status, "\(mistake.mistake): \(answer.text)")
            for part in mistake.says { #expect(answer.text.contains(part), "\(mistake.mistake): \(answer.text)") }
            // Neither two full stops nor a secret.
            #expect(!answer.text.contains("..\n") && !answer.text.contains(".”."), "\(mistake.mistake): \(answer.text)")
            #expect(!answer.text.contains("secret1"), "\(mistake.mistake): \(answer.text)")
        }
    }
}

/// A folder and a server for the mistakes.
private final class MistakeScene: Sendable {
    struct Answer: Sendable {
        let exit: Int32
        /// Standard output and standard error.
        let text: String
    }

    private let folder: URL
    private let server: LoopbackServer
    /// The longest time of a command.
    private static let limit: TimeInterval = 60

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "mistakes-\(UUID().uuidString)")
            .resolvingSymlinksInPath()
        for name in ["folder", "full"] {
            try FileManager.default.createDirectory(
                at: folder.appending(path: name), withIntermediateDirectories: true)
        }
        for (name, text) in Self.files {
            try Data(text.utf8).write(to: folder.appending(path: name))
        }
        server = try LoopbackServer { request in
            let path = String(request.target.prefix { $0 != "?" })
            let (status, text) = Self.pages[path] ?? (404, "not here")
            return [.answer(status, body: Array(text.utf8))]
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func run(_ program: URL, _ mistake: UserMistake) -> Answer {
        let port = server.url.split(separator: ":").last.map(String.init) ?? ""
        let captures = PackageRoot.url.appending(path: "Captures").path
        let process = Process()
        let pipe = Pipe()
        process.executableURL = program
        process.arguments = mistake.arguments.map {
            $0.replacing("ORIGIN", with: server.url).replacing("PORT", with: port)
                .replacing("CAPTURES", with: captures)
        }
        process.currentDirectoryURL = folder
        process.environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasSuffix("_proxy") }
        (process.standardOutput, process.standardError) = (pipe, pipe)
        process.standardInput = FileHandle.nullDevice
        do { try process.run() } catch { return Answer(exit: -1, text: "\(error)") }
        let timer = DispatchSource.makeTimerSource()
        timer.setEventHandler { [identifier = process.processIdentifier] in kill(identifier, SIGKILL) }
        timer.schedule(deadline: .now() + Self.limit)
        timer.resume()
        let bytes = (try? pipe.fileHandleForReading.readToEnd()) ?? Data()
        process.waitUntilExit()
        timer.cancel()
        let text = String(decoding: bytes, as: UTF8.self)
            .replacing(server.url, with: "ORIGIN").replacing(port, with: "PORT").replacing(folder.path, with: "FOLDER")
            .replacing(captures, with: "CAPTURES")
        return Answer(exit: process.terminationStatus, text: text)
    }

    private static let files: [(name: String, text: String)] = [
        (
            "list.m3u",
            "#EXTM3U\n#EXTINF:-1,News\nhttp://127.0.0.1:1/news.m3u8\n#EXTINF:-1,Sport\nhttp://127.0.0.1:1/sport.m3u8\n"
        ),
        (
            "odd.m3u",
            "#EXTM3U\n#EXTINF:-1,News\nhttp://127.0.0.1:1/news.m3u8\n#EXTINF:-1,Nowhere\n#EXTINF:-1,Mail\nmailto:me@example.com\nwhat is this\n"
        ),
        (
            "template.m3u",
            "#EXTM3U\n#EXTINF:-1 catchup=\"default\" catchup-source=\"http://127.0.0.1:1/{catchup-id}\",News\nhttp://127.0.0.1:1/a.ts\n"
        ),
        ("endless.m3u", "#EXTM3U\n#EXTINF:0,News\nhttp://127.0.0.1:1/news.ts\n"),
        ("empty.m3u", ""),
        ("text.txt", "hello\n"),
        ("empty.ts", ""),
        ("playlist.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\na.ts\n"),
        ("full/file", "x"),
        ("tab.yaml", "channels:\n\tnews: http://127.0.0.1:1/a.m3u8\n"),
        ("key.yaml", "channels:\n  news:\n    ur: http://127.0.0.1:1/a.m3u8\n"),
        ("value.yaml", "channels:\n  news:\n    url: http://127.0.0.1:1/a.m3u8\n    rewind: two hours\n"),
        ("scheme.yaml", "channels:\n  news: example.com/a.m3u8\n"),
        ("slate.yaml", "defaults: {slate: nowhere.mp4}\nchannels:\n  news: http://127.0.0.1:1/a.m3u8\n"),
        ("none.yaml", "channels: {}\n"),
        ("insecure.yaml", "defaults: {insecure: true}\nchannels:\n  news: https://127.0.0.1:1/a.m3u8\n"),
        ("twice.yaml", "channels:\n  news: http://127.0.0.1:1/a.m3u8\n  news: http://127.0.0.1:1/b.m3u8\n"),
        ("nolist.yaml", "playlist: nowhere.m3u\n"),
        ("token.txt", "short\n"),
    ]

    private static let pages: [String: (status: Int, text: String)] = [
        "/page.html": (200, "<!doctype html><title>Watch live</title>"),
        "/404.m3u8": (404, "gone"),
        "/403.m3u8": (403, "Your token has expired."),
        "/401.m3u8": (401, ""),
        "/407.m3u8": (407, ""),
        "/list.m3u": (200, "#EXTM3U\n#EXTINF:-1,News\nhttp://127.0.0.1:1/news.m3u8\n"),
        "/endless.m3u": (200, "#EXTM3U\n#EXTINF:0,News\nhttp://127.0.0.1:1/news.ts\n"),
        "/data.json": (200, "{\"error\":\"no stream\"}"),
        "/empty.m3u8": (200, "#EXTM3U\n#EXT-X-TARGETDURATION:2\n"),
        "/nothing": (200, ""),
        "/text.m3u8": (200, "Sorry, not today."),
        "/drm.m3u8": (
            200, "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://k\"\n#EXTINF:2,\na.ts\n"
        ),
        "/line.m3u8": (200, "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:two,\na.ts\n"),
        "/array/player_api.php": (200, "{\"user_info\":[],\"server_info\":[]}"),
        "/notice/player_api.php": (200, "<br />\nNotice: undefined index in api.php\n{\"user_info\":{\"auth\":1}}"),
        "/cut/player_api.php": (200, "{\"user_info\":{\"auth\":1,\"status\":\"Act"),
        "/closed/player_api.php": (403, "Service suspended"),
        "/refused/player_api.php": (200, "{\"user_info\":{\"auth\":0}}"),
    ]
}
