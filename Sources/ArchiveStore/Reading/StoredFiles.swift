package import LiveRing
package import Support
import Synchronization

/// The files of one channel in a store, fetched on request.
package final class StoredFiles: RemoteFiles {
    private struct Place: Sendable {
        let key: String
        /// The first byte of the file in the object.
        let start: Int
        /// nil: the file is the object.
        let object: ArchiveIndex.Object?

        static func shared(_ name: String) -> Place { Place(key: IndexKey.key(ofShared: name), start: 0, object: nil) }
    }

    /// The most remembered names of objects that the store has lost.
    private static let missingLimit = 4096

    private let store: ObjectStore
    private let catalog: ArchiveCatalog
    private let cache: CopyCache
    private let redirects: Bool
    /// The transfers of this channel; other channels have their own.
    private let transfers: TransferPool
    private let missing = Mutex(Missing())

    private struct Missing {
        var names: Set<String> = []
        var version = 0
    }

    init(_ store: ObjectStore, _ catalog: ArchiveCatalog, _ cache: CopyCache, redirects: Bool, transferLimit: Int) {
        (self.store, self.catalog, self.cache, self.redirects) = (store, catalog, cache, redirects)
        transfers = TransferPool(limit: transferLimit)
    }

    package func path(of file: SpoolFile) async throws(RingError) -> String {
        if let kept = await cache.path(ofKept: copyName(of: file.name)) { return kept }
        do throws(StoreError) { return try await copy(file.name, of: try await place(of: file)) } catch {
            if error.reason == .noObject { recordMissing(file.name) }
            throw Self.unreadable(error, file.name)
        }
    }

    /// The path of a copy of a file that is an object by itself, because segments of all hours may use it.
    package func path(ofShared name: String) async throws(RingError) -> String {
        do throws(StoreError) { return try await copy(name, of: .shared(name)) } catch {
            throw Self.unreadable(error, name)
        }
    }

    /// Copies all files of an object, because readers usually want the others next.
    private func copy(_ name: String, of place: Place) async throws(StoreError) -> String {
        try await cache.path(of: copyName(of: name), in: store.name(of: place.key)) {
            [self] () async throws(StoreError) in
            guard let object = place.object else {
                let bytes = try await store.bytes(of: place.key)
                try check(StoredBytes.isShared(bytes, named: name), place.key)
                return [(copyName(of: name), bytes[...])]
            }
            let bytes = try await transfers.perform { () async throws(StoreError) in
                try await self.store.bytes(of: place.key, in: 0..<object.byteCount)
            }
            try check(StoredBytes.isObject(bytes, named: object.name), place.key)
            var start = 0
            return object.files.map { file in
                defer { start += file.byteCount }
                return (copyName(of: file.name), bytes[start..<start + file.byteCount])
            }
        }
    }

    /// Throws if bytes do not match their name. Such bytes are neither cached nor passed on.
    private func check(_ isIntact: Bool, _ key: String) throws(StoreError) {
        guard !isIntact else { return }
        let error = StoreError(.damagedObject, object: store.name(of: key))
        store.recordDamage(error)
        throw error
    }

    private func copyName(of name: String) -> String {
        SHA256.digest(of: Array(store.name(of: name).utf8)).map { Hexadecimal.encode($0) } ?? ""
    }

    package func beginning(of file: SpoolFile, byteCount: Int) async throws(RingError) -> [UInt8] {
        do throws(StoreError) {
            if let kept = await cache.bytes(ofKept: copyName(of: file.name), in: 0..<byteCount) { return kept }
            let place = try await place(of: file)
            let end = place.start + min(byteCount, file.byteCount)
            let bytes = try await transfers.perform { () async throws(StoreError) in
                try await self.store.bytes(of: place.key, in: place.start..<end)
            }
            guard let header = StoredBytes.header(in: bytes[...]) else {
                // Copied as a whole: the header is longer than expected, and only the whole object can be checked by
                // its digest.
                _ = try await copy(file.name, of: place)
                return await cache.bytes(ofKept: copyName(of: file.name), in: 0..<byteCount) ?? []
            }
            try check(SpoolName.isHeader(header, ofSegment: file.name) ?? false, place.key)
            return Array(header)
        } catch {
            if error.reason == .noObject { recordMissing(file.name) }
            throw Self.unreadable(error, file.name)
        }
    }

    package func clientURL(of file: SpoolFile) async -> Secret? {
        guard redirects, let place = try? await place(of: file), place.object?.files.count == 1 else { return nil }
        return Secret(store.signedURL(of: place.key))
    }

    /// Whether the store has lost a file.
    func isMissing(_ name: String) -> Bool { missing.withLock { $0.names.contains(name) } }

    /// Changes whenever the set of lost files changes.
    var missingVersion: Int { missing.withLock { $0.version } }

    private func recordMissing(_ name: String) {
        missing.withLock {
            if $0.names.count >= Self.missingLimit { $0.names = [] }
            if $0.names.insert(name).inserted { $0.version += 1 }
        }
    }

    private func place(of file: SpoolFile) async throws(StoreError) -> Place {
        let number =
            SpoolName.mediaSequence(ofSegment: file.name) ?? SpoolName.trackFile(named: file.name)?.mediaSequence
        guard let number else { return .shared(file.name) }
        guard let found = try await catalog.index(ofSegment: number, file: file.name),
            let place = found.loaded.places[file.name]
        else { throw StoreError(.noObject, object: store.name(of: file.name)) }
        return Place(
            key: found.key.key(ofObject: found.loaded.index.objects[place.object].name), start: place.start,
            object: found.loaded.index.objects[place.object])
    }

    private static func unreadable(_ error: StoreError, _ name: String) -> RingError {
        .remote(name: name, message: error.message)
    }
}

/// Limits how many objects of one store are read at once. Other reads wait without occupying a thread.
actor TransferPool {
    private let limit: Int
    private var running = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(limit: Int) { self.limit = limit }

    func perform<Value: Sendable>(
        _ transfer: @Sendable () async throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        if running >= limit {
            await withCheckedContinuation { waiting.append($0) }
        } else {
            running += 1
        }
        defer {
            // The place of this transfer goes to the next one.
            if waiting.isEmpty { running -= 1 } else { waiting.removeFirst().resume() }
        }
        return try await transfer()
    }
}
