package import LiveRing
import Support

/// Local copies of files of all archives of a process. The least recently used copies are removed.
package actor CopyCache {
    /// The number of copies that are kept whatever their size: the copies of one object.
    private static let leastCount = 64

    /// Cached indexes, which state where the files are.
    nonisolated let indexes = SegmentCache<LoadedIndex> { $0.index.entries.count }
    /// Cached parts, which are made from indexes.
    nonisolated let parts = SegmentCache<ArchiveReader.Part?> { $0?.segmentCount ?? 1 }
    private let directory: CacheDirectory
    /// The names of the copies.
    private var copies: LRUCache<String, String>
    private var pending: [String: Task<StoreError?, Never>] = [:]
    var byteCount: Int { copies.cost }

    /// - Parameter byteLimit: total size of the kept copies. Copies that are being fetched are not included.
    package init(in directory: CacheDirectory, byteLimit: Int) {
        self.directory = directory
        copies = LRUCache(limit: byteLimit, leastCount: Self.leastCount)
    }

    /// The path of an existing copy; nil if there is none.
    func path(ofKept name: String) -> String? { copies.value(name).map(directory.path(of:)) }

    /// Bytes of an existing copy.
    func bytes(ofKept name: String, in range: Range<Int>) -> [UInt8]? {
        path(ofKept: name).flatMap { _ in try? directory.bytes(of: name, in: range) }
    }

    /// The path of a copy, which is fetched if necessary. Concurrent callers share one request.
    /// - Parameters:
    ///   - name: the unique name of the copy.
    ///   - object: the object that contains the file, and maybe other files.
    ///   - fetch: returns the bytes of all files of the object, by the names of their copies.
    func path(
        of name: String, in object: String,
        fetch: @escaping @Sendable () async throws(StoreError) -> [(name: String, bytes: ArraySlice<UInt8>)]
    ) async throws(StoreError) -> String {
        let task =
            pending[object]
            ?? Task {
                do throws(StoreError) {
                    for file in try await fetch() { try store(file.bytes, as: file.name) }
                    return nil
                } catch {
                    return error
                }
            }
        pending[object] = task
        let failure = await task.value
        pending[object] = nil
        if let failure { throw failure }
        guard let path = path(ofKept: name) else { throw StoreError(.noObject, object: object) }
        return path
    }

    private func store(_ bytes: ArraySlice<UInt8>, as name: String) throws(StoreError) {
        guard copies.value(name) == nil else { return }
        do throws(RingError) { try directory.write(bytes, as: name) } catch {
            throw StoreError(.cache(error), object: name)
        }
        for old in copies.insert(name, as: name, cost: bytes.count) { directory.remove(old) }
    }
}
