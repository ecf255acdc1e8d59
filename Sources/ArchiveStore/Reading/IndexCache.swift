import LiveRing

/// The indexes of all archives of a process, the last used of which stay.
package actor IndexCache {
    /// An index, and where the files of its segments are.
    struct Loaded: Sendable {
        let index: ArchiveIndex
        let places: [String: ArchiveIndex.Place]
        /// Changes with the index, and differs from those of all others.
        let version: String

        init(_ index: ArchiveIndex, version: String) {
            (self.index, self.version) = (index, version)
            places = index.places
        }
    }

    private struct Kept {
        let loaded: Loaded
        var lastUse: UInt64
    }

    /// Segments of the indexes that stay: two days and more of segments of 1 s.
    static let segmentLimit = 200_000

    private var kept: [String: Kept] = [:]
    private var pending: [String: Task<Result<Loaded, StoreError>, Never>] = [:]
    private var uses: UInt64 = 0
    private(set) var segmentCount = 0

    init() {}

    /// An index that is known, or is fetched. Several callers at once wait for one request.
    /// - Parameters:
    ///   - name: of the index, which no other has.
    ///   - entityTag: changes with its text.
    ///   - fetch: reads it. If that fails, an older one that is known has to do.
    func index(
        _ name: String, entityTag: String, fetch: @escaping @Sendable () async throws(StoreError) -> ArchiveIndex
    ) async throws(StoreError) -> Loaded {
        let version = "\(name) \(entityTag)"
        if let known = kept[name], known.loaded.version == version { return use(known.loaded, as: name) }
        let task =
            pending[version]
            ?? Task.detached {
                do throws(StoreError) { return .success(Loaded(try await fetch(), version: version)) } catch {
                    return .failure(error)
                }
            }
        pending[version] = task
        let outcome = await task.value
        pending[version] = nil
        do throws(StoreError) { return use(try outcome.get(), as: name) } catch {
            guard let older = kept[name] else { throw error }
            return older.loaded
        }
    }

    private func use(_ loaded: Loaded, as name: String) -> Loaded {
        uses += 1
        segmentCount += loaded.index.entries.count - (kept[name]?.loaded.index.entries.count ?? 0)
        kept[name] = Kept(loaded: loaded, lastUse: uses)
        while segmentCount > Self.segmentLimit, kept.count > 1,
            let oldest = kept.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            segmentCount -= oldest.value.loaded.index.entries.count
            kept[oldest.key] = nil
        }
        return loaded
    }
}
