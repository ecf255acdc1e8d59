import Foundation
import Playlist
import TestSupport
import Testing

@testable import Fetch
@testable import Support

typealias Step = LoopbackServer.Step

/// Returns a configuration without a proxy from the environment, and with other segment limits if given.
func loopbackConfiguration(
    headers: [(String, String)] = [], cookie: String? = nil, segments: CurlConfiguration.Limits? = nil
) -> CurlConfiguration {
    var configuration = CurlConfiguration()
    configuration.headers = headers.map { RequestHeader(name: $0.0, value: Secret($0.1)) }
    configuration.cookie = cookie.map { Secret($0) }
    configuration.noProxy = "*"
    if let segments { configuration.segmentLimits = segments }
    return configuration
}

func upstream(
    _ server: LoopbackServer, _ configuration: CurlConfiguration = loopbackConfiguration()
) throws -> CurlFetcher {
    try CurlFetcher(upstream: server.url + "/main.m3u8", configuration: configuration)
}

private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

struct AnswerRow: Sendable, CustomTestStringConvertible {
    let when: String
    var testDescription: String { when }
    let steps: [Step]
    var status = 200
    let body: [UInt8]
}

// printf 'plain text' | gzip -n | xxd -p
private let gzipped: [UInt8] = [
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0x2b, 0xc8, 0x49, 0xcc, 0xcc, 0x53, 0x28, 0x49, 0xad,
    0x28, 0x01, 0x00, 0xb8, 0x0f, 0x0b, 0x44, 0x0a, 0x00, 0x00, 0x00,
]

private let answerRows = [
    AnswerRow(when: "a whole body", steps: [.answer(body: bytes("media"))], body: bytes("media")),
    AnswerRow(when: "an empty body", steps: [.answer()], body: []),
    AnswerRow(
        when: "a refusal with a body", steps: [.answer(403, body: bytes("no"))], status: 403, body: bytes("no")),
    AnswerRow(
        when: "no length, ended by the connection", steps: [.send("HTTP/1.0 200 OK\r\n\r\nold"), .close],
        body: bytes("old")),
    AnswerRow(
        when: "gzip", steps: [.answer(200, ["Content-Encoding: gzip"], body: gzipped)], body: bytes("plain text")),
    AnswerRow(
        when: "chunks",
        steps: [
            .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"), .send("2\r\nde\r\n0\r\n\r\n"),
        ], body: bytes("abcde")),
    AnswerRow(
        when: "103 before the answer",
        steps: [.send("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"), .answer(body: bytes("x"))], body: bytes("x")),
    AnswerRow(
        when: "a body of several callbacks", steps: [.answer(body: [UInt8](repeating: 0x47, count: 1_000_003))],
        body: [UInt8](repeating: 0x47, count: 1_000_003)),
]

@Test(arguments: answerRows)
func fetchReturnsTheAnswer(row: AnswerRow) async throws {
    let server = try LoopbackServer { _ in row.steps }
    let answer = try await upstream(server).fetch(FetchRequest(.segment, url: server.url + "/1.ts")).get()
    #expect(answer.status == row.status, "\(row.when)")
    #expect(answer.body == row.body, "\(row.when)")
    #expect(answer.finalURL == server.url + "/1.ts", "\(row.when)")
    #expect(answer.header("link") == nil, "headers are the last answer's")
}

struct FailureRow: Sendable, CustomTestStringConvertible {
    let when: String
    var testDescription: String { when }
    let steps: [Step]
    let reason: FetchError.Reason
}

private let oneSecond = CurlConfiguration.Limits(bodyBytes: 1000, idle: .seconds(1), total: .seconds(60))

private let failureRows = [
    FailureRow(
        when: "the body ends before Content-Length",
        steps: [.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .close], reason: .shortBody),
    FailureRow(
        when: "the body ends in a chunk",
        steps: [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc"), .close], reason: .shortBody),
    FailureRow(
        when: "the last chunk is missing",
        steps: [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"), .close],
        reason: .shortBody),
    FailureRow(when: "closed without an answer", steps: [.close], reason: .reset),
    FailureRow(when: "RST", steps: [.reset], reason: .reset),
    FailureRow(when: "no answer", steps: [.hang], reason: .timedOut),
    FailureRow(
        when: "body that stops",
        steps: [.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .hang], reason: .timedOut),
    FailureRow(
        when: "Content-Length too large", steps: [.send("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n"), .hang],
        reason: .tooLarge),
    FailureRow(
        when: "body of unknown length too large",
        steps: [.send("HTTP/1.0 200 OK\r\n\r\n" + String(repeating: "x", count: 1001)), .hang], reason: .tooLarge),
    FailureRow(
        when: "a decompression bomb", steps: [.answer(200, ["Content-Encoding: gzip"], body: gzippedZeros)],
        reason: .tooLarge),
    FailureRow(
        when: "endless headers",
        steps: [
            .send(
                "HTTP/1.1 200 OK\r\n" + String(repeating: "A: \(String(repeating: "b", count: 999))\r\n", count: 300)),
            .hang,
        ],
        reason: .tooLarge),
    FailureRow(
        when: "redirect to file:", steps: [.redirect(to: "file:///etc/hostname")],
        reason: .unsupportedScheme),
    FailureRow(when: "redirect to ftp:", steps: [.redirect(to: "ftp://127.0.0.1/")], reason: .unsupportedScheme),
    FailureRow(when: "redirect to itself", steps: [.redirect(to: "/1.ts")], reason: .tooManyRedirects),
    FailureRow(when: "not HTTP", steps: [.send("SSH-2.0-OpenSSH\r\n"), .close], reason: .other),
]

// head -c 2000 /dev/zero | gzip -n | xxd -p
private let gzippedZeros: [UInt8] = [
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0x63, 0x60, 0x18, 0x05, 0xa3, 0x60, 0x14, 0x8c, 0x82,
    0x51, 0x30, 0x0a, 0x46, 0xc1, 0x50, 0x07, 0x00, 0x44, 0xf4, 0xc9, 0x02, 0xd0, 0x07, 0x00, 0x00,
]

@Test(arguments: failureRows)
func fetchReturnsTheFailure(row: FailureRow) async throws {
    let server = try LoopbackServer { _ in row.steps }
    let upstream = try upstream(server, loopbackConfiguration(segments: oneSecond))
    let outcome = await upstream.fetch(FetchRequest(.segment, url: server.url + "/1.ts"))
    guard case .failure(let error) = outcome else {
        Issue.record("\(row.when): \(outcome)")
        return
    }
    #expect(error.reason == row.reason, "\(row.when): \(error)")
    #expect(error.url == server.url + "/1.ts")
    #expect(error.code != 0)
    if row.reason == .timedOut { #expect(error.message.contains("too slow"), "the idle limit, not the total one") }
    if row.reason == .tooManyRedirects { #expect(server.requests.count == CurlJob.maxRedirects + 1) }
}

@Test func closedPortIsRefused() async throws {
    let closed = try LoopbackServer { _ in [] }.url
    let upstream = try CurlFetcher(upstream: closed, configuration: loopbackConfiguration())
    let outcome = await upstream.fetch(FetchRequest(.key, url: closed + "/key"))
    guard case .failure(let error) = outcome else {
        Issue.record("\(outcome)")
        return
    }
    #expect(error.reason == .refused)
}

@Test func sequentialRequestsShareAConnection() async throws {
    let server = try LoopbackServer { [.answer(body: bytes($0.target))] }
    // A thread of its own, because connections of other tests could evict this one from a shared cache.
    let upstream = try CurlFetcher(
        upstream: server.url + "/main.m3u8", configuration: loopbackConfiguration(), thread: CurlThread())
    for number in 0..<50 {
        let answer = try await upstream.fetch(FetchRequest(.segment, url: "\(server.url)/\(number)")).get()
        #expect(answer.body == bytes("/\(number)"))
    }
    #expect(server.connectionCount == 1)
}

@Test func concurrentRequestsGetTheirOwnAnswers() async throws {
    let server = try LoopbackServer { [.answer(body: bytes($0.target))] }
    let upstream = try upstream(server)
    try await withThrowingTaskGroup(of: (String, [UInt8]).self) { group in
        for number in 0..<64 {
            let url = server.url
            group.addTask {
                ("/\(number)", try await upstream.fetch(FetchRequest(.segment, url: "\(url)/\(number)")).get().body)
            }
        }
        for try await (target, body) in group { #expect(body == bytes(target)) }
    }
    #expect(server.requests.count == 64)
}

@Test func byteRangeIsRequestedWithoutCompression() async throws {
    let server = try LoopbackServer { _ in [.answer(206, ["Content-Range: bytes 10-14/99"], body: bytes("range"))] }
    let range = ByteRange(offset: 10, length: 5)
    let answer = try await upstream(server).fetch(FetchRequest(.map, url: server.url + "/all.mp4", byteRange: range))
        .get()
    #expect(answer.status == 206)
    #expect(server.requests.first?.headers["range"] == "bytes=10-14")
    #expect(server.requests.first?.headers["accept-encoding"] == nil)
}

@Test(arguments: [ByteRange(offset: 0, length: 0), ByteRange(offset: .max, length: 2)])
func invalidByteRangeIsNotRequested(range: ByteRange) async throws {
    let server = try LoopbackServer { _ in [.answer()] }
    let outcome = try await upstream(server).fetch(FetchRequest(.segment, url: server.url, byteRange: range))
    #expect(throws: FetchError.self) { try outcome.get() }
    #expect(server.requests.isEmpty)
}

@Test func cancelingTheTaskClosesTheConnection() async throws {
    let (arrivals, arrival) = AsyncStream<Void>.makeStream()
    let server = try LoopbackServer { _ in
        arrival.yield()
        return [.hang]
    }
    // A long idle limit, so that a slow machine does not end the transfer first.
    let longLimits = CurlConfiguration.Limits(bodyBytes: 1 << 20, idle: .seconds(120), total: .seconds(120))
    let upstream = try upstream(server, loopbackConfiguration(segments: longLimits))
    let request = FetchRequest(.segment, url: server.url + "/1.ts")
    let fetch = Task { await upstream.fetch(request) }
    for await _ in arrivals { break }
    fetch.cancel()
    let outcome = await fetch.value
    guard case .failure(let error) = outcome else {
        Issue.record("\(outcome)")
        return
    }
    #expect(error.reason == .canceled)
    #expect(await server.waitForHangUps(1))
}

@Test func canceledTaskDoesNotFetch() async throws {
    let server = try LoopbackServer { _ in [.hang] }
    let upstream = try upstream(server)
    let request = FetchRequest(.segment, url: server.url + "/1.ts")
    let fetch = Task {
        while !Task.isCancelled { await Task.yield() }
        return await upstream.fetch(request)
    }
    fetch.cancel()
    let outcome = await fetch.value
    guard case .failure(let error) = outcome else {
        Issue.record("\(outcome)")
        return
    }
    #expect(error.reason == .canceled)
}

@Test func threadEndsWithItsLastReference() async throws {
    weak var commandQueue: CurlCommandQueue?
    do {
        let server = try LoopbackServer { _ in [.answer(body: bytes("x"))] }
        let thread = try CurlThread()
        commandQueue = thread.commandQueue
        let upstream = try CurlFetcher(
            upstream: server.url, configuration: loopbackConfiguration(), thread: thread)
        #expect(try await upstream.fetch(FetchRequest(.segment, url: server.url)).get().body == bytes("x"))
    }
    let end = ContinuousClock.now + .seconds(10)
    while commandQueue != nil, ContinuousClock.now < end { await Task.yield() }
    #expect(commandQueue == nil)
}

@Test func slowBodyEndsAtTheTotalLimit() async throws {
    let server = try LoopbackServer { _ in
        [.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .hang]
    }
    let limits = CurlConfiguration.Limits(bodyBytes: 9, idle: .seconds(60), total: .milliseconds(200))
    let upstream = try upstream(server, loopbackConfiguration(segments: limits))
    let outcome = await upstream.fetch(FetchRequest(.segment, url: server.url))
    guard case .failure(let error) = outcome else {
        Issue.record("\(outcome)")
        return
    }
    #expect(error.reason == .timedOut)
    #expect(!error.message.contains("too slow"), "the total limit, not the idle one")
}

@Test func documentedLimits() {
    let limits = CurlConfiguration()
    #expect(limits.connectLimit == .seconds(5))
    #expect(
        limits.limits(for: FetchRequest(.mediaPlaylist, url: ""))
            == .init(bodyBytes: 16 << 20, idle: .seconds(8), total: .seconds(10), minBytesPerSecond: 64))
    #expect(limits.limits(for: FetchRequest(.multivariantPlaylist, url: "")) == limits.playlistLimits)
    #expect(
        limits.limits(for: FetchRequest(.key, url: ""))
            == .init(bodyBytes: 64 << 10, idle: .seconds(8), total: .seconds(10)))
    #expect(
        limits.limits(for: FetchRequest(.segment, url: ""))
            == .init(bodyBytes: 32 << 20, idle: .seconds(8), total: .seconds(30), minBytesPerSecond: 512))
    #expect(limits.limits(for: FetchRequest(.map, url: "")).bodyBytes == 2 << 20)
}

/// EXTINF and the total limit of a transfer, in seconds.
private let durations: [(duration: Int64, total: Int64)] = [(2, 30), (7, 30), (10, 40), (60, 240), (Int64.max, 600)]

@Test(arguments: durations) func totalLimitGrowsWithTheSegmentsDuration(duration: Int64, total: Int64) {
    let request = FetchRequest(.segment, url: "", duration: .seconds(duration))
    #expect(CurlConfiguration().limits(for: request).total == .seconds(total))
}

@Test func signedURLIsRequestedByteForByte() async throws {
    let server = try LoopbackServer { _ in [.answer()] }
    let target = "/a/../b/./%7Ex.ts?sig=%2Fa%2fb&x=1+2"
    _ = try await upstream(server).fetch(FetchRequest(.segment, url: server.url + target + "#fragment")).get()
    #expect(server.requests.map(\.target) == [target])
}

@Test func connectionsOfAChannelEndWithIt() async throws {
    let server = try LoopbackServer { _ in [.answer(body: [1]), .hang] }
    do {
        let channel = try upstream(server)
        _ = try await channel.fetch(FetchRequest(.segment, url: server.url + "/1")).get()
    }
    #expect(await server.waitForHangUps(1))
}
