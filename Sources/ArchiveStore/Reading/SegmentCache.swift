import Support

/// A cache of values made from segments, for all archives of a process. The least recently used values are removed.
actor SegmentCache<Value: Sendable> {
    private struct Key: Hashable {
        let name: String
        let version: String
    }

    private struct Kept {
        let value: Value
        let version: String
    }

    private let segments: @Sendable (Value) -> Int
    private var kept: LRUCache<String, Kept>
    private var pending: [Key: Task<Result<Value, StoreError>, Never>] = [:]
    /// How often a value was not in the cache and was made.
    private(set) var madeCount = 0

    /// - Parameters:
    ///   - segmentLimit: total number of segments of the cached values: more than two days of segments of 1 s.
    ///   - segments: returns the number of segments of a value.
    init(segmentLimit: Int = 200_000, segments: @escaping @Sendable (Value) -> Int) {
        (kept, self.segments) = (LRUCache(limit: segmentLimit), segments)
    }

    var segmentCount: Int { kept.cost }

    /// Returns a cached value, or makes it. Concurrent callers share one attempt.
    /// - Parameters:
    ///   - name: the unique name of the value. Only one version of it is cached.
    ///   - make: makes the value. If it fails, an older cached version is returned.
    ///   - onFailure: called with the error in that case, once for all callers.
    func value(
        _ name: String, version: String, make: @escaping @Sendable () async throws(StoreError) -> Value,
        onFailure: @escaping @Sendable (StoreError) async -> Void = { _ in }
    ) async throws(StoreError) -> Value {
        if let known = kept.value(name), known.version == version { return known.value }
        let key = Key(name: name, version: version)
        let task =
            pending[key]
            ?? Task.detached {
                do throws(StoreError) { return .success(try await make()) } catch {
                    await onFailure(error)
                    return .failure(error)
                }
            }
        pending[key] = task
        let outcome = await task.value
        // The first caller stores the value, so that it is either pending or cached at any time.
        let isFirst = pending.removeValue(forKey: key) != nil
        do throws(StoreError) {
            let value = try outcome.get()
            if isFirst {
                madeCount += 1
                kept.insert(Kept(value: value, version: version), as: name, cost: segments(value))
            }
            return value
        } catch {
            guard let older = kept.value(name) else { throw error }
            return older.value
        }
    }
}
