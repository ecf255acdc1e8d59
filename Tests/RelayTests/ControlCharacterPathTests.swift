import ArgumentParser
import Foundation
import Playlist
import Service
import Testing
import Tracker

@testable import Fetch
@testable import HTTP
@testable import Observability
@testable import Support
@testable import WebServer
@testable import liverelay

/// Text of an upstream, of a client or of the command line on its way to a terminal.
@Suite struct ControlCharacterPathTests {
    /// All control characters: C0, DEL, C1, separators, Bidi_Control.
    private static let hostile = String(
        String.UnicodeScalarView(
            (UInt32(0)...0x206F).compactMap { Unicode.Scalar($0) }.filter { ControlCharacters.contains($0) }))

    /// Whether `text` has a control character other than line feeds.
    private func isRaw(_ text: String) -> Bool {
        text.unicodeScalars.contains { ControlCharacters.contains($0) && $0 != "\n" }
    }

    @Test func consoleLines() throws {
        var queue = ConsoleQueue(isTerminal: false)
        queue.append(line: "a\(Self.hostile)b")
        let dequeued = queue.dequeue()
        let text = try #require(dequeued)
        #expect(!isRaw(text))
        #expect(text.count { $0 == "\n" } == 1)
    }

    @Test func statusLine() throws {
        var queue = ConsoleQueue(isTerminal: true)
        queue.setStatus("a\(Self.hostile)b")
        let dequeued = queue.dequeue()
        let text = try #require(dequeued)
        #expect(!isRaw(String(text.dropFirst("\r\u{1B}[K".count))))
    }

    /// An upstream that sends no playlist: its first bytes are quoted.
    @Test func errorsOfAnUpstream() {
        let error = TrackerError(
            .notAPlaylist(.unknown(beginning: Self.hostile), beginning: Self.hostile), url: "http://h/\(Self.hostile)")
        var queue = ConsoleQueue(isTerminal: false)
        queue.append(line: RelayError(error).line)
        let text = queue.dequeue()
        #expect(text.map { !isRaw($0) } == true)
    }

    @Test func statusDocument() {
        let json = StatusDocument.json(of: ["name": Self.hostile])
        #expect(!isRaw(String(decoding: json, as: UTF8.self)))
    }

    @Test func pagesAndErrorsOfTheServer() throws {
        for response in [Response.text(.ok, "a\n\(Self.hostile)"), .notFound("/\(Self.hostile)")] {
            guard case .bytes(let bytes, _) = response.body else { continue }
            #expect(!isRaw(String(decoding: bytes, as: UTF8.self)))
        }
    }

    @Test func errorsOfTheCommandLine() {
        let text = UsageText.redacted("Error: “\(Self.hostile)”\nUsage: …", words: [])
        #expect(!isRaw(text))
        #expect(text.hasSuffix("\nUsage: …"))
    }
}

private let secretRows: [(when: String, words: [String], text: String, redacted: String)] = [
    ("a cookie", ["--cookie", "id=hunter2"], "The value 'id=hunter2' is invalid", "The value '…' is invalid"),
    ("a cookie after =", ["--cookie=id=hunter2"], "'id=hunter2'", "'…'"),
    ("a header", ["--header", "Authorization hunter2"], "'Authorization hunter2'", "'…'"),
    ("a header with a name", ["--header", "X-A: hunter2\n"], "'X-A: hunter2\n'", "'X-A:…'"),
    ("a URL", ["http://me:hunter2@h/"], "Unexpected 'http://me:hunter2@h/'", "Unexpected 'http://h/'"),
    ("a URL of an option", ["--backup=ftp://h/?t=hunter2"], "'ftp://h/?t=hunter2'", "'ftp://h/?t=…'"),
    ("a proxy", ["--proxy", "ftp://me:hunter2@h"], "'ftp://me:hunter2@h'", "'…'"),
    ("no secret", ["--window", "x"], "The value 'x' is invalid", "The value 'x' is invalid"),
]

@Test(arguments: secretRows.indices) func usageErrorsShowNoSecret(_ index: Int) {
    let row = secretRows[index]
    #expect(UsageText.redacted(row.text, words: row.words) == row.redacted, "\(row.when)")
}

private let refusedRows: [(when: String, options: [String])] = [
    ("a User-Agent with a line break", ["--user-agent", "a\r\nX-Injected: hunter2"]),
    ("a User-Agent with a NUL", ["--user-agent", "a\u{0}hunter2"]),
    ("a cookie without a name", ["--cookie", "hunter2"]), ("a cookie with a tab", ["--cookie", "a=b\thunter2"]),
    ("a cookie with a line break", ["--cookie", "a=b\r\nX: hunter2"]), ("an empty cookie", ["--cookie", ""]),
    ("a proxy of another scheme", ["--proxy", "ftp://me:hunter2@h"]), ("an empty proxy", ["--proxy", ""]),
    ("a proxy without host", ["--proxy", "http://"]), ("a proxy with a bad port", ["--proxy", "h:port"]),
    ("a backup that is a word", ["--backup", "hunter2"]), ("a backup of another scheme", ["--backup", "ftp://h/"]),
    ("a backup without host", ["--backup", "http:///hunter2"]), ("an empty backup", ["--backup", ""]),
    ("an empty spool", ["--spool", ""]), ("an empty capture", ["--capture", ""]), ("an empty slate", ["--slate", ""]),
    ("no client", ["--max-clients", "0"]), ("no client of an address", ["--max-clients-per-address", "0"]),
]

@Test(arguments: refusedRows.indices) func badOptionValuesAreUsageErrors(_ index: Int) throws {
    let row = refusedRows[index]
    let words = ["http://h/live.m3u8"] + row.options
    do {
        _ = try LiveRelay.parseAsRoot(words)
        Issue.record("\(row.when) is accepted")
    } catch {
        #expect(LiveRelay.exitCode(for: error).rawValue == 64, "\(row.when)")
        let text = UsageText.redacted(LiveRelay.fullMessage(for: error), words: words)
        #expect(!text.contains("hunter2"), "\(row.when): \(text)")
    }
}

private let acceptedOptions: [[String]] = [
    ["--user-agent", "VLC/3.0 (Linux; \u{e9})"], ["--cookie", "a=b; c=d=="], ["--cookie", "a=;"],
    ["--proxy", "proxy.example:3128"], ["--proxy", "socks5h://me:pw@[::1]:1080"], ["--proxy", "http://proxy.example/"],
    ["--backup", "https://me:pw@h:8443/a.m3u8?t=1"], ["--backup", "http://[::1]/a"],
]

@Test(arguments: acceptedOptions) func goodOptionValuesAreAccepted(_ options: [String]) throws {
    _ = try LiveRelay.parseAsRoot(["http://h/live.m3u8"] + options)
}

@Test func secretsOfOptionsAreNotDescribed() throws {
    let options = ["http://h/", "--cookie", "id=hunter2", "--proxy", "http://me:hunter2@h"]
    let requests = try requests(of: options)
    var dumped = ""
    dump(requests, to: &dumped)
    #expect(!"\(requests)".contains("hunter2") && !dumped.contains("hunter2"))
    #expect(requests.cookie?.value == "id=hunter2")
}
