package import LiveRing

/// Local copies of files of all archives of a process. The least recently used copies are removed.
package actor CopyCache {
    private struct Copy {
        let byteCount: Int
        var lastUse: UInt64
    }

    /// The number of copies that are kept whatever their size: the copies of one object.
    private static let leastCount = 64

    /// Cached indexes, which state where the files are.
    nonisolated let indexes = SegmentCache<LoadedIndex> { $0.index.entries.count }
    /// Cached parts, which are made from indexes.
    nonisolated let parts = SegmentCache<ArchiveReader.Part?> { $0?.segmentCount ?? 1 }
    private let directory: CacheDirectory
    private let byteLimit: Int
    private var copies: [String: Copy] = [:]
    private var pending: [String: Task<StoreError?, Never>] = [:]
    private var uses: UInt64 = 0
    private(set) var byteCount = 0

    /// - Parameter byteLimit: total size of the kept copies. Copies that are being fetched are not included.
    package init(in directory: CacheDirectory, byteLimit: Int) {
        (self.directory, self.byteLimit) = (directory, byteLimit)
    }

    /// The path of an existing copy; nil if there is none.
    func path(ofKept name: String) -> String? {
        uses += 1
        guard copies[name] != nil else { return nil }
        copies[name]?.lastUse = uses
        return directory.path(of: name)
    }

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
        guard copies[name] == nil else { return }
        do throws(RingError) { try directory.write(bytes, as: name) } catch {
            throw StoreError(.cache(error), object: name)
        }
        uses += 1
        copies[name] = Copy(byteCount: bytes.count, lastUse: uses)
        byteCount += bytes.count
        while byteCount > byteLimit, copies.count > Self.leastCount,
            let oldest = copies.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            directory.remove(oldest.key)
            byteCount -= oldest.value.byteCount
            copies[oldest.key] = nil
        }
    }
}
