import StoreTestSupport
import Testing

@testable import Fleet

@Suite("Records in an object store") struct StoreEngineTests {
    private let store: MemoryStore
    private let engine: StoreEngine

    init() throws {
        store = try MemoryStore()
        engine = try StoreEngine(store.client(), key: Etcd.key)
    }

    @Test("Of many requests that create a record, one succeeds; records are read after the own one is written")
    func records() async throws {
        try await EngineProbe.run(engine, name: "x")
        #expect(store.keys.isEmpty)

        let first = OwnerRecord(subject: "@a/b", epoch: 1, node: "n.1", attempt: 1, base: 5)
        let second = OwnerRecord(subject: "@a/b", epoch: 2, node: "n.1", attempt: 2, base: 5)
        #expect(await engine.create(first) == true)
        #expect(await engine.create(OwnerRecord(subject: "@a/b", epoch: 1, node: "m.1", attempt: 1, base: 5)) == false)
        #expect(await engine.create(second) == true)
        let other = try StoreEngine(store.client(), key: Etcd.key)
        let neighbor = NodeRecord(node: "m.1", counter: 1, address: "http://m", capacity: 10)
        _ = try await other.beat(neighbor, sentAt: .zero)
        let record = NodeRecord(node: "n.1", counter: 1, address: "http://n", capacity: 10)
        let view = try await engine.beat(record, sentAt: .seconds(1))
        #expect(view.counter == 1 && view.sentAt == .seconds(1))
        #expect(view.nodes == ["m.1": neighbor, "n.1": record])
        #expect(view.owners == ["@a/b": Ownership(epoch: 2, record: second)])
    }

    /// - Parameter channels: 1,000 keys, which is one answer of a list, or one more.
    @Test(
        "A renewal is a PUT, a DELETE, a list and a GET of each other record that has changed",
        arguments: [
            (channels: 6, lists: 1), (channels: 991, lists: 1), (channels: 992, lists: 2),
        ])
    func renewal(channels: Int, lists: Int) async throws {
        let key = try Etcd.key
        for number in 0..<channels {
            let record = OwnerRecord(subject: "c\(number)", epoch: 1, node: "n1.1", attempt: 1, base: 0)
            store["fleet/owners/\(FleetRecords.key(of: record.subject, 1))"] = key.sealed(record.text)
        }
        let names = ["n1.1", "n2.1", "n3.1", "n4.1"]
        let engines = try names.map { _ in try StoreEngine(store.client(), key: key) }
        var requests: [String] = []
        for counter in 1...4 as ClosedRange<UInt64> {
            for (index, (name, engine)) in zip(names, engines).enumerated() {
                store.change { $0.requests = [] }
                let record = NodeRecord(node: name, counter: counter, address: "http://n", capacity: 10)
                let view = try await engine.beat(record, sentAt: .zero)
                #expect(view.nodes.count == (counter == 1 ? index + 1 : names.count))
                #expect(view.owners.count == channels)
                requests = store.requests
            }
        }
        let counts = Dictionary(grouping: requests) { $0.prefix { $0 != " " } }.mapValues(\.count)
        #expect(counts == ["PUT": 1, "LIST": lists, "GET": names.count - 1, "DELETE": 1])
    }
}
