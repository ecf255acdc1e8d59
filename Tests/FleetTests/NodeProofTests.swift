import Support
import Testing

@testable import Fleet

@Suite("Proofs of nodes") struct NodeProofTests {
    private static let key = FleetKey(Secret(String(repeating: "k", count: 32)))
    private static let peer = FleetPeer(node: "b.1", address: "http://b", counter: 40)
    private static let request = ProvenRequest("GET", "/news/live.m3u8", query: [("a", "1 2")], client: "192.0.2.7")

    private func found(
        _ request: ProvenRequest, by field: String, node: String = "b.1", counters: ClosedRange<UInt64> = 30...50
    ) -> ProvenRequest? {
        Self.key?.request(request, provenBy: field, to: node, counters: counters)
    }

    @Test("A proof holds for its request, and has the viewer") func proofs() throws {
        let field = try #require(Self.key?.proof(of: Self.request, to: Self.peer)).value
        let received = ProvenRequest("GET", "/news/live.m3u8", query: [("a", "1 2")], client: nil)
        #expect(found(received, by: field) == Self.request)
        #expect(!field.contains("kkkk"))
    }

    @Test(
        "A proof holds for nothing else",
        arguments: [
            ("another method", ProvenRequest("POST", "/news/live.m3u8", query: [("a", "1 2")], client: nil)),
            ("another path", ProvenRequest("GET", "/film/live.m3u8", query: [("a", "1 2")], client: nil)),
            ("another query", ProvenRequest("GET", "/news/live.m3u8", query: [("a", "1"), ("2", "")], client: nil)),
        ])
    func otherRequests(what: String, request: ProvenRequest) throws {
        let field = try #require(Self.key?.proof(of: Self.request, to: Self.peer)).value
        #expect(found(request, by: field) == nil, "\(what)")
    }

    @Test("Neither does one of another recipient, time, viewer or key") func otherCircumstances() throws {
        let field = try #require(Self.key?.proof(of: Self.request, to: Self.peer)).value
        #expect(found(Self.request, by: field, node: "b.2") == nil)
        #expect(found(Self.request, by: field, counters: 41...50) == nil)
        #expect(found(Self.request, by: field.replacing("192.0.2.7", with: "192.0.2.8")) == nil)
        #expect(found(Self.request, by: String(field.dropLast())) == nil)
        #expect(found(Self.request, by: "") == nil)
        let other = try #require(FleetKey(Secret(String(repeating: "l", count: 32))))
        #expect(other.request(Self.request, provenBy: field, to: "b.1", counters: 30...50) == nil)
    }

    @Test("A key has 32 characters at least", arguments: ["", "short", String(repeating: " ", count: 40)])
    func badKeys(text: String) { #expect(FleetKey(Secret(text)) == nil) }

    @Test("A record is read where it was written, with the key that sealed it") func seals() throws {
        let key = try #require(Self.key)
        let other = try #require(FleetKey(Secret(String(repeating: "l", count: 32))))
        let node = NodeRecord(node: "b.1", counter: 3, address: "http://b", capacity: 1)
        let text = key.sealed(node.text)
        #expect(key.node("b.1", in: text) == node)
        #expect(key.node("c.1", in: text) == nil && other.node("b.1", in: text) == nil)
        #expect(key.node("b.1", in: node.text) == nil && key.node("b.1", in: []) == nil)
        let changed = String(decoding: text, as: UTF8.self).replacing("http://b", with: "http://c")
        #expect(key.node("b.1", in: Array(changed.utf8)) == nil)
        let owner = OwnerRecord(subject: "news", epoch: 2, node: "b.1", attempt: 1, base: 0, content: "a\nb")
        let sealed = key.sealed(owner.text)
        #expect(key.ownership(of: "news", 2, in: sealed).record == owner)
        #expect(key.ownership(of: "film", 2, in: sealed).record == nil)
        #expect(key.ownership(of: "news", 3, in: sealed) == Ownership(epoch: 3, record: nil))
    }
}
