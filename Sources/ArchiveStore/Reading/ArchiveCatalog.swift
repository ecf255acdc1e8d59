import LiveRing
import Support

/// An index, and where the files of its segments are.
struct LoadedIndex: Sendable {
    let index: ArchiveIndex
    let places: [String: ArchiveIndex.Place]
    /// Changes with the index, and differs from those of all others.
    let version: String

    init(_ index: ArchiveIndex, version: String) {
        (self.index, self.version) = (index, version)
        places = index.places
    }
}

/// The indexes of one channel in a store.
actor ArchiveCatalog {
    /// The time for which a list of the indexes is used.
    private static let validity = Duration.seconds(10)

    private let store: ObjectStore
    private let cache: SegmentCache<LoadedIndex>
    private var listed: [IndexKey: String] = [:]
    private var listedAt: ContinuousClock.Instant?
    private var listing: Task<Result<[ObjectStore.Listed], StoreError>, Never>?

    init(_ store: ObjectStore, _ cache: SegmentCache<LoadedIndex>) { (self.store, self.cache) = (store, cache) }

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
            listedAt = .now
        }
        return Array(listed.keys)
    }

    /// An index as it was listed last.
    func index(_ key: IndexKey) async throws(StoreError) -> LoadedIndex {
        let name = store.name(of: key.text)
        let version = "\(name) \(listed[key] ?? "")"
        return try await cache.value(name, version: version) { [store] () async throws(StoreError) in
            LoadedIndex(try await store.index(key), version: version)
        }
    }

    /// The index of each writer that may have the segment with a number.
    func keys(ofSegment number: UInt64) async throws(StoreError) -> [IndexKey] {
        Dictionary(grouping: try await keys().filter { $0.firstMediaSequence <= number }, by: \.writer).values
            .compactMap { $0.max { $0.firstMediaSequence < $1.firstMediaSequence } }
    }

    /// The index that has a segment's file, by the number in its name; nil if there is none.
    func index(
        ofSegment number: UInt64, file: String
    ) async throws(StoreError) -> (key: IndexKey, loaded: LoadedIndex)? {
        for key in try await keys(ofSegment: number) {
            let loaded = try await index(key)
            if loaded.places[file] != nil { return (key, loaded) }
        }
        return nil
    }
}
