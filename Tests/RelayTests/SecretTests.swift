import Foundation
import Logging
import Playlist
import TestSupport
import Testing

@testable import Capture
@testable import Channel
@testable import Decrypt
@testable import Fetch
@testable import HTTP
@testable import Observability
@testable import Service
@testable import Support
@testable import Tracker
@testable import WebServer
@testable import liverelay

/// Forms of URIs that have secrets, and the secrets.
private let forms: [(form: String, url: String, secrets: [String])] = [
    ("an account", "http://tv.example:8080/annaq/hunter2/1234", ["annaq", "hunter2"]),
    ("an account with an extension", "http://tv.example:8080/annaq/hunter2/1234.m3u8", ["annaq", "hunter2"]),
    ("an account below a path", "https://tv.example/iptv/eu/annaq/hunter2/1234.ts", ["annaq", "hunter2"]),
    ("a live stream of an account", "http://tv.example/live/annaq/hunter2/1234.ts", ["annaq", "hunter2"]),
    ("a folder of a live stream", "http://tv.example/LIVE/annaq/hunter2/1234/index.m3u8", ["annaq", "hunter2"]),
    ("a film of an account", "http://tv.example/movie/annaq/hunter2/1234.mkv", ["annaq", "hunter2"]),
    ("an episode of an account", "http://tv.example/series/annaq/hunter2/1234.mp4", ["annaq", "hunter2"]),
    (
        "an archive of an account", "http://tv.example/timeshift/annaq/hunter2/60/2026-01-02:15-04/1234.ts",
        ["annaq", "hunter2"]
    ),
    ("a segment of an account", "http://tv.example/hlsr/tok3n/annaq/hunter2/12/h/1.ts", ["tok3n", "annaq", "hunter2"]),
    ("a list of an account", "http://tv.example/get.php?username=annaq&password=hunter2", ["annaq", "hunter2"]),
    ("user information", "http://annaq:hunter2@tv.example/a.m3u8", ["annaq", "hunter2"]),
    ("user information with an at sign", "http://annaq:hun@hunter2@tv.example/a.m3u8", ["annaq", "hunter2"]),
    ("user information with a slash", "http://annaq:x/hunter2@tv.example/a.m3u8", ["annaq", "hunter2"]),
    ("user information with a question mark", "http://annaq:x?hunter2@tv.example/a.m3u8", ["annaq", "hunter2"]),
    ("user information with a number sign", "http://annaq:x#hunter2@tv.example/a.m3u8", ["annaq", "hunter2"]),
    ("user information after three slashes", "http:///annaq:hunter2@tv.example/a.m3u8", ["annaq", "hunter2"]),
    ("user information of another scheme", "rtsp://annaq:hunter2@tv.example/a", ["annaq", "hunter2"]),
    ("a token", "https://tv.example/a.m3u8?token=hunter2&id=7", ["hunter2"]),
    ("a token without a name", "https://tv.example/a.m3u8?hunter2", ["hunter2"]),
    ("a token in Base64 without a name", "https://tv.example/a.m3u8?aHVudGVyMg==", ["aHVudGVyMg"]),
    ("a fragment", "https://tv.example/a.m3u8#access_token=hunter2", ["hunter2"]),
    ("headers after a vertical bar", "https://tv.example/a.m3u8|Cookie=hunter2&X=annaq", ["hunter2", "annaq"]),
    ("a parameter of a path", "https://tv.example/a;jsessionid=hunter2/b.m3u8", ["hunter2"]),
    ("a component after its name", "https://tv.example/token/hunter2/b.m3u8", ["hunter2"]),
    ("a signature of a cache", "https://tv.example/hdntl=exp=1~hmac=hunter2/b.m3u8", ["hunter2"]),
    ("a JSON web token", "https://tv.example/eyJhbGciOi.eyJodW50ZXIy.c2lnbmF0dXJl/b.m3u8", ["eyJodW50ZXIy"]),
    ("32 hexadecimal digits", "https://tv.example/0123456789abcdef0123456789abcdef/b.ts", ["6789abcdef"]),
    ("letters and digits", "https://tv.example/p/Zm9v7YmFy1YmF6Qw/b.m3u8", ["Zm9v7YmFy1YmF6Qw"]),
    ("a passphrase", "srt://tv.example:9000?streamid=annaq&passphrase=hunter2", ["annaq", "hunter2"]),
    ("the key of a stream", "rtmp://tv.example/app/hunter2", ["hunter2"]),
    ("a key as data", "data:application/octet-stream;base64,aHVudGVyMg==", ["aHVudGVyMg"]),
    ("a key of FairPlay", "skd://hunter2", ["hunter2"]),
    ("a URL in a URL", "https://proxy.example/http://annaq:hunter2@tv.example/a.m3u8", ["annaq", "hunter2"]),
    ("an account in a URL", "https://proxy.example/https://tv.example/annaq/hunter2/12.ts", ["annaq", "hunter2"]),
    ("a URL in a component", "https://proxy.example/http%3A%2F%2Fannaq%3Ahunter2%40h/a.m3u8", ["annaq", "hunter2"]),
]

/// Errors and events that name a URL.
private func errors(about url: String) -> [ChannelError] {
    let tracker: [TrackerError.Reason] = [
        .refused(status: 403), .unreachable(.refused), .notAPlaylist(.webPage, beginning: "<html>"), .openingTimedOut,
        .silent(for: .seconds(60)),
        .nothingUsable(for: .seconds(9), .lost(.keyUnavailable(url: url, .refused(status: 403)))),
    ]
    var found = EmptyChannel()
    (found.lost, found.lossReason) = (4, .keyUnavailable(url: url, nil))
    return tracker.map { ChannelError.upstream(TrackerError($0, url: url)) } + [
        .undecryptable(DecryptError(reason: .missingKey, mediaSequence: 1, keyURL: url), segments: 3, url: url),
        .empty(found, url: url),
    ]
}

private func events(about url: String) -> [UpstreamEvent] {
    let error = TrackerError(.refused(status: 404), url: url)
    return [
        .moved(.main, url: url), .playlistFailed(.main, error), .keyFetched(url: url),
        .fetchFailed(FetchRequest(.segment, url: url), .refused(status: 404), failures: 1, isLast: false),
        .lost(.main, SegmentLoss(mediaSequences: 7..<9, reason: .keyUnavailable(url: url, nil), cause: .gone)),
        .trialStarted(source: 1, url: url), .sourceFailed(1, error), .sourceSwitched(to: 1, url: url),
        .mediaStalled(.outage, silence: .seconds(9), .lost(.keyUnavailable(url: url, nil))),
    ]
}

/// No text that people or other programs get has a secret of a URI, and none for viewers has a URI.
@Suite struct SecretTests {
    private func expect(_ text: String, hides row: (form: String, url: String, secrets: [String]), _ place: String) {
        for secret in row.secrets { #expect(!text.contains(secret), "\(row.form), \(place): \(text)") }
    }

    @Test(arguments: forms.indices) func uriIsRedactedOnce(index: Int) {
        let row = forms[index]
        let redacted = URIReference.redacted(row.url)
        expect(redacted, hides: row, "redacted")
        #expect(URIReference.redacted(redacted) == redacted, "\(row.form): redacted twice")
        guard row.url.contains("://") else { return }
        let sentence = "Nothing came (\(row.url)), said “\(row.url)”: \(row.url)."
        expect(sentence.redactingURLs, hides: row, "in a sentence")
    }

    @Test(arguments: forms.indices) func errorsAndStatusHideSecrets(index: Int) {
        let row = forms[index]
        var status = RelayStatus(upstream: row.url)
        for error in errors(about: row.url) {
            let relayError = RelayError(error)
            expect(relayError.line, hides: row, "error")
            let viewerText = relayError.text.viewerText
            #expect(!viewerText.contains("://") && !viewerText.contains("example"), "\(viewerText)")
            status.reason = .failed(error)
            let documents = [Audience.viewers, .operators].map {
                String(decoding: StatusDocument.json(of: status, for: $0), as: UTF8.self)
            }
            for document in documents { expect(document, hides: row, "status") }
            #expect(!documents[0].contains("://") && !documents[0].contains("tv.example"), "\(documents[0])")
        }
        for cause in [
            UpstreamStatus.Stall.Cause.opening(TrackerError(.refused(status: 403), url: row.url)),
            .playlist(TrackerError(.unreachable(.refused), url: row.url)),
            .media(.lost(.keyUnavailable(url: row.url, .refused(status: 403)))),
            .sourceLost(1, TrackerError(.noVariant, url: row.url)),
        ] {
            let stall = UpstreamStatus.Stall(cause: cause, step: .outage, since: .zero)
            let text = StatusReason.stalled(stall, at: .seconds(30)).text
            expect(text.operatorText, hides: row, "stall")
            #expect(!text.viewerText.contains("://") && !text.viewerText.contains("example"), "\(text.viewerText)")
        }
    }

    @Test(arguments: forms.indices) func wordsOfAnAnswerHideSecrets(index: Int) {
        let row = forms[index]
        let page = URIRedaction(row.url).secrets.map { "no channel for \($0)!" }.joined(separator: " ")
        let answer = FetchAnswer(status: 403, finalURL: row.url, body: Array("<p>\(page)</p>".utf8))
        expect(answer.words(withoutSecretsOf: row.url), hides: row, "words")
    }

    @Test(.timeLimit(.minutes(1)), arguments: [LogFormat.text, .json]) func logHidesSecrets(format: LogFormat) throws {
        for row in forms {
            let piped = PipedConsole()
            piped.console.setFormat(format)
            var logger = Logger(label: "test") { _ in ConsoleLogHandler(console: piped.console, rate: LogRate()) }
            logger.logLevel = .debug
            for event in events(about: row.url) { RelayLog(logger).log(event) }
            if row.url.contains("://") {
                logger.warning("anything that names \(row.url) and goes on")
                piped.console.write(message: "anything that names \(row.url)", level: .error)
            }
            expect(try piped.closedText(), hides: row, "log")
        }
    }

    @Test(arguments: forms.indices) func eventsHideSecrets(index: Int) {
        let row = forms[index]
        var mapper = ChannelEventMapper()
        var contents: [EventContent] = events(about: row.url).flatMap {
            mapper.contents(of: RelayEvent(kind: .upstream($0), isDuringOutage: false), at: .zero)
        }
        contents += errors(about: row.url).map { .channelError(.failed, reason: RelayError($0).line) }
        if row.url.contains("://") {
            contents += [.channelStart(url: row.url), .listError(source: row.url, reason: row.url)]
        }
        for content in contents {
            let json = ServiceEvent(id: 1, time: 0, channel: "news", content: content).json
            expect(json, hides: row, "event")
        }
    }

    @Test(arguments: forms.indices) func answersHideSecrets(index: Int) {
        let row = forms[index]
        let error = RelayError(ChannelError.upstream(TrackerError(.refused(status: 403), url: row.url)))
        let refusal = ChannelSupervisor.Refusal.failed(reason: error.text, retryAfter: .seconds(5))
        let reason = refusal.reason(nil).viewerText
        #expect(!reason.contains("://"))
        let api = String(decoding: StatusDocument.json(of: error.text, for: .operators), as: UTF8.self)
        expect(api, hides: row, "API")
        guard row.url.contains("://") else { return }
        let texts = [
            Response.text(.serviceUnavailable, "The one at \(row.url): gone"),
            APIProblem(.badGateway, "A list", "\(row.url) answers 404").response(),
        ]
        for response in texts {
            guard case .bytes(let body, gzip: _) = response.body else { continue }
            expect(String(decoding: body, as: UTF8.self), hides: row, "answer")
        }
        expect("\(HeaderField.reason("The one at \(row.url): gone"))", hides: row, "header")
    }

    @Test func metricsHideSecrets() throws {
        for row in forms {
            let state = ChannelState(upstream: row.url, memory: .init()) { .zero }
            state.setState(.failed, reason: .failed(errors(about: row.url)[0]))
            let run = MetricsSnapshot.Run("news", state, ChannelMeter(), sentBytes: ByteCounter(channel: "news"))
            let delivery = try EventDelivery(
                EventBus(wallClock: { 0 }), webhooks: [], commands: [], logger: Logger(label: "test"))
            let snapshot = MetricsSnapshot(
                runs: [run], channelStates: ["failed": 1], startCount: 1, traffic: HTTPTraffic().counts,
                events: delivery,
                process: ProcessFigures())
            expect(MetricsWriter.write(MetricCatalog.families(snapshot), as: .prometheus), hides: row, "metrics")
        }
    }

    @Test func namesOfACaptureHideSecrets() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "secrets-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        var writer = try CaptureWriter(directory, CaptureIndex(upstream: forms[0].url))
        for (number, row) in forms.enumerated() {
            let urls = [row.url] + row.secrets.map { "http://tv.example/x.\($0.prefix(5))" }
            for url in urls {
                let answer = FetchAnswer(status: 200, finalURL: url, body: Array("\(number) \(url)".utf8))
                try writer.append(FetchRequest(.segment, url: url), .success(answer), at: .zero, took: .zero)
            }
        }
        let names = try FileManager.default.subpathsOfDirectory(atPath: directory.path).joined(separator: "\n")
        for row in forms {
            for secret in row.secrets { #expect(!names.contains(secret.prefix(5)), "\(row.form): \(names)") }
        }
    }

    @Test(arguments: forms.indices) func usageHidesSecrets(index: Int) {
        let row = forms[index]
        expect(UsageText.redacted("Unexpected “\(row.url)”", words: ["liverelay", row.url]), hides: row, "usage")
    }

    /// A body is UTF-8, a field of a header ASCII.
    @Test func headerHasTheTextOfTheBodyInASCII() {
        let text = "It says “no – ça va…”"
        #expect(HeaderField.reason(text).value == "It says \"no - ?a va...\"")
        guard case .bytes(let body, gzip: _) = Response.text(.serviceUnavailable, text).body else {
            Issue.record("no body")
            return
        }
        #expect(String(validating: body, as: UTF8.self) == text + "\n")
        #expect(HeaderField(name: "X", value: "a\r\nSet-Cookie: b").value == "a??Set-Cookie: b")
    }
}
