import Foundation
import Testing

@testable import Fetch
@testable import Support

/// What tells a media file from other answers, and files on disk.
@Suite struct MediaFileAnswerTests {
    private static let packets = (0..<8).flatMap { _ in [UInt8(0x47)] + [UInt8](repeating: 0xFF, count: 187) }
    private static func box(_ type: String) -> [UInt8] {
        [0, 0, 0, 24] + Array(type.utf8) + [UInt8](repeating: 0, count: 16)
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let when: String
        let body: [UInt8]
        var status = 200
        var headers: [String: String] = [:]
        let isFile: Bool
        var testDescription: String { when }
    }

    static let rows = [
        Row(when: "ftyp", body: box("ftyp"), isFile: true),
        Row(when: "moov, without a length", body: box("moov"), isFile: true),
        Row(when: "styp", body: box("styp"), isFile: true),
        Row(when: "moof", body: box("moof"), isFile: true),
        Row(when: "ftyp with status 404", body: box("ftyp"), status: 404, isFile: false),
        Row(when: "a playlist", body: Array("#EXTM3U\n".utf8), isFile: false),
        Row(when: "four bytes", body: [0, 0, 0, 24], isFile: false),
        Row(when: "packets of an endless stream", body: packets, isFile: false),
        Row(when: "packets with a length", body: packets, headers: ["Content-Length": "99999"], isFile: false),
        Row(
            when: "packets with a length and ranges", body: packets,
            headers: ["content-length": "99999", "accept-ranges": "Bytes"], isFile: true),
        Row(
            when: "packets with a length and no ranges", body: packets,
            headers: ["Content-Length": "99999", "Accept-Ranges": "none"], isFile: false),
        Row(
            when: "compressed packets", body: packets,
            headers: ["Content-Length": "99999", "Accept-Ranges": "bytes", "Content-Encoding": "gzip"], isFile: false),
    ]

    @Test(arguments: rows) func recognizesFiles(_ row: Row) {
        let headers = row.headers.map { FetchAnswer.Header(name: $0.key, value: $0.value) }
        let answer = FetchAnswer(status: row.status, finalURL: "http://h/", headers: headers, body: row.body)
        #expect(answer.isMediaFile == row.isFile)
    }

    static let parts: [(field: String?, status: Int, size: UInt64?)] = [
        ("bytes 4-7/100", 206, 100), ("Bytes 4-7/100", 206, 100), ("bytes 4-7/*", 206, nil),
        ("bytes 0-3/100", 206, nil),
        ("bytes 4-8/100", 206, 100), ("bytes 5-8/100", 206, nil), ("bytes 7-4/100", 206, nil),
        ("bytes 4-7/7", 206, nil), (nil, 206, nil),
        ("bytes 4-7/100", 200, nil), ("bytes 4-7/99999999999999999999", 206, nil), ("", 206, nil),
    ]

    @Test(arguments: parts.indices) func readsPartsOfFiles(_ index: Int) {
        let row = Self.parts[index]
        let headers = row.field.map { [FetchAnswer.Header(name: "Content-Range", value: $0)] } ?? []
        let answer = FetchAnswer(status: row.status, finalURL: "http://h/", headers: headers, body: [1, 2, 3, 4])
        #expect(answer.filePart(of: 4..<8)?.fileSize == row.size, "\(row)")
    }

    static let words: [(when: String, body: String, words: String)] = [
        (
            "a page", "<!doctype html><title>Portal</title><style>p{}</style><p>It <b>has\n\tended</b>",
            "Portal It has ended"
        ),
        (
            "JSON with the account", #"{"error":"max connections","user":"anna","pass":"s3cret"}"#,
            #"{"error":"max connections","user":"…","pass":"…"}"#
        ),
        ("text", "Account s3cret expired, 1 < 2", "Account … expired, 1"), ("nothing", "", ""),
        ("commands of a terminal", "\u{1B}[31mred\u{202E}x", "[31mred x"), ("no text", "\u{1}\u{2}abc", ""),
        ("a long one", String(repeating: "word ", count: 50), String(repeating: "word ", count: 20) + "…"),
        ("markup alone", "<a><b<c>", ""),
    ]

    @Test(arguments: words.indices) func firstWords(_ index: Int) {
        let row = Self.words[index]
        let answer = FetchAnswer(status: 403, finalURL: "http://h/", body: Array(row.body.utf8))
        #expect(answer.words(withoutSecretsOf: "http://h/live/anna/s3cret/1.ts") == row.words, "\(row.when)")
    }

    @Test func fileOnDiskIsReadByRanges() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "a file \(UUID().uuidString).mp4").path
        try Data(Self.box("ftyp") + [1, 2, 3]).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let url = FileURL.text(ofPath: path)
        #expect(url.hasPrefix("file:///") && !url.contains(" ") && FileURL(url)?.path == path)
        let fetcher = try FileFetcher(url, configuration: CurlConfiguration())
        let whole = try await fetcher.fetch(FetchRequest(.multivariantPlaylist, url: url)).get()
        #expect(whole.isMediaFile && whole.header("Content-Length") == "27")
        let end = FetchRequest(.map, url: url, byteRange: ByteRange(offset: 24, length: 1000))
        let part = try await fetcher.fetch(end).get().filePart(of: 24..<1024)
        #expect(part?.bytes == [1, 2, 3] && part?.fileSize == 27)
        let beyond = FetchRequest(.map, url: url, byteRange: ByteRange(offset: 27, length: 4))
        let refusal = try await fetcher.fetch(beyond).get()
        #expect(refusal.status == 416)
        for other in ["file:///etc/passwd", "http://h/", url + "x"] {
            await #expect(throws: FetchError.self, "\(other)") {
                try await fetcher.fetch(FetchRequest(.segment, url: other)).get()
            }
        }
        var configuration = CurlConfiguration()
        configuration.deniesPrivate = true
        let denied = try FileFetcher(url, configuration: configuration)
        await #expect(throws: FetchError.self) { try await denied.fetch(end).get() }
        try FileManager.default.removeItem(atPath: path)
        let missing = try await fetcher.fetch(FetchRequest(.multivariantPlaylist, url: url)).get()
        #expect(missing.status == 404)
    }

    @Test(arguments: [
        "file://host/movie.mp4", "file:movie.mp4", "file:///", "http://h/movie.mp4", "file:///a%00b", "file:///%zz",
    ])
    func noFileURL(_ text: String) { #expect(FileURL(text) == nil) }
}
