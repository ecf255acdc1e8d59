import Foundation
import Playlist
import Synchronization
import Testing
import Tracker

@testable import Capture
@testable import Fetch

/// Answers from a table; each request takes one second.
private final class TableFetcher: Fetcher {
    private let table: [String: FetchOutcome]
    private let requests = Mutex(0)

    init(_ table: [String: FetchOutcome]) { self.table = table }

    var now: Duration { .seconds(requests.withLock { $0 }) }

    func fetch(_ request: FetchRequest) async -> FetchOutcome {
        requests.withLock { $0 += 1 }
        return table[request.url] ?? .failure(FetchError(.canceled, url: request.url))
    }
}

private func answer(_ body: String, from url: String, _ headers: [(String, String)] = []) -> FetchOutcome {
    .success(
        FetchAnswer(
            status: 200, finalURL: url, headers: headers.map { .init(name: $0.0, value: $0.1) }, body: Array(body.utf8))
    )
}

private let recorded: [String: FetchOutcome] = [
    "http://h/main.m3u8?token=1": answer("#EXTM3U", from: "http://cdn/main.m3u8", [("Content-Type", "x"), ("X", "1")]),
    "http://h/1.ts": answer(String(repeating: "G", count: 188), from: "http://h/1.ts"),
    "http://h/again.ts": answer(String(repeating: "G", count: 188), from: "http://h/again.ts"),
    "http://h/empty": answer("", from: "http://h/empty"),
    "http://h/down": .failure(FetchError(.refused, url: "http://h/down", code: 7, message: "refused")),
]

@Test func recordingReplaysTheAnswers() async throws {
    try await withDirectory { directory in
        let table = TableFetcher(recorded)
        let writer = try CaptureWriter(
            directory,
            CaptureIndex(
                upstream: playlistURL, about: "a \"test\"", variant: .height(720), backups: ["http://b"], polling: .edge
            ))
        let recorder = CapturingFetcher(table, to: writer) { table.now }
        let urls = recorded.keys.sorted() + ["http://h/given-up"] + recorded.keys.sorted()
        for url in urls { _ = await recorder.fetch(FetchRequest(.segment, url: url)) }
        #expect(await recorder.failure == nil)
        let read = try CaptureDirectory(directory)
        #expect(read.index.about == "a \"test\"")
        #expect(read.index.variant == .height(720) && read.index.backups == ["http://b"])
        #expect(read.index.polling == .edge)
        #expect(read.index.exchanges.map(\.url) == urls)
        #expect(read.index.exchanges.map(\.at).first == .zero)
        #expect(read.index.exchanges.allSatisfy { $0.took == .seconds(1) })
        #expect(await recorder.totals == CaptureWriter.Totals(exchanges: urls.count, bytes: 2 * (7 + 188 + 188)))
        var replay = ReplayResponder(read)
        for (url, outcome) in recorded {
            #expect(replay.answer(FetchRequest(.segment, url: url), at: .zero)?.outcome == outcome.asRecorded)
        }
        let bodies = try FileManager.default.contentsOfDirectory(atPath: directory.appending(path: "body").path)
        #expect(bodies.sorted() == ["000001.ts", "000002.m3u8"], "equal bodies are stored once, empty bodies never")
    }
}

extension FetchOutcome {
    fileprivate var asRecorded: FetchOutcome {
        mapError { FetchError($0.reason, url: $0.url, message: "as recorded") }
    }
}

@Test func recordingIsReadableAfterEachExchange() async throws {
    try await withDirectory { directory in
        let table = TableFetcher(recorded)
        let recorder = CapturingFetcher(table, to: try CaptureWriter(directory, CaptureIndex(upstream: playlistURL))) {
            table.now
        }
        #expect(try CaptureDirectory(directory).index.exchanges.isEmpty)
        for count in 1...3 {
            _ = await recorder.fetch(FetchRequest(.segment, url: "http://h/1.ts"))
            #expect(try CaptureDirectory(directory).index.exchanges.count == count)
        }
    }
}

@Test func recordingOmitsCookiesAndTransferHeaders() async throws {
    try await withDirectory { directory in
        let headers = [("Set-Cookie", "a=b"), ("Content-Encoding", "gzip"), ("Content-Length", "3"), ("ETag", "e")]
        let table = TableFetcher([playlistURL: answer("x", from: playlistURL, headers)])
        let recorder = CapturingFetcher(table, to: try CaptureWriter(directory, CaptureIndex(upstream: playlistURL))) {
            .zero
        }
        _ = await recorder.fetch(FetchRequest(.mediaPlaylist, url: playlistURL))
        var replay = ReplayResponder(try CaptureDirectory(directory))
        let kept = try replay.answer(FetchRequest(.mediaPlaylist, url: playlistURL), at: .zero)?.outcome.get().headers
        #expect(kept == [.init(name: "ETag", value: "e")])
    }
}

private let occupiedRows: [(file: String, reason: CaptureError.Reason)] = [
    ("index.json", .alreadyRecorded), ("holiday.jpeg", .notEmpty), ("body", .notEmpty),
]

@Test(arguments: occupiedRows)
func recordingNeedsAnEmptyDirectory(file: String, reason: CaptureError.Reason) async throws {
    try await withDirectory { directory in
        try Data().write(to: directory.appending(path: file))
        let made = Result { () throws(CaptureError) in try CaptureWriter(directory, CaptureIndex(upstream: playlistURL))
        }
        guard case .failure(let error) = made else {
            Issue.record("written beside \(file)")
            return
        }
        #expect(error.reason == reason)
    }
}

/// A process may be killed in the middle of any write.
@Test func recordingTruncatedAtAnyByteKeepsItsCompleteExchanges() async throws {
    try await withDirectory { directory in
        let table = TableFetcher(recorded)
        let recorder = CapturingFetcher(table, to: try CaptureWriter(directory, CaptureIndex(upstream: playlistURL))) {
            table.now
        }
        let path = directory.appending(path: "index.json")
        _ = await recorder.fetch(FetchRequest(.segment, url: "http://h/1.ts"))
        let before = try Data(contentsOf: path)
        _ = await recorder.fetch(FetchRequest(.mediaPlaylist, url: "http://h/main.m3u8?token=1"))
        let after = try Data(contentsOf: path)
        for written in stride(from: before.count - 4, through: after.count, by: 3) {
            try (after.prefix(written) + before.dropFirst(written)).write(to: path)
            let read = try CaptureDirectory(directory)
            #expect(read.index.upstream == playlistURL && read.index.exchanges.count <= 2, "\(written) bytes")
            // Where the next line overwrites the closing brackets only partly, the preceding line is incomplete too.
            let isInsideALine = written >= before.count && written < after.count - 4
            #expect(!isInsideALine || read.isTruncated && read.index.exchanges.count == 1, "\(written) bytes")
        }
        try after.write(to: path)
        #expect(try CaptureDirectory(directory).index.exchanges.count == 2)
    }
}

@Test func unwritableRecordingDoesNotStopFetching() async throws {
    try await withDirectory { directory in
        let table = TableFetcher(recorded)
        let recorder = CapturingFetcher(table, to: try CaptureWriter(directory, CaptureIndex(upstream: playlistURL))) {
            .zero
        }
        try FileManager.default.removeItem(at: directory.appending(path: "body"))
        let request = FetchRequest(.segment, url: "http://h/1.ts")
        #expect(await recorder.fetch(request) == recorded["http://h/1.ts"])
        #expect(await recorder.failure?.reason == .unwritable)
        #expect(await recorder.fetch(request) == recorded["http://h/1.ts"])
    }
}
