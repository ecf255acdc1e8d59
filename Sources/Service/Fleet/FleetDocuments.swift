import Fleet
import Foundation
import HTTP
import Support
import Synchronization

/// Documents about the channels of all nodes: this node's own document, with the other nodes' entries for the channels
/// that they run.
final class FleetDocuments: Sendable {
    /// A document with a list `channels`.
    struct Kind: Sendable {
        let path: String
        /// The member of an entry with the channel's slug.
        let slug: String

        static let overview = Kind(path: "/web/overview.json", slug: "slug")
        static let status = Kind(path: "/status.json", slug: "slug")
        static let api = Kind(path: "/api/channels", slug: "channel")
    }

    private struct Reading {
        let begun: ContinuousClock.Instant
        let task: Task<[String: [UInt8]], Never>
    }

    /// How long the documents of other nodes are used.
    private static let validity = Duration.seconds(2)

    private let member: FleetMember
    private let peers: PeerClient
    private let readings = Mutex<[String: Reading]>([:])

    init(_ member: FleetMember, _ peers: PeerClient) { (self.member, self.peers) = (member, peers) }

    /// - Parameters:
    ///   - own: the document of this node.
    ///   - isVisible: whether the reader may see a channel, by its slug.
    func merged(_ own: [UInt8], _ kind: Kind, isVisible: (String) -> Bool) async -> [UInt8] {
        let documents = await documents(kind)
        guard var document = Self.object(own), let listed = document["channels"] as? [[String: Any]] else { return own }
        var entries: [String: [String: Any]] = [:]
        for entry in listed {
            guard let slug = entry[kind.slug] as? String else { continue }
            entries[slug] = entry
        }
        for (node, text) in documents {
            for var entry in Self.object(text)?["channels"] as? [[String: Any]] ?? [] {
                guard let slug = entry[kind.slug] as? String, isVisible(slug),
                    case .at(let peer) = member.place(of: slug), peer.node == node
                else { continue }
                entry["node"] = peer.name
                entries[slug] = entry
            }
        }
        document["channels"] = entries.sorted { $0.key < $1.key }.map(\.value)
        Self.count(entries.values, in: &document)
        let options: JSONSerialization.WritingOptions = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let data = try? JSONSerialization.data(withJSONObject: document, options: options) else { return own }
        return Array(data) + [UInt8(ascii: "\n")]
    }

    /// Corrects the numbers of channels, if the document has them.
    private static func count(_ entries: some Collection<[String: Any]>, in document: inout [String: Any]) {
        guard let listed = document["listed"] as? Int else { return }
        let states = entries.compactMap { $0["state"] as? String }
        let running = states.count { ["starting", "running", "lingering", "ending"].contains($0) }
        let failed = states.count { $0 == "failed" }
        (document["running"], document["failed"]) = (running, failed)
        document["idle"] = max(0, listed - running - failed)
    }

    private static func object(_ text: [UInt8]) -> [String: Any]? {
        try? JSONSerialization.jsonObject(with: Data(text)) as? [String: Any]
    }

    /// The documents of the other nodes, by node. All readers of two seconds share them.
    private func documents(_ kind: Kind) async -> [String: [UInt8]] {
        let task = readings.withLock { readings in
            if let known = readings[kind.path], .now - known.begun < Self.validity { return known.task }
            let task = Task { [member, peers] in
                await withTaskGroup(of: (String, [UInt8]?).self) { group in
                    for peer in member.peers {
                        group.addTask { (peer.node, await peers.document(kind.path, of: peer)) }
                    }
                    return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
                }
            }
            readings[kind.path] = Reading(begun: .now, task: task)
            return task
        }
        return await task.value
    }
}
