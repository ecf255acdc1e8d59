import Export
import Support
import Synchronization

/// Stills of all channels of a process, made once for equal requests and cached.
final class StillStore: Sendable {
    /// Bytes that are kept.
    static let byteLimit = 32 << 20

    static let shared = StillStore()

    private struct State {
        var kept: LRUCache<String, [UInt8]>
        var pending: [String: Task<StillResponder.Outcome, Never>] = [:]
    }

    /// Equal requests count once in it.
    let pool: MediaPool
    private let state: Mutex<State>

    init(byteLimit: Int = StillStore.byteLimit, pool: MediaPool = .stills) {
        self.pool = pool
        state = Mutex(State(kept: LRUCache(limit: byteLimit)))
    }

    /// Bytes that are kept.
    var byteCount: Int { state.withLock { $0.kept.cost } }

    /// Returns the result of `make`. Equal requests share one call.
    /// - Parameters: as of `MediaPool.begin`.
    func outcome(
        of request: String, for client: String?, isRemote: Bool = false,
        make: @escaping @Sendable () async -> StillResponder.Outcome
    ) async throws(MediaPool.Busy) -> StillResponder.Outcome {
        let task = state.withLock { state -> Task<StillResponder.Outcome, Never>? in
            if let task = state.pending[request] { return task }
            guard pool.begin(for: client, isRemote: isRemote) else { return nil }
            let task = Task { [self] in
                let outcome = await make()
                self.state.withLock { $0.pending[request] = nil }
                pool.end(for: client, isRemote: isRemote)
                return outcome
            }
            state.pending[request] = task
            return task
        }
        guard let task else { throw MediaPool.Busy() }
        return await task.value
    }

    func still(named name: String) -> [UInt8]? { state.withLock { $0.kept.value(name) } }

    func keep(_ bytes: [UInt8], as name: String) {
        state.withLock { _ = $0.kept.insert(bytes, as: name, cost: bytes.count) }
    }
}
