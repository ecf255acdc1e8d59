import TestSupport
import Testing

@testable import Fetch
@testable import Support

private let content = RequestContent(type: "application/json", bytes: Array(#"{"id":1,"é":""}"#.utf8))

@Test func postSendsItsContentAndCredentials() async throws {
    let server = try LoopbackServer { _ in [.answer(202, body: Array("ok".utf8))] }
    let url = "http://user:secret@127.0.0.1:\(server.port)/hook?a=b"
    let fetcher = try CurlFetcher(upstream: url, configuration: loopbackConfiguration())
    for _ in 0..<2 {
        let answer = try await fetcher.send(content, to: url).get()
        #expect(answer.status == 202 && answer.body == Array("ok".utf8))
    }
    #expect(server.connectionCount == 1, "the connection is kept")
    for request in server.requests {
        #expect(request.target == "/hook?a=b" && request.body == content.bytes)
        #expect(request.headers["content-type"] == "application/json")
        #expect(request.headers["authorization"] == "Basic dXNlcjpzZWNyZXQ=")
    }
}

@Test func postOfManyBytesArrivesWhole() async throws {
    let server = try LoopbackServer { request in [request.headers["expect"] == nil ? .answer() : .answer(417)] }
    let content = RequestContent(type: "text/plain", bytes: [UInt8](repeating: 0x61, count: 300_000))
    let fetcher = try CurlFetcher(upstream: server.url, configuration: loopbackConfiguration())
    #expect(try await fetcher.send(content, to: server.url + "/").get().status == 200)
    #expect(server.requests.first?.body == content.bytes)
}

@Test func postFollowsNoRedirect() async throws {
    let server = try LoopbackServer { _ in [.redirect(to: "/elsewhere")] }
    let fetcher = try CurlFetcher(upstream: server.url, configuration: loopbackConfiguration())
    #expect(try await fetcher.send(content, to: server.url + "/").get().status == 302)
    #expect(server.requests.count == 1)
}

@Test func canceledPostEnds() async throws {
    let server = try LoopbackServer { _ in [.hang] }
    let fetcher = try CurlFetcher(upstream: server.url, configuration: loopbackConfiguration())
    let post = Task { await fetcher.send(content, to: server.url + "/") }
    while server.requests.isEmpty { await Task.yield() }
    post.cancel()
    #expect(await post.value == .failure(FetchError(.canceled, url: server.url + "/", code: 42)))
}
