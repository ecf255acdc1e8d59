import ChannelList
import Foundation
import Testing
import WebTestSupport

@testable import HTTP
@testable import Service
@testable import WebServer

private struct APIRow: Sendable, CustomTestStringConvertible {
    let when: String
    let method: String
    let path: String
    var body: String?
    var token: String? = ServeScene.token
    var type = "application/json"
    let status: Int
    /// What the body has.
    var says = ""

    var testDescription: String { when }
}

private let rows = [
    APIRow(when: "no token", method: "GET", path: "/api/channels", token: nil, status: 401, says: "--api-token"),
    APIRow(when: "another token", method: "GET", path: "/api/channels", token: "0123456789abcdeF", status: 401),
    APIRow(
        when: "a longer token", method: "DELETE", path: "/api/channels/news", token: "0123456789abcdef0", status: 401),
    APIRow(when: "no token for a change", method: "POST", path: "/api/reload", token: nil, status: 401),
    APIRow(when: "the document needs no token", method: "GET", path: "/api/openapi.json", token: nil, status: 200),
    APIRow(when: "all channels", method: "GET", path: "/api/channels", status: 200, says: "\"channel\" : \"news\""),
    APIRow(when: "one channel", method: "GET", path: "/api/channels/news", status: 200, says: "\"state\" : \"idle\""),
    APIRow(when: "no such channel", method: "GET", path: "/api/channels/nobody", status: 404, says: "nobody"),
    APIRow(when: "no such channel to delete", method: "DELETE", path: "/api/channels/nobody", status: 404),
    APIRow(when: "no such path", method: "GET", path: "/api/nothing", status: 404, says: "openapi.json"),
    APIRow(when: "no such path to change", method: "PUT", path: "/api/nothing", status: 404),
    APIRow(when: "a method", method: "DELETE", path: "/api/channels", status: 405, says: "GET, HEAD, OPTIONS"),
    APIRow(when: "what may be asked of no path", method: "OPTIONS", path: "/api/nothing", token: nil, status: 404),
    APIRow(when: "a GET of what only acts", method: "GET", path: "/api/reload", status: 405),
    APIRow(
        when: "a new channel", method: "PUT", path: "/api/channels/new",
        body: #"{"url": "http://127.0.0.1:9/x.m3u8", "idle": 5, "number": "7"}"#, status: 201, says: "\"idle\" : \"5s\""
    ),
    APIRow(
        when: "a channel with another name", method: "PUT", path: "/api/channels/news",
        body: #"{"url": ["http://127.0.0.1:9/x.m3u8"], "name": "News"}"#, status: 200, says: "\"name\" : \"News\""),
    APIRow(when: "no body", method: "PUT", path: "/api/channels/new", body: "", status: 400),
    APIRow(when: "no JSON", method: "PUT", path: "/api/channels/new", body: "url: x", status: 400),
    APIRow(when: "a list", method: "PUT", path: "/api/channels/new", body: "[]", status: 400),
    APIRow(when: "YAML", method: "PUT", path: "/api/channels/new", body: "{}", type: "text/yaml", status: 415),
    APIRow(
        when: "mistakes", method: "PUT", path: "/api/channels/new", body: #"{"url": "x", "headers": {"Range": "b"}}"#,
        status: 422, says: "\"pointer\" : \"\\/headers\\/Range\""),
    APIRow(
        when: "an account that is not there", method: "PUT", path: "/api/channels/new",
        body: #"{"url": "http://h/", "account": "x"}"#, status: 409, says: "is not an account"),
    APIRow(
        when: "an account that is not there, and another mistake", method: "PUT", path: "/api/channels/new",
        body: #"{"url": "x", "account": "x"}"#, status: 422),
    APIRow(
        when: "a name that is a path", method: "PUT", path: "/api/channels/api", body: #"{"url": "http://h/"}"#,
        status: 422, says: "/api is a path of the server"),
    APIRow(
        when: "a name with capitals", method: "PUT", path: "/api/channels/News", body: #"{"url": "http://h/"}"#,
        status: 422),
    APIRow(
        when: "a body that is too large", method: "PUT", path: "/api/channels/new",
        body: String(repeating: " ", count: APIResponder.bodyLimit + 1), status: 413),
    APIRow(when: "a list that is gone", method: "POST", path: "/api/reload", status: 502, says: "nothing changed"),
]

@Suite(.ownThreads, .timeLimit(.minutes(1))) struct APITests {
    private static let channels = [(slug: "news", url: "http://127.0.0.1:9/x.m3u8")]

    @Test func answers() async throws {
        let scene = try await ServeScene(Self.channels)
        for row in rows {
            let response = try scene.api(row.method, row.path, row.body, token: row.token, type: row.type)
            let body = String(decoding: response.body, as: UTF8.self)
            #expect(response.status == row.status, "\(row.when): \(body)")
            #expect(row.says.isEmpty || body.contains(row.says.replacing("\\/", with: "/")), "\(row.when): \(body)")
            let type = row.status < 300 ? "application/json" : "application/problem+json"
            #expect(response["Content-Type"] == type, "\(row.when)")
            #expect((response["WWW-Authenticate"] == "Bearer") == (row.status == 401), "\(row.when)")
        }
        await scene.end()
    }

    @Test func changesAreSeenAtOnce() async throws {
        let scene = try await ServeScene(Self.channels)
        #expect(try scene.api("DELETE", "/api/channels/news").status == 204)
        #expect(try scene.get("/news/live.m3u8").status == 404)
        let put = try scene.api("PUT", "/api/channels/sport", #"{"url":"http://127.0.0.1:9/x.m3u8","name":"Sport 1"}"#)
        #expect(put.status == 201)
        #expect(try scene.text("/playlist.m3u").contains("Sport 1"))
        #expect(scene.host.directory.channels.map(\.slug) == ["sport"])
        let again = try scene.api("PUT", "/api/channels/news", #"{"url":"http://127.0.0.1:9/x.m3u8"}"#)
        #expect(again.status == 201, "it was deleted")
        #expect(scene.host.directory.channels.map(\.slug) == ["news", "sport"])
        await scene.end()
    }

    @Test func channelThatIsPutAgainChangesNothing() async throws {
        let scene = try await ServeScene(Self.channels)
        let full = #"""
            {"url": {"url": "http://h/1", "headers": {"X": "a"}}, "backups": ["http://h/2"], "group": ["A", "B"],
            "number": "5.1", "variant": "720p", "rewind": "when-watched", "dvr": 90, "give-up": "0",
            "max-segment": "1MiB", "require": "video", "always": false, "audio": "drop", "radio": true}
            """#
        #expect(try scene.api("PUT", "/api/channels/full", full).status == 201)
        let before = try #require(scene.host.directory["full"])
        let answer = try JSONSerialization.jsonObject(with: Data(scene.api("GET", "/api/channels/full").body))
        let configuration = try #require((answer as? [String: Any])?["configuration"])
        let text = String(decoding: try JSONSerialization.data(withJSONObject: configuration), as: UTF8.self)
        #expect(try scene.api("PUT", "/api/channels/full", text).status == 200)
        #expect(scene.host.directory["full"] == before)
        await scene.end()
    }

    @Test func withoutTokenThereIsNoAPI() async throws {
        let scene = try await ServeScene(Self.channels, hasAPI: false)
        for (method, path) in [("GET", "/api/channels"), ("GET", "/api/openapi.json"), ("POST", "/api/reload")] {
            let response = try scene.api(method, path)
            #expect(response.status == 404, "\(path)")
            #expect(String(decoding: response.body, as: UTF8.self).contains("--api-token"), "\(path)")
        }
        #expect(try scene.api("PUT", "/news/live.m3u8", "{}").status == 405)
        await scene.end()
    }

    @Test func optionsNameTheMethodsOfEachPath() async throws {
        let scene = try await ServeScene(Self.channels)
        for (path, methods) in [
            ("/api/channels/x", "GET, HEAD, PUT, DELETE, OPTIONS"), ("/api/reload", "POST, OPTIONS"),
            ("/news/live.m3u8", "GET, HEAD, OPTIONS"),
        ] {
            let response = try scene.api("OPTIONS", path, token: nil)
            #expect(response.status == 204 && response["Allow"] == methods, "\(path)")
        }
        await scene.end()
    }

    @Test func bodiesComeInParts() async throws {
        let scene = try await ServeScene(Self.channels)
        var client = try RawClient(port: scene.server.port)
        let fields = ["Authorization: bearer \(ServeScene.token)", "Content-Type: application/json; charset=utf-8"]
        try client.send(request("PUT", "/api/channels/a", fields + ["Transfer-Encoding: chunked"]))
        try client.send("9\r\n{\"url\": \"\r\n")
        try client.send("b\r\nhttp://h/\"}\r\n0\r\n\r\n")
        #expect(try client.response().status == 201)
        var kept = try RawClient(port: scene.server.port)
        for _ in 0..<2 {
            try kept.send(request("DELETE", "/api/channels/nobody", fields))
            #expect(try kept.response().status == 404, "the connection goes on")
        }
        await scene.end()
    }
}

@Test(arguments: [
    ("0123456789abcdef", "Bearer 0123456789abcdef", true), ("0123456789abcdef", "BEARER 0123456789abcdef", true),
    ("0123456789abcdef", "Bearer 0123456789abcdee", false), ("0123456789abcdef", "Bearer ", false),
    ("0123456789abcdef", "Bearer 0123456789abcdef0123456789abcdef", false),
    ("0123456789abcdef", "Basic 0123456789abcdef", false), ("0123456789abcdef", "0123456789abcdef", false),
]) func tokenIsCompared(token: String, field: String, isCarried: Bool) {
    #expect(AccessToken(token)?.isCarried(by: field) == isCarried)
}

@Test(arguments: ["short", "0123456789 abcdef", "0123456789abcdé0", ""]) func weakTokenIsRefused(token: String) {
    #expect(AccessToken(token) == nil)
}

/// The document of the API, and what the code says.
@Suite struct APIDocumentTests {
    private let document: [String: Any]

    init() throws {
        let object = try JSONSerialization.jsonObject(with: Data(APIDocument.json))
        document = try #require(object as? [String: Any])
    }

    private func schema(_ name: String) throws -> [String: Any] {
        let schemas = (document["components"] as? [String: Any])?["schemas"] as? [String: Any]
        return try #require(schemas?[name] as? [String: Any])
    }

    /// Each row of the table of operations is in the document, and nothing else.
    @Test func hasTheOperations() throws {
        let paths = try #require(document["paths"] as? [String: [String: Any]])
        #expect(Set(paths.keys) == Set(Route.API.allCases.map(\.rawValue)))
        let methods = paths.map { $1.keys.count { $0 != "parameters" } }.reduce(0, +)
        #expect(methods == APIOperation.all.count)
        for row in APIOperation.all {
            let path = try #require(paths[row.resource.rawValue])
            let operation = try #require(path[row.method.rawValue.lowercased()] as? [String: Any], "\(row.id)")
            #expect(operation["operationId"] as? String == row.id)
            #expect((operation["requestBody"] != nil) == (row.body != nil), "\(row.id)")
            let responses = try #require(operation["responses"] as? [String: Any])
            #expect((responses["401"] != nil) == row.needsToken, "\(row.id)")
            #expect(row.responses.keys.allSatisfy { responses["\($0)"] != nil }, "\(row.id)")
            #expect((path["parameters"] != nil) == (row.resource.field != nil), "\(row.id)")
        }
        for path in Route.API.allCases {
            #expect(Set(APIOperation.of(path).map(\.needsToken)).count == 1, "\(path)")
        }
    }

    @Test func hasTheKeysOfAChannel() throws {
        let properties = try #require(try schema("Channel")["properties"] as? [String: Any])
        let keys = ConfigurationKey.allCases.filter { $0.isPermitted(in: .request) }.map(\.rawValue)
        #expect(Set(properties.keys) == Set(keys))
    }

    @Test func sourceHasOneURL() throws {
        let properties = try #require(try schema("Source")["properties"] as? [String: Any])
        #expect(Set(properties.keys) == Set(ConfigurationKey.Scope.source.keys.map(\.rawValue)))
        #expect(properties["url"] as? [String: String] == ["$ref": "#/components/schemas/URL"])
    }

    @Test func hasThePatternsOfValues() throws {
        var found: Set<String> = []
        func collect(_ value: Any) {
            if let object = value as? [String: Any] {
                if let pattern = object["pattern"] as? String, object["type"] as? String == "string" {
                    found.insert(pattern)
                }
                for value in object.values { collect(value) }
            }
            for item in value as? [Any] ?? [] { collect(item) }
        }
        collect(document)
        let others: [ConfigurationPattern] = [.headerName, .token, .url, .credential, .store, .zone]
        let known = ConfigurationPattern.allCases.filter { !others.contains($0) }.map(\.expression)
        // That of memory-limit has no number below the smallest limit.
        let memoryLimit = try #require(found.subtracting(known).first)
        #expect(found == Set(known + [memoryLimit]))
        for (text, isPossible) in [("95MiB", false), ("96MiB", true), ("4096M", true), ("1G", true), ("5000", false)] {
            let isMatch = try Regex(memoryLimit).wholeMatch(in: text) != nil
            #expect(isMatch == isPossible, "\(text)")
        }
    }

    @Test func namesThePathsOfTheServer() throws {
        let refused = try schema("Name")["not"] as? [String: Any]
        #expect(Set(refused?["enum"] as? [String] ?? []) == ChannelSlug.reserved)
    }
}
