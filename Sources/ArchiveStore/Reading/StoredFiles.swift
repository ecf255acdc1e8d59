import Dispatch
package import LiveRing
package import Support
import Synchronization

/// The files of one channel in a store, which are fetched when they are asked for.
package final class StoredFiles: RemoteFiles {
    /// Names of objects that the store does not have, at most.
    private static let missingLimit = 4096

    private let store: ObjectStore
    private let catalog: ArchiveCatalog
    private let cache: CopyCache
    private let redirects: Bool
    private let missing = Mutex<Set<String>>([])

    init(_ store: ObjectStore, _ catalog: ArchiveCatalog, _ cache: CopyCache, redirects: Bool) {
        (self.store, self.catalog, self.cache, self.redirects) = (store, catalog, cache, redirects)
    }

    package func path(of file: SpoolFile) async throws(RingError) -> String {
        try await copy(of: file.name) { [self] () async throws(StoreError) in
            try await bytes(of: file, in: 0..<file.byteCount)
        }
    }

    /// The path of a copy of a file that is an object by itself.
    func path(ofShared name: String) async throws(RingError) -> String {
        try await copy(of: name) { [store] () async throws(StoreError) in
            try await store.bytes(of: IndexKey.key(ofShared: name))
        }
    }

    private func copy(
        of name: String, _ fetch: @escaping @Sendable () async throws(StoreError) -> [UInt8]
    ) async throws(RingError) -> String {
        let key = SHA256.digest(of: Array(store.name(of: name).utf8)).map { Hexadecimal.encode($0) } ?? ""
        do throws(StoreError) { return try await cache.path(of: key, fetch: fetch) } catch {
            throw Self.unreadable(error, name)
        }
    }

    package func waitForPath(of file: SpoolFile) throws(RingError) -> String {
        try Self.wait { () async throws(RingError) in try await self.path(of: file) }
    }

    package func waitForBytes(of file: SpoolFile, in range: Range<Int>) throws(RingError) -> [UInt8] {
        try Self.wait { () async throws(RingError) in
            do throws(StoreError) { return try await self.bytes(of: file, in: range) } catch {
                throw Self.unreadable(error, file.name)
            }
        }
    }

    package func clientURL(of file: SpoolFile) async -> Secret? {
        guard redirects, let (key, place) = try? await place(of: file), place?.isWhole ?? true else { return nil }
        return Secret(store.signedURL(of: key))
    }

    /// Whether the store has lost a file.
    func isMissing(_ name: String) -> Bool { missing.withLock { $0.contains(name) } }

    private func bytes(of file: SpoolFile, in range: Range<Int>) async throws(StoreError) -> [UInt8] {
        let (key, place) = try await place(of: file)
        let start = place?.bytes.lowerBound ?? 0
        do throws(StoreError) {
            return try await store.bytes(of: key, in: start + range.lowerBound..<start + range.upperBound)
        } catch {
            if error.reason == .noObject { recordMissing(file.name) }
            throw error
        }
    }

    private func recordMissing(_ name: String) {
        missing.withLock {
            if $0.count >= Self.missingLimit { $0 = [] }
            $0.insert(name)
        }
    }

    /// The object that has a file, and its bytes there; nil for a file that is an object by itself.
    private func place(of file: SpoolFile) async throws(StoreError) -> (key: String, place: ArchiveIndex.Place?) {
        let number = SpoolName.mediaSequence(ofSegment: file.name) ?? SpoolName.mediaSequence(ofTrackFile: file.name)
        guard let number else { return (IndexKey.key(ofShared: file.name), nil) }
        guard let found = try await catalog.index(ofSegment: number, file: file.name),
            let place = found.loaded.places[file.name]
        else { throw StoreError(.noObject, object: store.name(of: file.name)) }
        return (found.key.key(ofObject: place.object), place)
    }

    private static func unreadable(_ error: StoreError, _ name: String) -> RingError {
        .remote(name: name, message: error.message)
    }

    /// Waits on the calling thread, which is none of those that tasks share.
    private static func wait<Value: Sendable>(
        _ work: @escaping @Sendable () async throws(RingError) -> Value
    ) throws(RingError) -> Value {
        let pending = PendingValue<Value>()
        Task.detached {
            do throws(RingError) { pending.set(.success(try await work())) } catch { pending.set(.failure(error)) }
        }
        return try pending.wait().get()
    }
}

/// A result that a thread waits for.
private final class PendingValue<Value: Sendable>: Sendable {
    private let isSet = DispatchSemaphore(value: 0)
    private let result = Mutex<Result<Value, RingError>?>(nil)

    func set(_ value: Result<Value, RingError>) {
        result.withLock { $0 = value }
        isSet.signal()
    }

    func wait() -> Result<Value, RingError> {
        while true {
            isSet.wait()
            if let value = result.withLock({ $0 }) { return value }
        }
    }
}
