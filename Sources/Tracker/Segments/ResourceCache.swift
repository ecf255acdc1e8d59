import Fetch
import Playlist
import Support

/// Keys and initialization sections, each fetched once for all segments that need it.
///
/// The tracker fetches keys with the headers and retries of segments; `Decrypt` stays a function of bytes.
struct ResourceCache: Sendable {
    enum State: Equatable, Sendable { case absent, pending, held, failed }

    private struct Entry: Sendable {
        let request: FetchRequest
        var retrySchedule: RetrySchedule
        var progress: Progress
    }

    private enum Progress: Sendable {
        case due(at: Duration)
        case fetching(FetchID)
        case held([UInt8])
        /// Another attempt would fail the same way.
        case failed
    }

    /// The number of entries kept. A segment that still needs an evicted resource requests it again.
    static let limit = 32
    /// Maps fetched at once. A channel has one, and in a break another one.
    static let maxMapsInFlight = 2

    /// Oldest first.
    private var entries: [Entry] = []
    private let byteLimit: Int
    private let seed: UInt64

    init(byteLimit: Int = .max, seed: UInt64 = 0) {
        self.byteLimit = byteLimit
        self.seed = seed
    }

    func state(of request: FetchRequest) -> State {
        switch entry(of: request)?.progress {
        case nil: .absent
        case .due, .fetching: .pending
        case .held: .held
        case .failed: .failed
        }
    }

    func holds(_ requests: [FetchRequest]) -> Bool { requests.allSatisfy { state(of: $0) == .held } }

    /// The attempts for a resource; nil if it was not requested.
    func retrySchedule(of request: FetchRequest) -> RetrySchedule? { entry(of: request)?.retrySchedule }

    func body(of request: FetchRequest?) -> [UInt8]? {
        guard let request, case .held(let body) = entry(of: request)?.progress else { return nil }
        return body
    }

    private func entry(of request: FetchRequest) -> Entry? { entries.first { $0.request == request } }

    /// The time of the earliest attempt that is not in flight.
    var nextDeadline: Duration? {
        entries.lazy.compactMap { entry in
            if case .due(let at) = entry.progress { at } else { nil }
        }.min()
    }

    /// Adds a resource that a segment needs, unless it is there already.
    mutating func request(_ request: FetchRequest, at now: Duration) {
        guard state(of: request) == .absent else { return }
        let schedule = RetrySchedule(seed: seed &+ UInt64(entries.count))
        entries.append(Entry(request: request, retrySchedule: schedule, progress: .due(at: now)))
        evict()
    }

    /// Keeps a resource that was read before any segment needed it.
    mutating func hold(_ body: [UInt8], of request: FetchRequest) {
        guard state(of: request) == .absent else { return }
        entries.append(
            Entry(request: request, retrySchedule: RetrySchedule(seed: seed), progress: .held(body)))
        evict()
    }

    /// Removes the oldest entries that are neither due nor in flight, while there are too many or too much. The newest one
    /// that is held stays, whatever its size.
    private mutating func evict() {
        while entries.count > Self.limit || heldBytes > byteLimit {
            let removable = entries.indices.filter { index in
                switch entries[index].progress {
                case .held, .failed: true
                case .due, .fetching: false
                }
            }
            guard let oldest = removable.first, removable.count > 1 || entries.count > Self.limit else { return }
            entries.remove(at: oldest)
        }
    }

    private var heldBytes: Int {
        entries.reduce(0) { sum, entry in
            if case .held(let body) = entry.progress { sum + body.count } else { sum }
        }
    }

    /// Removes resources that failed and that no pending segment needs any more.
    ///
    /// - Parameter isNeeded: asked only for resources whose next attempt is due.
    mutating func removeUnneeded(at now: Duration, where isNeeded: (FetchRequest) -> Bool) {
        entries.removeAll { entry in
            guard case .due(let at) = entry.progress, at <= now, entry.retrySchedule.failures > 0 else { return false }
            return !isNeeded(entry.request)
        }
    }

    /// Starts the next attempt that is due and permitted, as `id`. Returns its request.
    mutating func start(
        as id: FetchID, at now: Duration, where isPermitted: (FetchRequest) -> Bool
    ) -> FetchRequest? {
        for index in entries.indices {
            guard case .due(let at) = entries[index].progress, at <= now, isPermitted(entries[index].request),
                entries[index].request.purpose != .map || mapsInFlight < Self.maxMapsInFlight
            else { continue }
            entries[index].progress = .fetching(id)
            return entries[index].request
        }
        return nil
    }

    private var mapsInFlight: Int {
        entries.count { entry in
            if case .fetching = entry.progress { entry.request.purpose == .map } else { false }
        }
    }

    /// Records the end of an attempt. Returns its failure, if it failed.
    mutating func settle(
        _ id: FetchID, _ outcome: FetchOutcome, at now: Duration
    ) -> FailedAttempt? {
        let index = entries.firstIndex { entry in
            if case .fetching(id) = entry.progress { true } else { false }
        }
        guard let index else { return nil }
        do {
            entries[index].progress = .held(try entries[index].request.media(in: outcome).body)
            evict()
            return nil
        } catch {
            let next = entries[index].retrySchedule.failed(error, retryAfter: outcome.retryAfter, at: now)
            entries[index].progress = next.map { .due(at: $0) } ?? .failed
            return FailedAttempt(
                failure: error, failures: entries[index].retrySchedule.failures, isLast: next == nil)
        }
    }

    mutating func abandonAttempts(at now: Duration) {
        for index in entries.indices {
            if case .fetching = entries[index].progress { entries[index].progress = .due(at: now) }
        }
    }

    /// Retries what failed on a host that answers again.
    mutating func retryEarly(on host: String?, at now: Duration) {
        for index in entries.indices where URIReference.host(of: entries[index].request.url) == host {
            guard case .due(let at) = entries[index].progress, at > now, !entries[index].retrySchedule.isRefused else {
                continue
            }
            entries[index].progress = .due(at: max(now, entries[index].retrySchedule.retryAfterEnd))
        }
    }
}
