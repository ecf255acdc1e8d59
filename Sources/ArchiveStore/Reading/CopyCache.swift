package import LiveRing

/// Copies of files of all archives of a process, the last used of which stay.
package actor CopyCache {
    private struct Copy {
        let byteCount: Int
        var lastUse: UInt64
    }

    private typealias Outcome = Result<String, StoreError>

    private let directory: CacheDirectory
    private let byteLimit: Int
    private var copies: [String: Copy] = [:]
    private var pending: [String: Task<Outcome, Never>] = [:]
    private var uses: UInt64 = 0
    private(set) var byteCount = 0

    /// - Parameter byteLimit: of the copies that stay. Those that are fetched at the same time come on top.
    package init(in directory: CacheDirectory, byteLimit: Int) {
        (self.directory, self.byteLimit) = (directory, byteLimit)
    }

    /// The path of a copy. Several callers at once wait for one request.
    /// - Parameter name: of the copy, which no other file has.
    func path(
        of name: String, fetch: @escaping @Sendable () async throws(StoreError) -> [UInt8]
    ) async throws(StoreError) -> String {
        uses += 1
        if copies[name] != nil {
            copies[name]?.lastUse = uses
            return directory.path(of: name)
        }
        if let task = pending[name] { return try await task.value.get() }
        let task = Task { () -> Outcome in
            do throws(StoreError) { return .success(try store(try await fetch(), as: name)) } catch {
                return .failure(error)
            }
        }
        pending[name] = task
        let outcome = await task.value
        pending[name] = nil
        return try outcome.get()
    }

    private func store(_ bytes: [UInt8], as name: String) throws(StoreError) -> String {
        do throws(RingError) { try directory.write(bytes, as: name) } catch {
            throw StoreError(.cache(error), object: name)
        }
        copies[name] = Copy(byteCount: bytes.count, lastUse: uses)
        byteCount += bytes.count
        while byteCount > byteLimit, copies.count > 1,
            let oldest = copies.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            directory.remove(oldest.key)
            byteCount -= oldest.value.byteCount
            copies[oldest.key] = nil
        }
        return directory.path(of: name)
    }
}
