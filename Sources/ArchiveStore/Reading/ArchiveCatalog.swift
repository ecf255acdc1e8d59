import LiveRing
import Support

/// The indexes of one channel in a store, as they are needed. The last used are kept.
actor ArchiveCatalog {
    /// An index, and where the files of its segments are.
    struct Loaded: Sendable {
        let index: ArchiveIndex
        let places: [String: ArchiveIndex.Place]
        /// Changes with the index.
        let version: String
        fileprivate var lastUse: UInt64
    }

    /// Indexes that are kept: a day, and the hours on both sides.
    private static let keptCount = 28
    /// The time for which a list of the indexes is used.
    private static let validity = Duration.seconds(10)

    private let store: ObjectStore
    private var loaded: [IndexKey: Loaded] = [:]
    private var listed: [IndexKey: String] = [:]
    private var listedAt: ContinuousClock.Instant?
    private var listing: Task<Result<[ObjectStore.Listed], StoreError>, Never>?
    private var uses: UInt64 = 0

    init(_ store: ObjectStore) { self.store = store }

    /// The keys of all indexes.
    func keys() async throws(StoreError) -> [IndexKey] {
        if let listedAt, .now - listedAt < Self.validity { return Array(listed.keys) }
        let task =
            listing
            ?? Task { [store] in
                do throws(StoreError) { return .success(try await store.list(IndexKey.folder)) } catch {
                    return .failure(error)
                }
            }
        listing = task
        let outcome = await task.value
        listing = nil
        do throws(StoreError) {
            listed = [:]
            for object in try outcome.get() {
                if let key = IndexKey(object.key) { listed[key] = "\(object.entityTag) \(object.byteCount)" }
            }
            listedAt = .now
        } catch {
            // What is known is better than nothing while the store does not answer.
            guard !listed.isEmpty else { throw error }
        }
        return Array(listed.keys)
    }

    /// Reads an index, unless it is known and did not change.
    func index(_ key: IndexKey) async throws(StoreError) -> Loaded {
        uses += 1
        if var known = loaded[key], known.version == listed[key] {
            known.lastUse = uses
            loaded[key] = known
            return known
        }
        let version = listed[key] ?? ""
        let index: ArchiveIndex
        do throws(StoreError) { index = try await store.index(key) } catch {
            guard let known = loaded[key] else { throw error }
            return known
        }
        let new = Loaded(index: index, places: index.places, version: version, lastUse: uses)
        loaded[key] = new
        while loaded.count > Self.keptCount, let oldest = loaded.min(by: { $0.value.lastUse < $1.value.lastUse }) {
            loaded[oldest.key] = nil
        }
        return new
    }

    /// The index that has a segment's file, by the number in its name; nil if there is none.
    func index(ofSegment number: UInt64, file: String) async throws(StoreError) -> (key: IndexKey, loaded: Loaded)? {
        let writers = Dictionary(grouping: try await keys(), by: \.writer)
        for keys in writers.values {
            let key = keys.filter { $0.firstMediaSequence <= number }
                .max { $0.firstMediaSequence < $1.firstMediaSequence }
            guard let key else { continue }
            let loaded = try await index(key)
            if loaded.places[file] != nil { return (key, loaded) }
        }
        return nil
    }
}
