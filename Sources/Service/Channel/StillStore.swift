import Dispatch
import Synchronization

/// Stills of all channels of a process, made one after the other on a thread of their own and cached.
final class StillStore: Sendable {
    /// The most stills and sheets that requests may wait for at once.
    static let pendingLimit = 32
    /// The most stills and sheets that requests of one client may wait for.
    static let pendingPerClient = 8
    /// The most pending stills of archives in a store, so that a slow store does not block all other channels.
    static let remoteLimit = pendingLimit / 2
    /// Bytes that are kept.
    static let byteLimit = 32 << 20

    static let shared = StillStore()

    /// Too many stills are pending.
    struct Busy: Error {}

    private struct Kept {
        let bytes: [UInt8]
        var lastUse: UInt64
    }

    private struct State {
        var kept: [String: Kept] = [:]
        var byteCount = 0
        var uses: UInt64 = 0
        var pending: [String: Task<StillResponder.Outcome, Never>] = [:]
        var pendingByClient: [String: Int] = [:]
        var pendingRemote = 0
    }

    private let queue = DispatchQueue(label: "liverelay.stills")
    private let byteLimit: Int
    private let pendingLimit: Int
    private let state = Mutex(State())

    init(byteLimit: Int = StillStore.byteLimit, pendingLimit: Int = StillStore.pendingLimit) {
        (self.byteLimit, self.pendingLimit) = (byteLimit, pendingLimit)
    }

    /// Bytes that are kept.
    var byteCount: Int { state.withLock { $0.byteCount } }

    /// The number of pending requests; equal requests count once.
    var pendingCount: Int { state.withLock { $0.pending.count } }

    func perform<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in queue.async { continuation.resume(returning: work()) } }
    }

    /// Returns the result of `make`. Equal requests share one call.
    /// - Parameters:
    ///   - client: the address of the client; nil: it has no limit of its own.
    ///   - isRemote: whether the request may have to read from a store.
    func outcome(
        of request: String, for client: String?, isRemote: Bool = false,
        make: @escaping @Sendable () async -> StillResponder.Outcome
    ) async throws(Busy) -> StillResponder.Outcome {
        let client = client ?? ""
        let task = state.withLock { state -> Task<StillResponder.Outcome, Never>? in
            if let task = state.pending[request] { return task }
            guard state.pending.count < pendingLimit, !isRemote || state.pendingRemote < Self.remoteLimit,
                client.isEmpty || state.pendingByClient[client, default: 0] < Self.pendingPerClient
            else { return nil }
            let task = Task { [self] in
                let outcome = await make()
                self.state.withLock { state in
                    state.pending[request] = nil
                    if isRemote { state.pendingRemote -= 1 }
                    state.pendingByClient[client] = state.pendingByClient[client].flatMap { $0 > 1 ? $0 - 1 : nil }
                }
                return outcome
            }
            state.pending[request] = task
            if isRemote { state.pendingRemote += 1 }
            state.pendingByClient[client, default: 0] += 1
            return task
        }
        guard let task else { throw Busy() }
        return await task.value
    }

    func still(named name: String) -> [UInt8]? {
        state.withLock { state in
            state.uses += 1
            state.kept[name]?.lastUse = state.uses
            return state.kept[name]?.bytes
        }
    }

    /// Caches a still. If the limit is exceeded, the least recently used half is removed.
    func keep(_ bytes: [UInt8], as name: String) {
        state.withLock { state in
            state.uses += 1
            state.byteCount += bytes.count - (state.kept[name]?.bytes.count ?? 0)
            state.kept[name] = Kept(bytes: bytes, lastUse: state.uses)
            guard state.byteCount > byteLimit else { return }
            for (name, image) in state.kept.sorted(by: { $0.value.lastUse < $1.value.lastUse }) {
                guard state.byteCount > byteLimit / 2 else { return }
                state.byteCount -= image.bytes.count
                state.kept[name] = nil
            }
        }
    }
}
