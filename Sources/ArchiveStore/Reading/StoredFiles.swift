import Dispatch
package import LiveRing
package import Support
import Synchronization

/// The files of one channel in a store, which are fetched when they are asked for.
package final class StoredFiles: RemoteFiles {
    private struct Place: Sendable {
        let key: String
        /// The first byte of the file in the object.
        let start: Int
        /// nil: the file is the object.
        let object: ArchiveIndex.Object?

        static func shared(_ name: String) -> Place { Place(key: IndexKey.key(ofShared: name), start: 0, object: nil) }
    }

    /// Names of objects that the store does not have, at most.
    private static let missingLimit = 4096

    private let store: ObjectStore
    private let catalog: ArchiveCatalog
    private let cache: CopyCache
    private let redirects: Bool
    private let missing = Mutex(Missing())

    private struct Missing {
        var names: Set<String> = []
        var version = 0
    }

    init(_ store: ObjectStore, _ catalog: ArchiveCatalog, _ cache: CopyCache, redirects: Bool) {
        (self.store, self.catalog, self.cache, self.redirects) = (store, catalog, cache, redirects)
    }

    package func path(of file: SpoolFile) async throws(RingError) -> String {
        if let kept = await cache.path(ofKept: copyName(of: file.name)) { return kept }
        do throws(StoreError) { return try await copy(file.name, of: try await place(of: file)) } catch {
            if error.reason == .noObject { recordMissing(file.name) }
            throw Self.unreadable(error, file.name)
        }
    }

    /// The path of a copy of a file that is an object by itself: segments of all hours may use it.
    package func path(ofShared name: String) async throws(RingError) -> String {
        do throws(StoreError) { return try await copy(name, of: .shared(name)) } catch {
            throw Self.unreadable(error, name)
        }
    }

    /// Copies all files of an object: who reads one of them mostly reads the others too.
    private func copy(_ name: String, of place: Place) async throws(StoreError) -> String {
        try await cache.path(of: copyName(of: name), in: store.name(of: place.key)) {
            [self] () async throws(StoreError) in
            guard let object = place.object else {
                let bytes = try await store.bytes(of: place.key)
                return [(copyName(of: name), bytes[...])]
            }
            let bytes = try await store.bytes(of: place.key, in: 0..<object.byteCount)
            var start = 0
            return object.files.map { file in
                defer { start += file.byteCount }
                return (copyName(of: file.name), bytes[start..<start + file.byteCount])
            }
        }
    }

    private func copyName(of name: String) -> String {
        SHA256.digest(of: Array(store.name(of: name).utf8)).map { Hexadecimal.encode($0) } ?? ""
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
        guard redirects, let place = try? await place(of: file), place.object?.files.count == 1 else { return nil }
        return Secret(store.signedURL(of: place.key))
    }

    /// Whether the store has lost a file.
    func isMissing(_ name: String) -> Bool { missing.withLock { $0.names.contains(name) } }

    /// Changes with the files that the store has lost.
    var missingVersion: Int { missing.withLock { $0.version } }

    private func bytes(of file: SpoolFile, in range: Range<Int>) async throws(StoreError) -> [UInt8] {
        if let kept = await cache.bytes(ofKept: copyName(of: file.name), in: range) { return kept }
        let place = try await place(of: file)
        do throws(StoreError) {
            return try await store.bytes(
                of: place.key, in: place.start + range.lowerBound..<place.start + range.upperBound)
        } catch {
            if error.reason == .noObject { recordMissing(file.name) }
            throw error
        }
    }

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
