/// A cache of values made from segments, for all archives of a process. The least recently used values are removed.
actor SegmentCache<Value: Sendable> {
    private struct Key: Hashable {
        let name: String
        let version: String
    }

    private struct Kept {
        let value: Value
        let version: String
        var lastUse: UInt64
    }

    private let segmentLimit: Int
    private let segments: @Sendable (Value) -> Int
    private var kept: [String: Kept] = [:]
    private var pending: [Key: Task<Result<Value, StoreError>, Never>] = [:]
    private var uses: UInt64 = 0
    private(set) var segmentCount = 0
    /// How often a value was not in the cache and was made.
    private(set) var madeCount = 0

    /// - Parameters:
    ///   - segmentLimit: total number of segments of the cached values: more than two days of segments of 1 s.
    ///   - segments: returns the number of segments of a value.
    init(segmentLimit: Int = 200_000, segments: @escaping @Sendable (Value) -> Int) {
        (self.segmentLimit, self.segments) = (segmentLimit, segments)
    }

    /// Returns a cached value, or makes it. Concurrent callers share one attempt.
    /// - Parameters:
    ///   - name: the unique name of the value. Only one version of it is cached.
    ///   - make: makes the value. If it fails, an older cached version is returned.
    ///   - onFailure: called with the error in that case, once for all callers.
    func value(
        _ name: String, version: String, make: @escaping @Sendable () async throws(StoreError) -> Value,
        onFailure: @escaping @Sendable (StoreError) async -> Void = { _ in }
    ) async throws(StoreError) -> Value {
        if let known = kept[name], known.version == version {
            uses += 1
            kept[name]?.lastUse = uses
            return known.value
        }
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
            if isFirst { keep(value, as: key) }
            return value
        } catch {
            guard let older = kept[name] else { throw error }
            return older.value
        }
    }

    private func keep(_ value: Value, as key: Key) {
        uses += 1
        madeCount += 1
        segmentCount += segments(value) - (kept[key.name].map { segments($0.value) } ?? 0)
        kept[key.name] = Kept(value: value, version: key.version, lastUse: uses)
        while segmentCount > segmentLimit, kept.count > 1,
            let oldest = kept.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            segmentCount -= segments(oldest.value.value)
            kept[oldest.key] = nil
        }
    }
}
