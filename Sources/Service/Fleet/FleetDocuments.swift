import Fleet
import Foundation
import HTTP
import Support
import Synchronization

/// Documents about all nodes: this node's own document, with the other nodes' entries for the channels that they run, or
/// for the recordings that they have.
final class FleetDocuments: Sendable {
    /// A document with a list.
    struct Kind: Equatable, Sendable {
        let path: String
        /// The member with the list.
        var list = "channels"
        /// The member of an entry with the channel's slug.
        let slug: String

        static let overview = Kind(path: "/web/overview.json", slug: "slug")
        static let status = Kind(path: "/status.json", slug: "slug")
        static let api = Kind(path: "/api/channels", slug: "channel")
        static let recordings = Kind(path: "/web/recordings.json", list: "recordings", slug: "channel")
        static let allRecordings = Kind(path: "/api/recordings", list: "recordings", slug: "channel")
    }

    private typealias Entry = [String: Any]

    private struct Document: Sendable {
        let peer: FleetPeer
        /// nil: the node does not answer.
        let text: [UInt8]?
    }

    private struct Reading {
        let begun: ContinuousClock.Instant
        let task: Task<[Document], Never>
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
        guard var document = Self.object(own), let listed = document[kind.list] as? [Entry] else { return own }
        let others = documents.flatMap { found in
            let (peer, entries) = (found.peer, found.text.flatMap(Self.object)?[kind.list] as? [Entry] ?? [])
            return entries.filter { ($0[kind.slug] as? String).map(isVisible) ?? false }
                .map { (peer: peer, entry: $0.merging(["node": peer.name]) { $1 }) }
        }
        if kind.list == "recordings" {
            document[kind.list] = Self.recordings(listed, others.map(\.entry))
        } else {
            let entries = channels(listed, others, kind)
            document[kind.list] = entries
            Self.count(entries, in: &document)
        }
        let options: JSONSerialization.WritingOptions = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let data = try? JSONSerialization.data(withJSONObject: document, options: options) else { return own }
        return Array(data) + [UInt8(ascii: "\n")]
    }

    private func channels(_ own: [Entry], _ others: [(peer: FleetPeer, entry: Entry)], _ kind: Kind) -> [Entry] {
        var entries: [String: Entry] = [:]
        for entry in own {
            if let slug = entry[kind.slug] as? String { entries[slug] = entry }
        }
        for (peer, entry) in others {
            guard let slug = entry[kind.slug] as? String, case .at(let owner) = member.place(of: slug),
                owner.node == peer.node
            else { continue }
            entries[slug] = entry
        }
        return entries.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Each part of a recording that a node has. All nodes have those that are planned.
    private static func recordings(_ own: [Entry], _ others: [Entry]) -> [Entry] {
        let parts = Dictionary(grouping: own + others.map(address)) { "\($0["id"] ?? "")" }
        let chosen = parts.values.flatMap { parts -> [Entry] in
            let written = parts.filter { ($0["files"] as? [Any])?.isEmpty == false }
            return written.isEmpty ? Array(parts.prefix(1)) : written
        }
        let key = { (entry: Entry) in
            "\(entry["start"] ?? "") \(entry["id"] ?? "") \(entry["node"] ?? "")"
        }
        return chosen.sorted { key($0) < key($1) }
    }

    /// The entry with the node in the path of its file.
    private static func address(_ entry: Entry) -> Entry {
        guard let node = entry["node"] as? String, let file = entry["file"] as? String,
            let path = RecordingFileAddress.path(file, at: node)
        else { return entry }
        return entry.merging(["file": path]) { $1 }
    }

    /// Corrects the numbers of channels, if the document has them.
    private static func count(_ entries: [Entry], in document: inout Entry) {
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

    /// The documents of the other nodes. All readers of two seconds share them.
    private func documents(_ kind: Kind) async -> [Document] {
        let task = readings.withLock { readings in
            if let known = readings[kind.path], .now - known.begun < Self.validity { return known.task }
            let task = Task { [member, peers] in
                await withTaskGroup(of: Document.self) { group in
                    for peer in member.peers {
                        group.addTask { Document(peer: peer, text: await peers.document(kind.path, of: peer)) }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
            }
            readings[kind.path] = Reading(begun: .now, task: task)
            return task
        }
        return await task.value
    }
}
