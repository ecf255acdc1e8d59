package import LiveRing
package import Support

/// Reads the archive of one channel from a store, and the newest segments from the channel's own ring.
package final class ArchiveReader: Sendable {
    package struct Part: Sendable {
        package let snapshot: RingSnapshot
        /// Equal for equal segments, so results made from a part can be cached.
        package let version: String
        let segmentCount: Int
    }

    /// The longest range, in hours. Its snapshot is made again for each new segment.
    package static let longestRange: Int64 = 24

    private let catalog: ArchiveCatalog
    package let files: StoredFiles
    private let parts: SegmentCache<Part?>
    private let store: ObjectStore
    private let policy: RetentionPolicy
    /// The name under which this process's relay of the channel puts segments; nil without such a relay.
    private let writer: @Sendable () -> String?
    /// Indexes that one reading fetches at once.
    private static let indexesAtOnce = 8

    /// - Parameters:
    ///   - policy: the policy with the live window, the rewind and the length of the archive.
    ///   - transferLimit: objects of the store that are read at once.
    package init(
        _ store: ObjectStore, cache: CopyCache, policy: RetentionPolicy, redirects: Bool, transferLimit: Int = 16,
        writer: @escaping @Sendable () -> String?
    ) {
        (self.store, self.policy, self.writer) = (store, policy, writer)
        catalog = ArchiveCatalog(store, cache.indexes)
        parts = cache.parts
        files = StoredFiles(store, catalog, cache, redirects: redirects, transferLimit: transferLimit)
    }

    /// The present date by the clock of this machine.
    package var now: ProgramDateTime { store.date }

    /// The segments from one date to another, with an hour on both sides; nil if the archive contains none.
    /// - Parameter local: the channel's own ring.
    package func part(
        from start: ProgramDateTime, to end: ProgramDateTime, with local: RingSnapshot?
    ) async throws(StoreError) -> Part? {
        let (first, last) = (IndexKey.hour(of: start), IndexKey.hour(of: end))
        guard last - first <= Self.longestRange else { throw StoreError(.tooLong, object: store.name(of: "")) }
        // A following segment proves that the range is complete.
        let keys = try await catalog.keys(inHours: first - 1...last + 1)
        return try await part(
            of: keys, with: local, from: ProgramDateTime(millisecondsSince1970: (first - 1) * 3_600_000))
    }

    /// The segments of the index that contains a file, by the file's name; nil if no index contains it.
    package func part(ofFile name: String) async throws(StoreError) -> Part? {
        let (segment, number) = Self.segment(of: name)
        guard let number, let key = try await catalog.index(ofSegment: number, file: segment)?.key else { return nil }
        return try await part(of: [key], with: nil, from: nil)
    }

    /// The segments of each index that may contain a segment with the number in a name.
    package func parts(ofNumberIn name: String) async throws(StoreError) -> [Part] {
        guard let number = Self.segment(of: name).number else { return [] }
        var parts: [Part] = []
        for key in try await catalog.keys(ofSegment: number) {
            if let part = try await part(of: [key], with: nil, from: nil) { parts.append(part) }
        }
        return parts
    }

    /// The segments of the newest index; nil if the archive is empty.
    package func newestPart() async throws(StoreError) -> Part? {
        return if let key = try await catalog.newestKey() { try await part(of: [key], with: nil, from: nil) } else {
            nil
        }
    }

    private static func segment(of name: String) -> (name: String, number: UInt64?) {
        let segment = SpoolName.segment(ofTransportStream: name) ?? name
        return (
            segment, SpoolName.mediaSequence(ofSegment: segment) ?? SpoolName.trackFile(named: segment)?.mediaSequence
        )
    }

    /// Returns a cached part. It is made again if an index, the ring or the set of missing files has changed.
    private func part(
        of keys: [IndexKey], with local: RingSnapshot?, from start: ProgramDateTime?
    ) async throws(StoreError) -> Part? {
        let keys = keys.sorted { $0.firstMediaSequence < $1.firstMediaSequence }
        let indexes = try await indexes(keys)
        var versions = ["\(files.missingVersion)"] + indexes.map(\.index.version)
        if let local { versions.append("\(local.version) \(local.index.nextMediaSequence) \(local.hasEnded)") }
        let place = local == nil ? "" : "\(start?.millisecondsSince1970 ?? 0)"
        let name = (["\(ObjectIdentifier(files))", place] + keys.map(\.text)).joined(separator: " ")
        let version = versions.joined(separator: " ")
        return try await parts.value(name, version: version) { [self] () async throws(StoreError) in
            make(indexes, with: local, from: start, version: "\(name) \(version)")
        }
    }

    /// The indexes with the given keys, and their writers.
    private func indexes(_ keys: [IndexKey]) async throws(StoreError) -> [(writer: String, index: LoadedIndex)] {
        let catalog = catalog
        typealias Outcome = Result<LoadedIndex, StoreError>
        let outcomes = await withTaskGroup(of: (Int, Outcome).self) { group in
            var (found, next) = ([Outcome?](repeating: nil, count: keys.count), 0)
            while true {
                while next < keys.count, next < Self.indexesAtOnce + found.count(where: { $0 != nil }) {
                    let position = next
                    group.addTask { (position, await Self.index(keys[position], of: catalog)) }
                    next += 1
                }
                guard let (position, outcome) = await group.next() else { return found.compactMap(\.self) }
                found[position] = outcome
            }
        }
        var indexes: [(writer: String, index: LoadedIndex)] = []
        for (key, outcome) in zip(keys, outcomes) { indexes.append((key.writer, try outcome.get())) }
        return indexes
    }

    /// The optimizer of Swift 6.3.1 loses the position where a child task has a tuple with `try await` in it.
    private static func index(_ key: IndexKey, of catalog: ArchiveCatalog) async -> Result<LoadedIndex, StoreError> {
        do throws(StoreError) { return .success(try await catalog.index(key)) } catch { return .failure(error) }
    }

    private func make(
        _ indexes: [(writer: String, index: LoadedIndex)], with local: RingSnapshot?, from start: ProgramDateTime?,
        version: String
    ) -> Part? {
        var entries: [String: [RingEntry]] = [:]
        var declared = local?.index.declaredRenditions ?? []
        var targetDuration = local?.index.targetDuration ?? 1
        for (writer, loaded) in indexes {
            entries[writer, default: []] += loaded.index.entries
            targetDuration = max(targetDuration, loaded.index.targetDuration)
            if declared.isEmpty { declared = loaded.index.declared }
        }
        let writer = writer()
        let own = local == nil ? nil : writer ?? ""
        if let own, let local, let start {
            entries[own, default: []] += local.entries(after: entries[own]?.last?.mediaSequence, from: start)
        }
        let isOwnFirst = own.map { entries[$0]?.isEmpty == false } ?? false
        let merged = ArchiveTimeline.merge(preferring(own ?? writer, entries), own: isOwnFirst ? 0 : nil).map { entry in
            var entry = entry
            if files.isMissing(entry.segment.name) { entry.isGap = true }
            return entry
        }
        guard !merged.isEmpty else { return nil }
        let snapshot = RingSnapshot(
            archived: merged, policy: policy, targetDuration: targetDuration, declared: declared,
            hasEnded: local?.hasEnded ?? false, version: 0, directory: local?.directory ?? store.name(of: ""),
            remote: files)
        return Part(snapshot: snapshot, version: version, segmentCount: merged.count)
    }

    /// The lists of entries: this process's own first, then the others, longest first.
    private func preferring(_ writer: String?, _ entries: [String: [RingEntry]]) -> [[RingEntry]] {
        entries.sorted { one, other in
            if one.key == writer || other.key == writer { return one.key == writer }
            return (other.value.count, one.key) < (one.value.count, other.key)
        }.map(\.value)
    }
}

extension RingSnapshot {
    /// The entries that can be fetched, after a number or from a date on.
    fileprivate func entries(after number: UInt64?, from start: ProgramDateTime) -> [RingEntry] {
        let first = max(number.map { $0 + 1 } ?? 0, index.oldestMediaSequence)
        return (first..<max(first, index.nextMediaSequence)).lazy.compactMap { index.entry(numbered: $0) }
            .filter { number != nil || $0.programDateTimeEnd > start }
    }
}
