import Foundation
import Support
import Testing

@testable import Fleet

/// With the etcd of this machine. Without one, nothing is tested.
@Suite("Records in etcd", .serialized, .enabled(if: Etcd.path != nil)) struct EtcdEngineTests {
    @Test("Of many requests that create a record, one succeeds; records are read after the own one is written")
    func records() async throws {
        let etcd = try await Etcd.start()
        defer { etcd.end() }
        let location = try #require(EtcdEngine.Location(parsing: "etcd://127.0.0.1:1,\(etcd.address)/test/a"))
        let engine = try EtcdEngine(location, key: try Etcd.key)
        try await EngineProbe.run(engine, name: "x")

        let first = OwnerRecord(subject: "@a/b", epoch: 1, node: "n.1", attempt: 1, base: 5)
        let second = OwnerRecord(subject: "@a/b", epoch: 2, node: "n.1", attempt: 2, base: 5)
        #expect(await engine.create(first) == true)
        #expect(await engine.create(first) == true)
        #expect(await engine.create(OwnerRecord(subject: "@a/b", epoch: 1, node: "m.1", attempt: 1, base: 5)) == false)
        #expect(await engine.create(second) == true)

        var record = NodeRecord(node: "n.1", counter: 1, address: "http://n", capacity: 10)
        let mark = PublishedMark(number: 7, discontinuity: 0, end: 1, resume: "\"\n")
        record.channels["news"] = ChannelMark(epoch: 1, rate: 3, published: mark)
        _ = try await engine.beat(record, sentAt: .zero)
        record.counter = 2
        let view = try await engine.beat(record, sentAt: .seconds(1))
        #expect(view.counter == 2 && view.sentAt == .seconds(1))
        #expect(view.nodes == ["n.1": record])
        #expect(view.owners == ["@a/b": Ownership(epoch: 2, record: second)])

        // Another engine of the same run, which does not know the revision, as after an answer that was lost.
        record.counter = 3
        let other = try EtcdEngine(location, key: try Etcd.key)
        #expect(try await other.beat(record, sentAt: .zero).nodes == ["n.1": record])
        record.counter = 4
        #expect(try await engine.beat(record, sentAt: .zero).nodes == ["n.1": record])

        // Who has another key reads nothing, and is not read.
        let foreign = try EtcdEngine(
            location, key: try #require(FleetKey(Secret("x123456789abcdef0123456789abcdef"))))
        let stranger = NodeRecord(node: "s.1", counter: 1, address: "http://s", capacity: 1)
        let seen = try await foreign.beat(stranger, sentAt: .zero)
        #expect(seen.nodes == ["n.1": nil, "s.1": stranger])
        #expect(seen.owners == ["@a/b": Ownership(epoch: 2, record: nil)])
        record.counter = 5
        #expect(try await engine.beat(record, sentAt: .zero).nodes == ["n.1": record, "s.1": nil])
        await engine.removeNodes(["s.1"])

        await engine.removeNodes(["n.1"])
        await engine.removeSubject("@a/b")
        let last = NodeRecord(node: "n.2", counter: 1, address: "", capacity: 0)
        let empty = try await engine.beat(last, sentAt: .zero)
        #expect(empty.nodes == ["n.2": last] && empty.owners.isEmpty)
    }

    @Test("Without an engine, nothing is known") func absence() async throws {
        let location = try #require(EtcdEngine.Location(parsing: "etcd://127.0.0.1:1/x"))
        let engine = try EtcdEngine(location, key: try Etcd.key)
        #expect(await engine.create(OwnerRecord(subject: "a", epoch: 1, node: "n", attempt: 1, base: 0)) == nil)
        await #expect(throws: EngineError.self) {
            _ = try await engine.beat(NodeRecord(node: "n", address: "", capacity: 0), sentAt: .zero)
        }
        await #expect(throws: EngineError.self) { try await EngineProbe.run(engine, name: "x") }
    }
}

/// One member of etcd on ports of its own.
struct Etcd {
    static let path = ["/usr/bin/etcd", "/usr/local/bin/etcd"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    static var key: FleetKey {
        get throws { try #require(FleetKey(Secret("0123456789abcdef0123456789abcdef"))) }
    }

    let address: String
    private let process: Process
    private let folder: URL

    static func start() async throws -> Etcd {
        let folder = FileManager.default.temporaryDirectory.appending(path: "etcd-\(UInt64.random(in: .min ... .max))")
        let port = Int.random(in: 20_000...29_000)
        let process = Process()
        process.executableURL = URL(filePath: path ?? "")
        process.arguments = [
            "--data-dir", folder.path, "--listen-client-urls", "http://127.0.0.1:\(port)",
            "--advertise-client-urls", "http://127.0.0.1:\(port)", "--listen-peer-urls", "http://127.0.0.1:\(port + 1)",
            "--initial-advertise-peer-urls", "http://127.0.0.1:\(port + 1)",
            "--initial-cluster", "default=http://127.0.0.1:\(port + 1)",
        ]
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        try process.run()
        let etcd = Etcd(address: "127.0.0.1:\(port)", process: process, folder: folder)
        let location = try #require(EtcdEngine.Location(parsing: "etcd://\(etcd.address)/start"))
        let engine = try EtcdEngine(location, key: try key)
        for _ in 0..<100 {
            let record = OwnerRecord(subject: "start", epoch: 1, node: "n", attempt: 1, base: 0)
            if await engine.create(record) == true { break }
            try await Task.sleep(for: .milliseconds(100))
        }
        return etcd
    }

    func end() {
        process.terminate()
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }
}
