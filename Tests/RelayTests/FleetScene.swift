import Foundation
import Support
import Synchronization
import TestSupport

@testable import Channel
@testable import Fleet
@testable import HTTP
@testable import Record
@testable import Service
@testable import WebServer

/// An engine in this process.
final class MemoryEngine: FleetEngine {
    private struct State {
        var nodes: [String: NodeRecord] = [:]
        var owners: [String: [UInt64: OwnerRecord]] = [:]
        var unreachable: Set<String> = []
    }

    private let state = Mutex(State())

    /// - Parameter isReachable: whether a node, by its name, reaches the engine.
    func set(_ name: String, isReachable: Bool) {
        state.withLock { state in
            if isReachable { state.unreachable.remove(name) } else { state.unreachable.insert(name) }
        }
    }

    func beat(_ record: NodeRecord, sentAt: Duration) async throws(EngineError) -> FleetView {
        let view = state.withLock { state -> FleetView? in
            guard !state.unreachable.contains(String(record.node.prefix { $0 != "." })) else { return nil }
            state.nodes[record.node] = record
            let owners = state.owners.compactMapValues { epochs in
                epochs.max { $0.key < $1.key }.map { Ownership(epoch: $0.key, record: $0.value) }
            }
            return FleetView(counter: record.counter, sentAt: sentAt, nodes: state.nodes, owners: owners)
        }
        guard let view else { throw EngineError(.unreachable("")) }
        return view
    }

    func create(_ record: OwnerRecord) async -> Bool? {
        state.withLock { state in
            if let known = state.owners[record.subject]?[record.epoch] { return known == record }
            state.owners[record.subject, default: [:]][record.epoch] = record
            return true
        }
    }

    func removeNodes(_ nodes: [String]) async { state.withLock { for node in nodes { $0.nodes[node] = nil } } }

    func removeSubject(_ subject: String) async { state.withLock { $0.owners[subject] = nil } }
}

/// The way to an upstream, which is closed to some nodes.
final class ClosableUpstream: Sendable {
    private final class Closed: Sendable {
        let nodes = Mutex<Set<String>>([])
    }

    private let closed = Closed()
    let server: HTTPServer
    var url: String { "http://127.0.0.1:\(server.port)/closable.m3u8" }

    init(to url: String) async throws {
        server = try await HTTPServer.start(
            on: ListenAddress(host: "127.0.0.1", port: 0), threads: 1,
            responder: TargetResponder { [closed] request in
                let isClosed = closed.nodes.withLock { $0.contains(request.fields.userAgent ?? "") }
                if isClosed { return .now(.unavailable("closed")) }
                var response = Response.text(.temporaryRedirect, url)
                response.extraHeaders = [HeaderField(name: "Location", value: url)]
                return .now(response)
            })
    }

    /// Closes the way to a node, by its name.
    func close(to node: String) { _ = closed.nodes.withLock { $0.insert(node) } }
}

/// Nodes on loopback, with short leases.
struct FleetScene {
    let engine = MemoryEngine()
    private let key = FleetKey(Secret("0123456789abcdef0123456789abcdef"))
    private static let ports = Mutex(Int.random(in: 30_000...31_000))

    private static var timing: FleetTiming {
        var timing = FleetTiming()
        (timing.lease, timing.beat, timing.spacing) = (.milliseconds(1_800), .milliseconds(300), .milliseconds(100))
        timing.spread = .milliseconds(100)
        return timing
    }

    /// A node that has begun.
    func node(
        _ name: String, _ upstreams: [(slug: String, url: String)], passes: Bool = true,
        recordings: ServeScene.RecordingPlace? = nil
    ) async throws -> ServeScene {
        guard let key else { throw CancellationError() }
        let port = Self.ports.withLock { port in
            port += 1
            return port
        }
        let record = NodeRecord(node: "\(name).1", address: "http://127.0.0.1:\(port)", capacity: 10_000)
        let member = FleetMember(record, engine: engine, key: key, timing: Self.timing)
        let scene = try await ServeScene(
            upstreams, always: Set(upstreams.map(\.slug)), recordings: recordings,
            node: .init(member: member, port: port, passes: passes, userAgent: name))
        scene.host.start()
        scene.recordings?.start()
        return scene
    }
}

/// Returns when a condition holds, or after 20 s.
func waits(_ condition: () async throws -> Bool) async rethrows -> Bool {
    for _ in 0..<400 {
        if try await condition() { return true }
        try? await Task.sleep(for: .milliseconds(50))
    }
    return false
}
