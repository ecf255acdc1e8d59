import LiveRing
import Support

/// Removes what is older than an archive reaches. Several relays of one prefix may do so at once.
struct ArchiveSweep: Sendable {
    private static let interval = Duration.seconds(600)
    /// The objects of a sweep, which one request lists. If all of them go, the next sweep follows at once.
    private static let limit = 1000

    let store: ObjectStore
    let retention: Duration

    /// Sweeps until the task is canceled. A store that refuses is asked again with the next sweep.
    func run<C: Clock>(_ clock: C) async where C.Duration == Duration {
        while !Task.isCancelled {
            let count = (try? await sweep()) ?? 0
            if count < Self.limit { try? await clock.sleep(for: Self.interval) }
        }
    }

    /// Removes the indexes before the objects, so that no reader learns of an object that is gone.
    /// - Returns: the number of objects that were removed.
    private func sweep() async throws(StoreError) -> Int {
        let oldest = Self.oldestHour(at: store.date, keeping: retention)
        var count = 0
        for folder in [IndexKey.folder, IndexKey.mediaFolder] {
            for object in try await store.list(folder, limit: Self.limit)
            where count < Self.limit && Self.isExpired(object.key, in: folder, before: oldest) {
                count += 1
                try await store.remove(object.key)
            }
        }
        return count
    }

    /// The oldest hour of which a part is in the archive.
    static func oldestHour(at date: ProgramDateTime, keeping retention: Duration) -> Int64 {
        IndexKey.hour(of: date.advanced(byMilliseconds: -retention.components.seconds * 1000))
    }

    /// Whether a key is that of an hour before another one, all of which has left the archive.
    static func isExpired(_ key: String, in folder: String, before oldest: Int64) -> Bool {
        let name = key.dropFirst(folder.count).prefix { $0 != "/" }
        return IndexKey.hour(named: name).map { $0 < oldest } ?? false
    }
}

extension ObjectStore {
    func index(_ key: IndexKey) async throws(StoreError) -> ArchiveIndex {
        let text = try await bytes(of: key.text)
        do throws(RingError) { return try ArchiveIndex(text, name: key.text) } catch {
            throw StoreError(.badIndex(error), object: name(of: key.text))
        }
    }
}
