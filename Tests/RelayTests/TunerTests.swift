import ArgumentParser
import Capture
import Channel
import Foundation
import LiveRing
import Logging
import TestSupport
import Testing
import WebTestSupport

@testable import ChannelList
@testable import HTTP
@testable import Service
@testable import WebServer
@testable import liverelay

@Test func deviceIDIsTheSameAfterARestart() throws {
    let options = try TunerOptions.parse([])
    let id = options.device(publicURL: nil, list: "http://h/list.m3u?token=1", port: 8080, tunerCount: 1).deviceID
    #expect(TunerDevice.isValid(deviceID: id))
    #expect(options.device(publicURL: nil, list: "http://h/list.m3u?token=2", port: 8080, tunerCount: 1).deviceID == id)
    #expect(options.device(publicURL: nil, list: "http://h/list.m3u?token=1", port: 8081, tunerCount: 1).deviceID != id)
    let own = try TunerOptions.parse(["--device-id", "1050f003", "--tuner-name", "Attic"])
    #expect(
        own.device(publicURL: nil, list: "", port: 1, tunerCount: 3)
            == TunerDevice(name: "Attic", deviceID: "1050F003", tunerCount: 3))
    let corrected = try #require(TunerDevice.corrected(deviceID: "12345678"))
    #expect(TunerDevice.isValid(deviceID: corrected))
    for words in [["--device-id", "12345678"], ["--device-id", "xyz"]] {
        #expect(throws: (any Error).self) { try TunerOptions.parse(words) }
    }
}

/// Two channels on one upstream, of which one may run.
private struct TunerScene {
    let host: ChannelHost
    let server: HTTPServer
    let origin: HTTPServer
    let spool = FileManager.default.temporaryDirectory.appending(path: "liverelay-tuner-\(UUID().uuidString)")

    init(maxRunning: Int? = 1) async throws {
        let capture = try CaptureDirectory(CaptureFixture.clean.directory)
        let recorded = try CapturedOrigin(
            CaptureDirectory(capture.url, index: capture.index.withoutFaults), loops: true)
        let clock = FirstRequestClock()
        origin = try await HTTPServer.start(recorded, on: ListenAddress(host: "127.0.0.1", port: 0)) {
            clock.elapsed()
        }
        let url = "http://127.0.0.1:\(origin.port)\(recorded.entryPath)"
        let channels = [("news", "7"), ("sport", nil)].map { slug, number in
            ListedChannel(slug: slug, name: slug, number: number, sources: [ListedSource(url: url)])
        }
        let settings = ChannelSettings(
            configuration: RelayConfiguration(
                upstream: "", spool: "", retention: RetentionPolicy(rewind: .seconds(600), freeReserve: 0)),
            spool: spool.path, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let host = ChannelHost(
            ChannelDirectory(channels),
            policy: .init(idle: .seconds(5), startLimit: .seconds(8), maxRunning: maxRunning), settings: settings)
        self.host = host
        server = try await HTTPServer.start(
            on: ListenAddress(host: "127.0.0.1", port: 0), threads: 1,
            responder: ServeResponder(
                host,
                tuner: TunerDevice(
                    name: "Attic", deviceID: "1050F003", tunerCount: host.policy.tunerCount)))
    }

    func get(_ path: String, method: String = "GET") throws -> RawResponse {
        var client = try RawClient(port: server.port)
        try client.send(request(method, path))
        return try client.response(toHead: method == "HEAD")
    }

    func object(_ path: String) throws -> [String: Any] {
        let response = try get(path)
        #expect(response.status == 200 && response["Content-Type"] == "application/json")
        #expect(response["Access-Control-Allow-Origin"] == "*")
        return try #require(JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any])
    }

    func end() async {
        host.close()
        await server.shutdown(within: .zero)
        await host.shutdown()
        await origin.shutdown(within: .zero)
        try? FileManager.default.removeItem(at: spool)
    }
}

@Suite(.ownThreads) struct TunerTests {
    @Test func documentsAreThoseOfADevice() async throws {
        let scene = try await TunerScene(maxRunning: 3)
        let discovery = try scene.object("/discover.json")
        #expect(discovery["TunerCount"] as? Int == 3 && discovery["DeviceID"] as? String == "1050F003")
        #expect(discovery["FriendlyName"] as? String == "Attic")
        #expect(discovery["BaseURL"] as? String == "http://test")
        #expect(try scene.object("/lineup_status.json")["ScanPossible"] as? Int == 1)
        let lineup = try scene.get("/lineup.json").body
        let entries = try #require(JSONSerialization.jsonObject(with: Data(lineup)) as? [[String: String]])
        #expect(entries.map { $0["URL"] } == ["http://test/news/live.ts", "http://test/sport/live.ts"])
        let description = try scene.get("/device.xml")
        #expect(description["Content-Type"] == "application/xml")
        #expect(String(decoding: description.body, as: UTF8.self).contains("<serialNumber>1050F003</serialNumber>"))
        #expect(try scene.get("/lineup.m3u")["Content-Type"] == "audio/x-mpegurl")
        for method in ["POST", "GET"] {
            let scan = try scene.get("/lineup.post?scan=start&source=Cable", method: method)
            #expect(scan.status == 200 && scan.body.isEmpty && scan["Content-Length"] == "0")
        }
        #expect(try scene.get("/discover.json", method: "POST").status == 405)
        #expect(try scene.get("/discover.json", method: "HEAD").status == 200)
        #expect(scene.host.overview.startCount == 0)
        await scene.end()
    }

    @Test func withoutALimitTheTunersAreCounted() async throws {
        let scene = try await TunerScene(maxRunning: nil)
        #expect(try scene.object("/discover.json")["TunerCount"] as? Int == ChannelSupervisor.Policy.unlimitedTuners)
        await scene.end()
    }

    @Test func numbersLeadToStreams() async throws {
        let scene = try await TunerScene()
        for path in ["/auto/v8", "/auto/v", "/tuner1/v7", "/auto/vnews"] {
            let unknown = try scene.get(path)
            #expect(unknown.status == 404 && unknown.body.isEmpty, "\(path)")
            #expect(unknown["X-HDHomeRun-Error"] == "801 Unknown Channel", "\(path)")
        }
        let head = try scene.get("/auto/v7", method: "HEAD")
        #expect(head.status == 200 && head["Content-Type"] == "video/mp2t")
        #expect(scene.host.overview.startCount == 0, "a HEAD starts nothing")

        var client = try RawClient(port: scene.server.port)
        try client.send(request("GET", "/tuner0/v7", version: "1.0"))
        #expect(try client.head().status == 200)
        #expect(try client.read(188).first == 0x47)
        let other = TunerDevice.guideNumbers(of: scene.host.directory.channels)[1]
        let full = try scene.get("/auto/v\(other)")
        #expect(full.status == 503 && full.body.isEmpty)
        #expect(full["X-HDHomeRun-Error"] == "805 All Tuners In Use")
        #expect(try scene.get("/sport/live.ts")["X-HDHomeRun-Error"] == "805 All Tuners In Use")
        #expect(try scene.get("/sport/live.m3u8")["X-HDHomeRun-Error"] == nil)
        await scene.end()
    }

    @Test func durationEndsTheStream() async throws {
        let scene = try await TunerScene()
        var client = try RawClient(port: scene.server.port)
        try client.send(request("GET", "/auto/v7?duration=1", version: "1.0"))
        #expect(try client.head().status == 200)
        let bytes = try client.rest()
        #expect(bytes.count > 188 && bytes.count % 188 == 0)
        await scene.end()
    }
}

private let listening: [(when: String, publicURL: String?, host: String, client: String, url: String?)] = [
    ("everywhere", nil, "0.0.0.0", "192.0.2.9", "http://192.0.2.5:8080"),
    ("one address", nil, "192.0.2.1", "192.0.2.9", "http://192.0.2.1:8080"),
    ("loopback, asked on this machine", nil, "127.0.0.1", "127.0.0.1", "http://127.0.0.1:8080"),
    ("loopback, asked from elsewhere", nil, "127.0.0.1", "192.0.2.9", nil),
    ("localhost, asked from elsewhere", nil, "localhost", "192.0.2.9", nil),
    ("a public URL", "https://tv.example/live", "127.0.0.1", "192.0.2.9", "https://tv.example/live"),
]

@Test(arguments: listening)
func announcedAddress(when: String, publicURL: String?, host: String, client: String, url: String?) {
    let address = DiscoveryAddress(publicURL: publicURL, listening: ListenAddress(host: host, port: 8080))
    #expect(address.baseURL(for: client, at: "192.0.2.5") == url, "\(when)")
}

@Suite(.ownThreads) struct DiscoveryTests {
    private static let device = TunerDevice(deviceID: "1C0FFEEC", tunerCount: 4)
    /// As libhdhomerun's own program; it can only ask the standard port.
    private static let program = "/usr/bin/hdhomerun_config"

    private func start(port: Int) async throws -> DiscoveryServer {
        try await DiscoveryServer.start(
            port: port, device: Self.device,
            address: DiscoveryAddress(publicURL: nil, listening: ListenAddress(host: "0.0.0.0", port: 8080)))
    }

    @Test func datagramsAreAnswered() async throws {
        let server = try await start(port: 0)
        let client = DatagramClient(port: server.port)
        // What is no request for us gets no answer, and hurts nobody.
        for bytes: [UInt8] in [[], [1], Array(repeating: 0xFF, count: 1400)] { client.send(bytes) }
        client.send([0, 2, 0, 6, 1, 4, 0xFF, 0xFF, 0xFF, 0xFF, 0x4C, 0x20, 0xCB, 0x4E])
        #expect(client.receive() == Self.device.discoveryReply(baseURL: "http://127.0.0.1:8080"))
        await server.shutdown()
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: program)))
    func libhdhomerunFindsTheTuner() async throws {
        guard let server = try? await start(port: DiscoveryServer.standardPort) else { return }
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: Self.program)
        process.arguments = ["discover", "127.0.0.1"]
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(text == "hdhomerun device 1C0FFEEC found at 127.0.0.1\n")
        await server.shutdown()
    }
}
