import Foundation
import Testing
import WebTestSupport

@testable import Capture
@testable import Fetch
@testable import HTTP
@testable import WebServer
@testable import liverelay

private let host = "http://h/"

private func answer(_ at: Duration, _ name: String, _ text: String, status: Int = 200) -> CapturedExchange {
    CapturedExchange(
        at: at, took: .milliseconds(20), url: host + name,
        ending: .answer(
            CapturedAnswer(
                status: status,
                headers: [.init(name: "Content-Type", value: "text/x"), .init(name: "Retry-After", value: "3")],
                body: .text(text))))
}

private func failure(_ name: String, _ reason: FetchError.Reason) -> CapturedExchange {
    CapturedExchange(at: .zero, took: .milliseconds(20), url: host + name, ending: .failure(reason))
}

private let capture = CaptureDirectory(
    URL(filePath: "/nowhere"),
    index: CaptureIndex(
        upstream: host + "a.ts?x", about: "",
        exchanges: [
            answer(.zero, "a.ts?x", "media"), answer(.zero, "busy.ts", "", status: 503),
            answer(.seconds(1), "busy.ts", "available"), failure("short.ts", .shortBody), failure("reset.ts", .reset),
            failure("circle.ts", .tooManyRedirects), failure("unresolved.ts", .unresolvedHost),
            failure("gone.ts", .notInCapture), failure("silent.ts", .timedOut),
            CapturedExchange(
                at: .zero, url: host + "there.ts",
                ending: .answer(CapturedAnswer(status: 200, finalURL: "http://cdn/here.ts", body: .text("here")))),
        ]))

private func withServer(
    limits: HTTPServer.Limits = .init(), _ body: (CapturedOrigin, HTTPServer) async throws -> Void
) async throws {
    let origin = try CapturedOrigin(capture)
    let server = try await HTTPServer.start(origin, on: ListenAddress(host: "127.0.0.1", port: 0), limits: limits) {
        .zero
    }
    try await body(origin, server)
    await server.shutdown(within: .seconds(1))
}

/// What libcurl reports for each recorded ending, one request after the other.
private let endings: [(name: String, reports: [String])] = [
    ("a.ts?x", ["200 media", "200 media"]), ("busy.ts", ["503 ", "200 available"]), ("short.ts", ["shortBody"]),
    ("reset.ts", ["reset"]), ("unresolved.ts", ["reset"]), ("circle.ts", ["tooManyRedirects"]),
    ("gone.ts", ["404 There is nothing at /7/gone.ts.\n"]), ("there.ts", ["200 here"]),
]

@Test func curlReportsTheRecordedFaults() async throws {
    try await withServer { origin, server in
        let base = "http://127.0.0.1:\(server.port)"
        let client = try CurlFetcher(upstream: base)
        for row in endings {
            let path = origin.path(of: host + row.name)
            for report in row.reports {
                switch await client.fetch(FetchRequest(.segment, url: base + path)) {
                case .failure(let error): #expect(error.reason.rawValue == report, "\(row.name)")
                case .success(let answer):
                    #expect("\(answer.status) \(String(decoding: answer.body, as: UTF8.self))" == report, "\(row.name)")
                    if answer.status == 503 { #expect(answer.header("Retry-After") == "3") }
                    #expect(answer.header(CapturedResponse.Transmission.fieldName) == nil, "\(row.name)")
                }
            }
        }
    }
}

@Test func unansweredRequestIsClosedAfterTheIdleTime() async throws {
    try await withServer(limits: .init(idleTime: .milliseconds(100))) { origin, server in
        var client = try RawClient(port: server.port)
        try client.send(request("GET", origin.path(of: host + "silent.ts")))
        #expect(try client.rest().isEmpty)
    }
}

private let transmissions: [CapturedResponse.Transmission] = [
    .paced(over: .zero), .paced(over: .microseconds(1_234_567)), .cut(after: 32_768, over: .milliseconds(20)),
    .reset(after: .seconds(3600)), .silent,
]

@Test(arguments: transmissions) func transmissionSurvivesItsHeaderField(_ transmission: CapturedResponse.Transmission) {
    #expect(CapturedResponse.Transmission(fieldValue: transmission.fieldValue) == transmission)
}

@Test(arguments: ["", "fast", "paced", "cut 1", "reset x", "silent 1", "cut 0 -1", "paced -5"])
func malformedTransmissionFieldIsIgnored(_ fieldValue: String) {
    #expect(CapturedResponse.Transmission(fieldValue: fieldValue) == nil)
}

private let pacedRows: [(time: Duration, parts: Int)] = [
    (.zero, 1), (.milliseconds(99), 1), (.seconds(1), 10), (.seconds(1000), 990),
]

@Test(arguments: pacedRows) func pacedBodyIsSentInEqualParts(time: Duration, parts: Int) {
    let bytes = (0..<990).map { UInt8(truncatingIfNeeded: $0) }
    var body = PacedBody(bytes, over: time)
    var sent: [[UInt8]] = []
    while let part = body.next() { sent.append(Array(part)) }
    #expect(sent.count == parts && sent.flatMap { $0 } == bytes)
    #expect(body.isEmpty)
}

@Test func cutBodyEndsAtItsLimit() {
    var body = PacedBody([UInt8](repeating: 0, count: 1000), over: .zero, cutAfter: 300)
    #expect(body.next()?.count == 300)
    #expect(body.next() == nil)
}
