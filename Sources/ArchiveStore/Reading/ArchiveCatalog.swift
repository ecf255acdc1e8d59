import LiveRing
import Support

/// An index and the positions of its segments' files.
struct LoadedIndex: Sendable {
    let index: ArchiveIndex
    let places: [String: ArchiveIndex.Place]
    /// Identifies this index and its content among all indexes.
    let version: String

    init(_ index: ArchiveIndex, version: String) {
        (self.index, self.version) = (index, version)
        places = index.places
    }
}

/// The indexes of one channel in a store.
///
/// The newest hours are listed again for each reading. All hours are listed again once in a while, because relays that
/// catch up, and sweeps, change older hours.
actor ArchiveCatalog {
    /// A request for a list that is in progress.
    private struct Listing {
        let number: Int
        /// nil: the list of all hours.
        let firstHour: Int64?
        let task: Task<Result<[IndexKey: String], StoreError>, Never>
    }

    /// How long a list of the newest indexes is used, and how long a list of all indexes is used.
    private static let (validity, wholeValidity) = (Duration.seconds(10), Duration.seconds(600))
    /// Hours before the newest one that are listed again.
    private static let growingHours: Int64 = 2
    /// The most keys that are kept: the newest ones.
    private static let keyLimit = 1_000_000
    /// The most unreadable indexes that are remembered.
    private static let damagedLimit = 256

    private let store: ObjectStore
    private let cache: SegmentCache<LoadedIndex>
    private let clock: @Sendable () -> ContinuousClock.Instant
    private var listed = KeyList()
    private var listedAt: ContinuousClock.Instant?
    private var wholeListedAt: ContinuousClock.Instant?
    private var listing: Listing?
    private var listingCount = 0
    /// The versions of unreadable indexes.
    private var damaged: [IndexKey: String] = [:]

    init(
        _ store: ObjectStore, _ cache: SegmentCache<LoadedIndex>,
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        (self.store, self.cache, self.clock) = (store, cache, clock)
    }

    /// The keys of all indexes.
    private func keys() async throws(StoreError) -> KeyList {
        if let listedAt, clock() - listedAt < Self.validity { return listed }
        let listing = listing ?? makeListing()
        self.listing = listing
        let outcome = await listing.task.value
        // The first caller that waited for the list stores it.
        if self.listing?.number == listing.number {
            self.listing = nil
            listedAt = clock()
            if case .success(let found) = outcome {
                listed.replace(from: listing.firstHour, by: found)
                if listing.firstHour == nil { wholeListedAt = listedAt }
            }
        }
        // The known keys are used while the store does not answer.
        if case .failure(let error) = outcome, listed.isEmpty {
            listedAt = nil
            throw error
        }
        return listed
    }

    private func makeListing() -> Listing {
        let isWhole = wholeListedAt.map { clock() - $0 >= Self.wholeValidity } ?? true
        let newest = min(IndexKey.hour(of: store.date), listed.newestHour ?? .max)
        let first = isWhole ? nil : newest - Self.growingHours
        listingCount += 1
        return Listing(
            number: listingCount, firstHour: first, task: Task { [store] in await Self.list(store, from: first) })
    }

    private static func list(_ store: ObjectStore, from hour: Int64?) async -> Result<[IndexKey: String], StoreError> {
        var found: [IndexKey: String] = [:]
        var order: [IndexKey] = []
        do throws(StoreError) {
            try await store.forEachPage(IndexKey.folder, after: hour.map(IndexKey.folder(ofHour:))) { page in
                for object in page {
                    guard let key = IndexKey(object.key) else { continue }
                    found[key] = "\(object.entityTag) \(object.byteCount)"
                    order.append(key)
                }
                if order.count > keyLimit {
                    for key in order.prefix(order.count - keyLimit) { found[key] = nil }
                    order.removeFirst(order.count - keyLimit)
                }
                return true
            }
            return .success(found)
        } catch { return .failure(error) }
    }

    /// The keys of the indexes of some hours, and of the next hour with an index.
    func keys(inHours hours: ClosedRange<Int64>) async throws(StoreError) -> [IndexKey] {
        try await keys().keys(inHours: hours)
    }

    func newestKey() async throws(StoreError) -> IndexKey? { try await keys().newest }

    /// The index in its last listed version. If it cannot be read, the version read before. If none was read, or the
    /// index was removed, an index without segments: its time is filled from other writers, or is missing.
    func index(_ key: IndexKey) async throws(StoreError) -> LoadedIndex {
        let name = store.name(of: key.text)
        let version = "\(name) \(listed[key] ?? "")"
        let isDamaged = damaged[key] == version
        do throws(StoreError) {
            return try await cache.value(name, version: version) { [store] () async throws(StoreError) in
                if isDamaged { throw StoreError(.damagedObject, object: name) }
                return LoadedIndex(try await store.index(key), version: version)
            } onFailure: { [self] error in
                await self.record(error, of: key, version: version)
            }
        } catch {
            switch error.reason {
            case .badIndex, .damagedObject, .noObject: return LoadedIndex(.empty, version: version)
            default: throw error
            }
        }
    }

    private func record(_ error: StoreError, of key: IndexKey, version: String) {
        guard case .badIndex = error.reason else { return }
        if damaged.count >= Self.damagedLimit { damaged = [:] }
        damaged[key] = version
        store.recordDamage(error)
    }

    /// For each writer, the key of the index that may contain the segment with a number.
    func keys(ofSegment number: UInt64) async throws(StoreError) -> [IndexKey] {
        try await keys().keys(ofSegment: number)
    }

    /// The index that contains a segment's file, by the number in its name; nil if none does.
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

/// The keys of a channel's indexes with their versions, in order.
private struct KeyList {
    private var versions: [IndexKey: String] = [:]
    /// Ordered by hour.
    private var ordered: [IndexKey] = []
    /// The indexes of each writer by their numbers.
    private var byWriter: [String: [IndexKey]] = [:]

    var isEmpty: Bool { ordered.isEmpty }
    var newest: IndexKey? { ordered.last }
    var newestHour: Int64? { ordered.last?.hour }

    subscript(key: IndexKey) -> String? { versions[key] }

    /// - Parameter hour: the first listed hour; nil: all hours were listed.
    mutating func replace(from hour: Int64?, by found: [IndexKey: String]) {
        let kept = hour.map { hour in ordered.partitioningIndex { $0.hour >= hour } } ?? 0
        let isSame = ordered.count - kept == found.count && ordered[kept...].allSatisfy { found[$0] != nil }
        for key in ordered[kept...] where found[key] == nil { versions[key] = nil }
        versions.merge(found) { $1 }
        guard !isSame else { return }
        ordered.replaceSubrange(
            kept..., with: found.keys.sorted { ($0.hour, $0.firstMediaSequence) < ($1.hour, $1.firstMediaSequence) })
        byWriter = Dictionary(grouping: ordered, by: \.writer).mapValues { keys in
            keys.sorted { $0.firstMediaSequence < $1.firstMediaSequence }
        }
    }

    func keys(inHours hours: ClosedRange<Int64>) -> [IndexKey] {
        let start = ordered.partitioningIndex { $0.hour >= hours.lowerBound }
        let end = ordered.partitioningIndex { $0.hour > hours.upperBound }
        guard end < ordered.count else { return Array(ordered[start..<end]) }
        let following = ordered[end].hour
        return Array(ordered[start..<ordered.partitioningIndex { $0.hour > following }])
    }

    func keys(ofSegment number: UInt64) -> [IndexKey] {
        byWriter.values.compactMap { keys in
            let after = keys.partitioningIndex { $0.firstMediaSequence > number }
            return after > 0 ? keys[after - 1] : nil
        }
    }
}

extension ArchiveIndex {
    /// An index without segments.
    static let empty = ArchiveIndex(targetDuration: 1, declared: [])
}
