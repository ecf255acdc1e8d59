import NIOCore
import Testing
import WebTestSupport

@testable import HTTP
@testable import WebServer

@Suite struct RepeatedRequestTests {
    struct Row: CustomTestStringConvertible {
        let when: String
        let inputs: [String]
        /// Of each input, whether it is recognized.
        let recognized: [Bool]
        var testDescription: String { when }
    }

    static let first = request("GET", "/live.m3u8", ["User-Agent: a"])
    static let second = request("GET", "/dvr.m3u8", ["User-Agent: a"])

    static let rows = [
        Row(when: "the same again and again", inputs: [first, first, first], recognized: [false, true, true]),
        Row(
            when: "another, and both again", inputs: [first, second, second, first],
            recognized: [false, false, true, true]),
        Row(
            when: "two in one piece", inputs: [first + second, first + second, second, second],
            recognized: [false, false, false, false]),
        Row(
            when: "in two pieces: the second looks like a request", inputs: ["X", first, first],
            recognized: [false, false, false]),
        Row(
            when: "cut before its last line end", inputs: [String(first.dropLast(2)), "\r\n", first, first],
            recognized: [false, false, false, false]),
        Row(
            when: "with the beginning of the next", inputs: [first + "GET /", first, first],
            recognized: [false, false, false]),
        Row(
            when: "lines that end in LF alone",
            inputs: Array(repeating: "GET / HTTP/1.1\nHost: a\n\nGET / HTTP/1.1\r\n\r\n", count: 2),
            recognized: [false, false]),
        Row(
            when: "a body is announced", inputs: Array(repeating: request("GET", "/", ["CONTENT-LENGTH: 0"]), count: 2),
            recognized: [false, false]),
        Row(
            when: "a body in chunks",
            inputs: Array(repeating: request("GET", "/", ["Transfer-Encoding: chunked"]), count: 2),
            recognized: [false, false]),
        Row(
            when: "another protocol", inputs: Array(repeating: request("GET", "/", ["Upgrade: h2c"]), count: 2),
            recognized: [false, false]),
        Row(
            when: "another method", inputs: Array(repeating: request("HEAD", "/"), count: 2),
            recognized: [false, false]),
        Row(
            when: "as large as is remembered",
            inputs: Array(repeating: padded(to: RepeatedRequest.byteLimit), count: 2), recognized: [false, true]),
        Row(
            when: "larger", inputs: Array(repeating: padded(to: RepeatedRequest.byteLimit + 1), count: 2),
            recognized: [false, false]),
    ]

    private static func padded(to byteCount: Int) -> String {
        let empty = request("GET", "/", ["X: "])
        return request("GET", "/", ["X: " + String(repeating: "a", count: byteCount - empty.utf8.count)])
    }

    @Test("Inputs of one connection", arguments: rows) func recognition(row: Row) {
        var repetition = RepeatedRequest()
        let events = row.inputs.map { repetition.recognize(ByteBuffer(string: $0)) }
        #expect(events.map { if case .repeated = $0 { true } else { false } } == row.recognized)
    }

    /// A player that reloads two playlists between segments, each of which is asked for once.
    @Test func playlistsBetweenSegments() {
        var repetition = RepeatedRequest()
        var numbers: [RepeatedRequest.Event?] = []
        for segment in 0..<20 {
            for path in ["/live.m3u8", "/audio-1.m3u8", "/seg-\(segment).m4s"] {
                numbers.append(repetition.recognize(ByteBuffer(string: request("GET", path))))
            }
        }
        #expect(numbers.prefix(3) == [.remembered(0), .remembered(1), .remembered(2)])
        for round in 1..<20 {
            #expect(numbers[3 * round] == .repeated(0))
            #expect(numbers[3 * round + 1] == .repeated(1))
            #expect(numbers[3 * round + 2].map { $0 == .remembered(2) || $0 == .remembered(3) } == true)
        }
    }
}

/// Repeated requests over real connections.
@Suite(.ownThreads) struct RepeatedAnswerTests {
    /// Each request several times, which the server answers like the first one.
    @Test(arguments: [
        request("GET", "/live.m3u8"), request("GET", "/live.m3u8", ["Accept-Encoding: gzip"]),
        request("GET", "/live.m3u8", ["Range: bytes=10-20"]), request("GET", "/live.m3u8", ["If-None-Match: \"p1\""]),
        request("GET", "/seg-1.m4s"), request("GET", "/query?start=5"), request("GET", "/none"), request("GET", "/%zz"),
    ])
    func fiveTimes(text: String) async throws {
        let origin = try await HTTPOrigin()
        var client = try origin.client()
        var answers: [RawResponse] = []
        for _ in 0..<5 {
            try client.send(text)
            answers.append(try client.response())
        }
        for answer in answers {
            #expect(answer.status == answers[0].status)
            #expect(answer.body == answers[0].body)
            #expect(Self.lines(answer) == Self.lines(answers[0]))
        }
        // The parser goes on where it was.
        try client.send(request("GET", "/query?start=7"))
        #expect(try client.response().body == Array("7\n".utf8))
        await origin.server.shutdown(within: .seconds(1))
    }

    /// The fields but the date.
    private static func lines(_ response: RawResponse) -> [String] {
        response.fields.map { "\($0.name): \($0.value)" }.filter { !$0.hasPrefix("Date") }
    }

    /// Playlists and segments in turn on one connection.
    @Test func severalInTurn() async throws {
        let origin = try await HTTPOrigin()
        var client = try origin.client()
        for round in 0..<10 {
            try client.send(request("GET", "/live.m3u8"))
            #expect(try client.response().body == HTTPOrigin.playlist)
            try client.send(request("GET", "/query?start=1"))
            #expect(try client.response().body == Array("1\n".utf8))
            try client.send(request("GET", "/query?start=\(round + 100)"))
            #expect(try client.response().body == Array("\(round + 100)\n".utf8))
        }
        await origin.server.shutdown(within: .seconds(1))
    }

    /// A client that does not wait for an answer gets one for each request.
    @Test func repeatedWhileTheAnswerIsUnderWay() async throws {
        let server = try await HTTPServer.start(
            on: ListenAddress(host: "127.0.0.1", port: 0), threads: 1,
            responder: TargetResponder { target in
                .later {
                    try? await Task.sleep(for: .milliseconds(20))
                    return .text(.ok, target.path)
                }
            })
        var client = try RawClient(port: server.port)
        for _ in 0..<20 { try client.send(request("GET", "/a")) }
        for _ in 0..<20 { #expect(try client.response().body == Array("/a\n".utf8)) }
        await server.shutdown(within: .seconds(1))
    }
}
