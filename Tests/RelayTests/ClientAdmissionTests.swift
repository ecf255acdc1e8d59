import Glibc
import Testing
import WebTestSupport

@testable import HTTP
@testable import Support
@testable import WebServer
@testable import liverelay

private typealias Admission = ClientAdmission<Int>

private enum Step: Sendable {
    case open(Int, from: String)
    case request(Int)
    case close(Int)
}

private let rows: [(when: String, limits: Admission.Limits, steps: [Step], last: Admission.Decision)] = [
    ("the first", .init(total: 1, perAddress: 1), [.open(1, from: "a")], .accept),
    (
        "a silent connection makes room", .init(total: 2, perAddress: 2),
        [.open(1, from: "a"), .open(2, from: "b"), .open(3, from: "c")], .replace(1)
    ),
    (
        "viewers stay", .init(total: 2, perAddress: 2),
        [.open(1, from: "a"), .open(2, from: "b"), .request(1), .request(2), .open(3, from: "c")], .refuse
    ),
    (
        "the oldest silent one of them", .init(total: 3, perAddress: 3),
        [.open(1, from: "a"), .open(2, from: "b"), .open(3, from: "c"), .request(1), .open(4, from: "d")], .replace(2)
    ),
    (
        "a closed connection makes room", .init(total: 1, perAddress: 1),
        [.open(1, from: "a"), .request(1), .close(1), .open(2, from: "b")], .accept
    ),
    (
        "an address has its own limit", .init(total: 9, perAddress: 2),
        [.open(1, from: "a"), .request(1), .open(2, from: "a"), .request(2), .open(3, from: "a")], .refuse
    ),
    (
        "a silent connection of the same address makes room", .init(total: 9, perAddress: 2),
        [.open(1, from: "b"), .open(2, from: "a"), .open(3, from: "a"), .open(4, from: "a")], .replace(2)
    ),
    (
        "another address is not concerned", .init(total: 9, perAddress: 1),
        [.open(1, from: "a"), .request(1), .open(2, from: "a"), .open(3, from: "b")], .accept
    ),
]

@Suite struct ClientAdmissionTests {
    @Test(arguments: rows.indices) func decisions(_ index: Int) {
        let row = rows[index]
        var admission = Admission(row.limits)
        var last = Admission.Decision.refuse
        for step in row.steps {
            switch step {
            case .open(let id, let address): last = admission.admit(id, from: ClientNetwork(address))
            case .request(let id): admission.recordRequest(id)
            case .close(let id): admission.remove(id)
            }
        }
        #expect(last == row.last, "\(row.when)")
        #expect(admission.count <= row.limits.total)
    }

    /// A hundred thousand silent connections: each new one costs the oldest.
    @Test func floodOfSilentConnectionsKeepsTheViewers() {
        var admission = Admission(.init(total: 100, perAddress: 100))
        for viewer in 0..<90 {
            #expect(admission.admit(viewer, from: ClientNetwork("v\(viewer)")) == .accept)
            admission.recordRequest(viewer)
        }
        for id in 1000..<101_000 { _ = admission.admit(id, from: ClientNetwork("flood\(id % 7)")) }
        #expect(admission.count == 100)
        #expect(admission.refused == 0 && admission.replaced == 100_000 - 10)
        for id in 100_900..<101_000 { admission.recordRequest(id) }
        #expect(admission.admit(7, from: ClientNetwork("new")) == .refuse)
    }

    private static func origin(_ limits: OpenConnections.Limits) async throws -> (HTTPServer, OpenConnections) {
        let connections = OpenConnections(limits)
        let server = try await HTTPServer.start(
            on: ListenAddress(host: "127.0.0.1", port: 0), connections: connections, threads: 1,
            responder: TargetResponder { _ in .now(.text(.ok, "here")) })
        return (server, connections)
    }

    @Test func connectionBeyondTheLimitGets503AndAViewerStays() async throws {
        let (server, connections) = try await Self.origin(.init(total: 1, perAddress: 1))
        var viewer = try RawClient(port: server.port)
        try viewer.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try viewer.response().status == 200)
        var other = try RawClient(port: server.port)
        let refusal = try other.response()
        #expect(refusal.status == 503)
        #expect(refusal["Retry-After"] == "5")
        try viewer.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try viewer.response().status == 200)
        #expect(connections.counts.refused == 1)
        await server.shutdown(within: .seconds(1))
    }

    @Test func silentConnectionIsClosedForANewOne() async throws {
        let (server, connections) = try await Self.origin(.init(total: 1, perAddress: 1))
        let silent = try RawClient(port: server.port)
        var viewer = try RawClient(port: server.port)
        try viewer.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try viewer.response().status == 200)
        #expect(connections.counts.closedWithoutRequest == 1)
        _ = consume silent
        await server.shutdown(within: .seconds(1))
    }

    @Test(arguments: [(64, 8), (256, 64), (1024, 256), (65_536, 16_384)])
    func descriptorsAreReserved(_ descriptors: Int, _ clients: Int) {
        #expect(DescriptorLimit.clients(of: descriptors) == clients)
    }

    @Test(
        "What clients and channels need together is no more than there is",
        arguments: [(1024, 256, 54), (1024, 64, 102), (4096, 1024, 246), (65_536, 16_384, 4086), (64, 8, 1)])
    func channelsHaveDescriptors(_ descriptors: Int, _ clients: Int, _ channels: Int) {
        #expect(DescriptorLimit.channels(of: descriptors, clients: clients, eventLoops: 4) == channels)
        let needed = clients * DescriptorLimit.perClient + channels * DescriptorLimit.perChannel
        #expect(needed < descriptors)
    }

    @Test func softLimitIsRaised() {
        var limit = rlimit()
        let raised = DescriptorLimit.raise()
        #expect(unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        #expect(raised == Int(limit.rlim_cur))
        #expect(limit.rlim_cur == limit.rlim_max || raised >= DescriptorLimit.most)
    }
}
