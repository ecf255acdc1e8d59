import Fetch
import Playlist
import Support

/// Keys and initialization sections, each fetched once for all segments of a period that need it.
///
/// The tracker fetches keys with the headers and retries of segments; `Decrypt` stays a function of bytes. A resource whose
/// bytes an earlier period had is asked for again. If the origin refuses that, or does not answer, the known bytes serve.
struct ResourceCache: Sendable {
    enum State: Equatable, Sendable { case absent, pending, held, failed }

    fileprivate struct Body: Sendable {
        let bytes: [UInt8]
        /// The ETag of the answer; nil without one.
        var entityTag: String?
    }

    fileprivate struct Entry: Sendable {
        let request: FetchRequest
        /// As of `SegmentResource`; nil: any, for bytes that no packager replaces.
        let period: Int?
        /// The bytes that an earlier period had under the same name.
        let known: Body?
        var retrySchedule: RetrySchedule
        var progress: Progress

        func serves(_ resource: SegmentResource) -> Bool {
            request == resource.request && period ?? resource.period == resource.period
        }
    }

    fileprivate enum Progress: Sendable {
        case due(at: Duration)
        case fetching(FetchID)
        case held(Body)
        /// Another attempt would fail the same way.
        case failed
    }

    /// The number of entries kept. A segment that still needs an evicted resource requests it again.
    static let limit = 32
    /// Maps fetched at once. A channel has one, and in a break another one.
    static let maxMapsInFlight = 2
    /// Failed attempts after which the bytes of an earlier period serve. An origin that answers with none, as while a
    /// packager is started, is asked on.
    static let triesForOthers = 3

    /// Oldest first.
    private var entries: [Entry] = []
    private let byteLimit: Int
    private let seed: UInt64

    init(byteLimit: Int = .max, seed: UInt64 = 0) {
        self.byteLimit = byteLimit
        self.seed = seed
    }

    func state(of resource: SegmentResource) -> State {
        switch entry(of: resource)?.progress {
        case nil: .absent
        case .due, .fetching: .pending
        case .held: .held
        case .failed: .failed
        }
    }

    func holds(_ resources: [SegmentResource]) -> Bool { resources.allSatisfy { state(of: $0) == .held } }

    /// The attempts for a resource; nil if it was not requested.
    func retrySchedule(of resource: SegmentResource) -> RetrySchedule? { entry(of: resource)?.retrySchedule }

    func body(of resource: SegmentResource?) -> [UInt8]? {
        guard let resource, case .held(let body) = entry(of: resource)?.progress else { return nil }
        return body.bytes
    }

    func isFetching(_ resource: SegmentResource) -> Bool {
        if case .fetching = entry(of: resource)?.progress { true } else { false }
    }

    private func entry(of resource: SegmentResource) -> Entry? { entries.first { $0.serves(resource) } }

    /// The time of the earliest attempt that is not in flight.
    var nextDeadline: Duration? {
        entries.lazy.compactMap { entry in
            if case .due(let at) = entry.progress { at } else { nil }
        }.min()
    }

    /// Adds a resource that a segment needs, unless it is there already.
    mutating func request(_ resource: SegmentResource, at now: Duration) {
        guard state(of: resource) == .absent else { return }
        let known = entries.last { entry in
            if case .held = entry.progress { entry.request == resource.request } else { false }
        }
        let schedule = RetrySchedule(seed: seed &+ UInt64(entries.count))
        entries.append(
            Entry(
                request: resource.request, period: resource.period, known: known?.body, retrySchedule: schedule,
                progress: .due(at: now)))
        evict()
    }

    /// Keeps a resource that was read before any segment needed it, for all periods.
    mutating func hold(_ bytes: [UInt8], of request: FetchRequest) {
        guard state(of: SegmentResource(request)) == .absent else { return }
        entries.append(
            Entry(
                request: request, period: nil, known: nil, retrySchedule: RetrySchedule(seed: seed),
                progress: .held(Body(bytes: bytes))))
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
            if case .held(let body) = entry.progress { sum + body.bytes.count } else { sum }
        }
    }

    /// Removes resources that failed and that no pending segment needs any more.
    ///
    /// - Parameter isNeeded: asked only for resources whose next attempt is due.
    mutating func removeUnneeded(at now: Duration, where isNeeded: (SegmentResource) -> Bool) {
        entries.removeAll { entry in
            guard case .due(let at) = entry.progress, at <= now, entry.retrySchedule.failures > 0 else { return false }
            return !isNeeded(SegmentResource(entry.request, period: entry.period ?? 0))
        }
    }

    /// Starts the next attempt that is due and permitted, as `id`. Returns its resource.
    mutating func start(
        as id: FetchID, at now: Duration, where isPermitted: (SegmentResource) -> Bool
    ) -> SegmentResource? {
        for index in entries.indices {
            let entry = entries[index]
            let resource = SegmentResource(entry.request, period: entry.period ?? 0)
            guard case .due(let at) = entry.progress, at <= now, isPermitted(resource),
                entry.request.purpose != .map || mapsInFlight < Self.maxMapsInFlight
            else { continue }
            entries[index].progress = .fetching(id)
            return resource
        }
        return nil
    }

    /// The condition of the next request for a resource whose bytes an earlier period had; nil: it had none.
    func revalidation(of resource: SegmentResource) -> FetchRequest.Revalidation? {
        entry(of: resource)?.known.map { FetchRequest.Revalidation(entityTag: $0.entityTag) }
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
        do throws(FetchFailure) {
            entries[index].progress = .held(try entries[index].body(in: outcome))
            // A resource that another period was refused is there again, too.
            for other in entries.indices where entries[other].request == entries[index].request {
                if case .due = entries[other].progress { entries[other].progress = .due(at: now) }
            }
            evict()
            return nil
        } catch {
            let next = entries[index].retrySchedule.failed(error, retryAfter: outcome.retryAfter, at: now)
            entries[index].progress = next.map { .due(at: $0) } ?? .failed
            if let known = entries[index].known(after: error) { entries[index].progress = .held(known) }
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

extension ResourceCache.Entry {
    fileprivate var body: ResourceCache.Body? { if case .held(let body) = progress { body } else { nil } }

    /// The bytes that an answer brings: those that are known if it says that they are the same, or if they are.
    fileprivate func body(in outcome: FetchOutcome) throws(FetchFailure) -> ResourceCache.Body {
        if let known, case .success(let answer) = outcome, answer.status == FetchAnswer.notModified { return known }
        let bytes = try request.media(in: outcome).body
        // Equal bytes are kept once.
        return ResourceCache.Body(
            bytes: bytes == known?.bytes ? known?.bytes ?? bytes : bytes, entityTag: outcome.entityTag)
    }

    /// The bytes of an earlier period, if no others are to be had: their host refuses them, or does not answer.
    fileprivate func known(after failure: FetchFailure) -> ResourceCache.Body? {
        switch failure {
        case .empty, .notMedia, .truncated, .shortRange, .wrongRange, .tooShort: return nil
        case .refused, .unreachable:
            let isLast = failure.prospect == .hostLimited || failure.prospect == .none
            return isLast || retrySchedule.failures >= ResourceCache.triesForOthers ? known : nil
        }
    }
}
