package import ArchiveStore
import Support
import Synchronization

/// Records of a fleet in an object store, by creation alone: no object is ever replaced.
///
/// A node writes each state of its record under a new key with the counter, and removes the states before. A late write is
/// therefore never taken for the newest state.
package final class StoreEngine: FleetEngine {
    private struct State {
        /// Records whose keys were read before. No object changes.
        var nodes: [String: (counter: UInt64, record: NodeRecord?)] = [:]
        var owners: [String: Ownership] = [:]
    }

    private static let (nodes, owners) = ("fleet/nodes/", "fleet/owners/")
    private static let type = "application/json"
    /// The most objects that are read at once.
    private static let readAtOnce = 16

    private let store: ObjectStore
    private let key: FleetKey
    private let state = Mutex(State())

    package init(_ store: ObjectStore, key: FleetKey) { (self.store, self.key) = (store, key) }

    package func beat(_ record: NodeRecord, sentAt: Duration) async throws(EngineError) -> FleetView {
        do throws(StoreError) {
            try await store.put(
                Self.key(of: record.node, record.counter), key.sealed(record.text), type: Self.type)
            let newest = try await newest()
            async let owners = readOwners(newest[Self.owners] ?? [:])
            let nodes = try await readNodes(newest[Self.nodes] ?? [:], but: record)
            let view = FleetView(
                counter: record.counter, sentAt: sentAt, nodes: nodes, owners: try await owners.get())
            // The state before is kept for readers that have its key from a list.
            if record.counter > 2 { try? await store.remove(Self.key(of: record.node, record.counter - 2)) }
            return view
        } catch { throw EngineError(error) }
    }

    package func create(_ record: OwnerRecord) async -> Bool? {
        let (place, text) = (Self.owners + FleetRecords.key(of: record.subject, record.epoch), key.sealed(record.text))
        do throws(StoreError) { try await store.put(place, text, type: Self.type, isNew: true) } catch {
            // A store that knows no conditions says 501.
            if case .refused(501, _) = error.reason { return false }
        }
        // A store may answer 200 to a creation that another request has overwritten.
        guard let found = try? await store.bytes(of: place) else { return nil }
        if found == text, record.epoch > FleetRecords.keptEpochs {
            let older = FleetRecords.key(of: record.subject, record.epoch - FleetRecords.keptEpochs)
            try? await store.remove(Self.owners + older)
        }
        return found == text
    }

    package func removeNodes(_ nodes: [String]) async {
        for node in nodes { await remove("\(Self.nodes)\(node)/") }
    }

    package func removeSubject(_ subject: String) async {
        await remove("\(Self.owners)\(FleetRecords.name(of: subject))/")
    }

    private func remove(_ folder: String) async {
        guard let page = try? await store.page(folder) else { return }
        for object in page.objects { try? await store.remove(object.key) }
    }

    // MARK: - Reading

    private static func key(of node: String, _ counter: UInt64) -> String {
        "\(nodes)\(node)/\(FleetRecords.number(counter))"
    }

    /// Reads the keys of all records, in one list: stores bill a list as they bill a PUT.
    /// - Returns: by folder, the highest counter of each node and the highest epoch of each subject.
    private func newest() async throws(StoreError) -> [String: [String: UInt64]] {
        var newest: [String: [String: UInt64]] = [:]
        try await store.forEachPage("fleet/") { page in
            for object in page {
                for folder in [Self.nodes, Self.owners] where object.key.hasPrefix(folder) {
                    let key = object.key.dropFirst(folder.utf8.count)
                    guard let (name, number) = FleetRecords.subject(inKey: key) else { continue }
                    newest[folder, default: [:]][name] = max(number, newest[folder]?[name] ?? 0)
                }
            }
            return true
        }
        return newest
    }

    private func readNodes(
        _ newest: [String: UInt64], but own: NodeRecord
    ) async throws(StoreError) -> [String: NodeRecord?] {
        let known = state.withLock { $0.nodes }
        let changed = newest.filter { $0.key != own.node && known[$0.key]?.counter != $0.value }
        let read = try await bytes(of: changed.map { ($0.key, Self.key(of: $0.key, $0.value)) })
        return state.withLock { state in
            state.nodes = state.nodes.filter { newest[$0.key] != nil }
            for (name, text) in read { state.nodes[name] = (changed[name] ?? 0, key.node(name, in: text)) }
            var nodes: [String: NodeRecord?] = [own.node: own]
            for (name, found) in state.nodes where name != own.node { nodes.updateValue(found.record, forKey: name) }
            for name in changed.keys where read[name] == nil && nodes[name] == nil {
                nodes.updateValue(nil, forKey: name)
            }
            return nodes
        }
    }

    private func readOwners(_ newest: [String: UInt64]) async -> Result<[String: Ownership], StoreError> {
        do throws(StoreError) {
            let known = state.withLock { $0.owners }
            let changed = newest.filter { known[$0.key]?.epoch != $0.value }
            let read = try await bytes(
                of: changed.map { ($0.key, Self.owners + FleetRecords.key(of: $0.key, $0.value)) })
            return .success(
                state.withLock { state in
                    state.owners = state.owners.filter { newest[$0.key] != nil }
                    for (name, text) in read {
                        state.owners[name] = key.ownership(of: name, changed[name] ?? 0, in: text)
                    }
                    var owners = state.owners
                    // Gone since the list: a newer one is there, which the next view has.
                    for (name, epoch) in changed where read[name] == nil {
                        owners[name] = Ownership(epoch: epoch, record: nil)
                    }
                    return owners
                })
        } catch { return .failure(error) }
    }

    private struct Found: Sendable {
        let name: String
        let bytes: Result<[UInt8], StoreError>
    }

    /// Reads objects, several at once. An object that is gone meanwhile is left out.
    private func bytes(of objects: [(name: String, key: String)]) async throws(StoreError) -> [String: [UInt8]] {
        var found: [String: [UInt8]] = [:]
        for start in stride(from: 0, to: objects.count, by: Self.readAtOnce) {
            let part = objects[start..<min(start + Self.readAtOnce, objects.count)]
            let results = await withTaskGroup(of: Found.self) { group in
                for object in part { group.addTask { [self] in await find(object.name, object.key) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            for result in results {
                do throws(StoreError) { found[result.name] = try result.bytes.get() } catch {
                    if error.reason != .noObject { throw error }
                }
            }
        }
        return found
    }

    /// A function of its own: the compiler's optimized code for this as a closure crashed.
    private func find(_ name: String, _ key: String) async -> Found {
        do throws(StoreError) { return Found(name: name, bytes: .success(try await store.bytes(of: key))) } catch {
            return Found(name: name, bytes: .failure(error))
        }
    }
}

extension EngineError {
    fileprivate init(_ error: StoreError) {
        if case .refused(let status, let code) = error.reason {
            self.init(.refused(status: status, words: code))
        } else {
            self.init(.unreachable(error.message))
        }
    }
}
