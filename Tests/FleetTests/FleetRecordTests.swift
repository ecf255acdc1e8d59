import Testing

@testable import Fleet

@Suite("Records of a fleet") struct FleetRecordTests {
    private static let mark = PublishedMark(
        number: 7, discontinuity: 2, end: 1_800_000_000_123, resume: "6\n#EXTINF:\"a\"\n")

    @Test("A node's record is read as it was written") func nodes() {
        var silent = ChannelMark(epoch: 2, rate: 5)
        silent.isUnanswered = true
        let record = NodeRecord(
            node: "a.1", counter: 9, address: "http://a:8080", program: "1", list: "h", load: 10, capacity: 20,
            isLeaving: true,
            channels: [
                "news": ChannelMark(epoch: 3, rate: 4, published: Self.mark),
                "film": ChannelMark(epoch: 1, isReleased: true, rate: 0), "sport": silent,
            ])
        #expect(NodeRecord(record.text) == record)
    }

    @Test("An owner's record is read as it was written") func owners() {
        let record = OwnerRecord(subject: "@x y.0", epoch: 3, node: "a.1", attempt: 2, base: 100)
        #expect(OwnerRecord(record.text) == record)
    }

    @Test(
        "A record of another version is left alone",
        arguments: [#"{"version":2,"subject":"a","epoch":1,"node":"n","attempt":1,"base":0}"#, "{}", "", "x"])
    func versions(text: String) {
        #expect(OwnerRecord(Array(text.utf8)) == nil)
        #expect(NodeRecord(Array(text.utf8)) == nil)
    }

    @Test(
        "The place of an engine",
        arguments: [
            ("etcd://a,b:1,c/x/y", ["http://a:2379", "http://b:1", "http://c:2379"], "x/y/"),
            ("etcds://u:p%40@a", ["https://a:2379"], "liverelay/"),
            ("etcd://[::1]/x", ["http://[::1]:2379"], "x/"),
        ])
    func locations(text: String, members: [String], prefix: String) {
        let location = EtcdEngine.Location(parsing: text)
        #expect(location?.members == members)
        #expect(location?.prefix == prefix)
    }

    @Test("No place of an engine", arguments: ["etcd://", "http://a", "etcd://u@a/x"]) func noLocations(text: String) {
        #expect(EtcdEngine.Location(parsing: text) == nil)
    }

    @Test("Keys of a subject") func keys() {
        #expect(FleetRecords.key(of: "@a/b.0", 12) == "%40a%2Fb.0/00000000000000000012")
        #expect(FleetRecords.subject(inKey: "%40a%2Fb.0/00000000000000000012")?.0 == "@a/b.0")
        #expect(FleetRecords.subject(inKey: "a/b/1") == nil)
    }

    @Test("Upstreams that do not answer their owners are asked rarely, and a few at a time") func probes() {
        var probes = UpstreamProbes()
        let channels = Dictionary(uniqueKeysWithValues: (0..<20).map { ("c\($0 + 10)", UInt64(1)) })
        let first = probes.begin(channels, at: .zero)
        #expect(first == (10..<18).map { "c\($0)" })
        #expect(probes.begin(channels, at: .seconds(1)) == [])
        probes.record("c10", isAnswered: true)
        probes.record("c11", isAnswered: false)
        #expect(probes.begin(channels, at: .seconds(2)) == ["c18", "c19"])
        #expect(probes.isAnswered("c10", notIn: 1) && !probes.isAnswered("c10", notIn: 2))
        #expect(!probes.isAnswered("c11", notIn: 1) && !probes.isAnswered("c12", notIn: 1))
        // The next owner has no answer either: who had one asks again at once.
        probes.record("c12", isAnswered: false)
        #expect(probes.begin(["c10": 2, "c11": 2], at: .seconds(3)) == ["c10"])
        #expect(probes.begin(["c11": 2], at: .seconds(30)) == ["c11"])
        // This node was the owner.
        probes.recordSilence(of: "c11", at: .seconds(40))
        #expect(probes.begin(["c11": 3], at: .seconds(69)) == [])
        #expect(probes.begin(["c11": 3], at: .seconds(70)) == ["c11"])
    }

    @Test("Channels go where most room is, and equal nodes share them") func placement() {
        let equal = ["a", "b", "c"].map { Placement.Candidate(node: $0, room: 100_000) }
        let channels = (0..<30).map { (slug: "c\($0)", rate: 1000) }
        let counts = Dictionary(grouping: Placement.ranking(of: channels, on: equal).values.map { $0[0] }) { $0 }
            .mapValues(\.count)
        #expect(counts.count == 3 && counts.values.allSatisfy { (6...14).contains($0) }, "\(counts)")
        let uneven = [Placement.Candidate(node: "a", room: 5_000), .init(node: "b", room: 50_000)]
        #expect(Placement.ranking(of: [(slug: "x", rate: 1000)], on: uneven) == ["x": ["b", "a"]])
        #expect(Placement.ranking(of: [(slug: "x", rate: 1000)], on: []) == [:])
    }

    @Test("A node is silent if its record stands while the engine answers") func silence() {
        let node = NodeRecord(node: "a.1", counter: 9, address: "", capacity: 1)
        func view(_ second: Int) -> FleetView {
            FleetView(counter: 1, sentAt: .seconds(second), nodes: ["a.1": node], owners: [:])
        }
        var watch = PeerWatch()
        for second in stride(from: 0, through: 6, by: 2) {
            watch.record(view(second), at: .seconds(second), after: .seconds(5))
        }
        #expect(watch.isSilent("a.1", for: .seconds(5)))
        // The engine was away: the node had no chance.
        watch.record(view(20), at: .seconds(20), after: .seconds(5))
        #expect(!watch.isSilent("a.1", for: .seconds(5)))
        for second in [22, 24, 25] { watch.record(view(second), at: .seconds(second), after: .seconds(5)) }
        #expect(watch.isSilent("a.1", for: .seconds(5)))
    }
}
