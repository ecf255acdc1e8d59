import Demux
import Fetch
import Playlist
import Support

/// A segment that is listed and not delivered yet.
struct PendingSegment: Sendable {
    enum Progress: Sendable {
        case waiting
        case fetching(Attempt)
        /// - Parameter awaitsPlaylist: whether a newer playlist ends the pause.
        case pausing(until: Duration, awaitsPlaylist: Bool)
        case fetched(body: [UInt8], url: String)
        /// Another attempt would fail the same way.
        case failed(FetchFailure)
    }

    /// One request in flight, or two that race on different connections.
    struct Attempt: Equatable, Sendable {
        let first: FetchID
        let startedAt: Duration
        /// The largest body of the first request; nil: that of a segment to deliver next.
        var byteLimit: Int?
        var second: FetchID?
        /// The largest body of the second request.
        var secondLimit = 0
        /// Whether there was a race, one of whose requests may have ended.
        var hasRaced = false

        var ids: [FetchID] { [first] + (second.map { [$0] } ?? []) }

        /// The attempt without a request that has ended; nil if none is left.
        func removing(_ id: FetchID) -> Attempt? {
            guard let second else { return nil }
            let isFirst = id == first
            return Attempt(
                first: isFirst ? second : first, startedAt: startedAt, byteLimit: isFirst ? secondLimit : byteLimit,
                hasRaced: true)
        }
    }

    private enum Listing {
        case listed
        /// In the playlist loaded last, under another number.
        case renumbered
        case removed(at: Duration)
    }

    let segment: MediaSegment
    private(set) var requests: SegmentRequests
    /// The requests of a playlist that came during the attempt in flight.
    private var renewal: SegmentRequests?
    let listedAt: Duration
    let listedDateRanges: [DateRange]
    private(set) var progress = Progress.waiting
    /// When the last attempt began; nil before the first.
    private(set) var startedAt: Duration?
    private var listing = Listing.listed
    /// A body that ended with its connection and is much shorter than its EXTINF. It is used if no longer one comes.
    private var shortBody: (body: [UInt8], url: String)?
    /// Whether another attempt brought a longer body than the short one; nil without such an attempt.
    private(set) var shortRetryHelped: Bool?
    private(set) var retrySchedule: RetrySchedule
    /// Whether the segment exceeded the limit of a body that is held, so that it is fetched when nothing is delivered
    /// before it.
    private(set) var waitsForHead = false
    /// When the first attempt began for which nothing was delivered before the segment.
    private(set) var headStartedAt: Duration?
    /// When the segment could be delivered first, but for the segments before it. A segment that waits for them to be
    /// fetched could.
    var readyAt: Duration?

    /// Failed attempts after which a body that looks truncated is accepted.
    static let truncatedTries = 3

    init(
        _ segment: MediaSegment, _ requests: SegmentRequests, dateRanges: [DateRange], seed: UInt64, at now: Duration
    ) {
        self.segment = segment
        self.requests = requests
        listedAt = now
        listedDateRanges = dateRanges
        retrySchedule = RetrySchedule(seed: seed &+ segment.mediaSequence)
    }

    /// Whether the URL was refused with 401, 403 or 410, and a newer playlist may have another one.
    var awaitsPlaylist: Bool {
        if case .pausing(_, awaitsPlaylist: true) = progress { true } else { false }
    }

    /// When the segment left the playlist; nil while it is listed.
    var removedAt: Duration? { if case .removed(let at) = listing { at } else { nil } }

    var attempt: Attempt? { if case .fetching(let attempt) = progress { attempt } else { nil } }

    var isFetched: Bool { if case .fetched = progress { true } else { false } }

    /// Whether no further attempt follows.
    var hasEnded: Bool {
        switch progress {
        case .fetched, .failed: true
        case .waiting, .fetching, .pausing: false
        }
    }

    func isDue(at now: Duration) -> Bool {
        switch progress {
        case .waiting: true
        case .pausing(let until, _): until <= now
        case .fetching, .fetched, .failed: false
        }
    }

    // MARK: - Playlist updates

    /// Records that later playlists list the segment under another number.
    mutating func renumber() { listing = .renumbered }

    /// Records that later playlists do not list the segment.
    mutating func remove(at now: Duration) { listing = .removed(at: removedAt ?? now) }

    /// Updates the URLs, whose tokens may be fresh, and records whether the segment is still listed.
    ///
    /// - Parameter cache: keys and maps that it holds keep their URLs.
    mutating func refresh(from playlist: MediaPlaylist, base: String, _ cache: ResourceCache, at now: Duration) {
        guard case .listed = listing, let window = playlist.window else { return }
        guard window.contains(segment.mediaSequence) else { return remove(at: now) }
        let listed = playlist.segment(segment.mediaSequence)
        // A manifest has announced it, and then revised its period.
        if listed.isGap { return remove(at: now) }
        if let fresh = try? SegmentRequests(listed, base: base, period: requests.period) {
            renew(fresh, cache, at: now)
        }
    }

    /// Updates the URLs from a playlist with other numbers and names, if that lists the segment by its date.
    mutating func rename(from playlist: MediaPlaylist, base: String, _ cache: ResourceCache, at now: Duration) {
        guard removedAt == nil, let date = segment.programDateTime,
            let listed = playlist.segment(at: date, lasting: segment.duration),
            let fresh = try? SegmentRequests(listed, base: base, period: requests.period)
        else { return remove(at: now) }
        renew(fresh, cache, at: now)
        listing = .renumbered
    }

    private mutating func renew(_ fresh: SegmentRequests, _ cache: ResourceCache, at now: Duration) {
        switch progress {
        case .waiting: requests = fresh
        case .pausing: renew(fresh, at: now)
        case .fetching: renewal = fresh
        case .fetched: requests = requests.replacingResources(from: fresh) { cache.state(of: $0) != .held }
        case .failed: break
        }
    }

    /// Updates the URLs of a segment whose attempt failed. Other ones may end the pause.
    private mutating func renew(_ fresh: SegmentRequests, at now: Duration) {
        guard case .pausing(_, let awaitsPlaylist) = progress else { return }
        let (old, new) = (requests.media, fresh.media)
        requests = fresh
        // Another host has not failed yet. URLs of the same host may differ in each playlist.
        guard awaitsPlaylist ? new != old : URIReference.host(of: new.url) != URIReference.host(of: old.url) else {
            return
        }
        progress = .pausing(until: max(now, retrySchedule.retryAfterEnd), awaitsPlaylist: false)
    }

    // MARK: - Attempts

    /// - Parameter byteLimit: the largest body, if it is less than that of a segment to deliver next.
    mutating func start(as id: FetchID, byteLimit: Int? = nil, at now: Duration) {
        (progress, renewal) = (.fetching(Attempt(first: id, startedAt: now, byteLimit: byteLimit)), nil)
        startedAt = now
        if byteLimit == nil { headStartedAt = headStartedAt ?? now }
    }

    /// The bytes of segments after the next one that its requests may bring.
    var reservedBytes: Int { attempt.map { ($0.byteLimit ?? 0) + $0.secondLimit } ?? 0 }

    /// Waits until nothing is delivered before the segment, if its body exceeded the smaller limit. Returns whether so.
    ///
    /// Another request for it goes on, if there is one.
    mutating func postpone(_ id: FetchID, after outcome: FetchOutcome, at now: Duration) -> Bool {
        guard let attempt, case .failure(let error) = outcome, error.reason == .tooLarge,
            id == attempt.second || attempt.byteLimit != nil
        else { return false }
        if let remaining = attempt.removing(id) {
            progress = .fetching(remaining)
        } else {
            progress = .waiting
            waitsForHead = true
            readyAt = now
        }
        return true
    }

    /// Returns to the state before the attempt in flight.
    mutating func abandonAttempt() {
        if attempt != nil { (progress, requests) = (.waiting, renewal ?? requests) }
    }

    mutating func race(as id: FetchID, byteLimit: Int) {
        guard var attempt else { return }
        attempt.second = id
        attempt.secondLimit = byteLimit
        attempt.hasRaced = true
        progress = .fetching(attempt)
    }

    /// Records the end of a request. Returns its failure, if it failed.
    ///
    /// If the body looks truncated in each of some attempts, the last one is accepted. For a body that is too short
    /// there is one more attempt, and the longer body is accepted.
    ///
    /// - Parameter acceptsShort: whether no other attempt is made for a body that is too short.
    mutating func settle(
        _ id: FetchID, _ request: FetchRequest, _ outcome: FetchOutcome, acceptsShort: Bool = true, at now: Duration
    ) -> FailedAttempt? {
        do {
            let media = try request.media(
                in: outcome, isEncrypted: requests.key != nil, mediaStart: LocatedMedia.start,
                acceptsShort: acceptsShort || shortBody != nil)
            accept(media)
            return nil
        } catch {
            let next = retrySchedule.failed(error, retryAfter: outcome.retryAfter, at: now)
            if let shortBody {
                accept(shortBody)
                return FailedAttempt(failure: error, failures: retrySchedule.failures, isLast: false)
            }
            if error == .tooShort { shortBody = try? request.media(in: outcome, acceptsTruncated: true) }
            if error == .truncated, retrySchedule.failures >= Self.truncatedTries,
                let media = try? request.media(in: outcome, acceptsTruncated: true)
            {
                progress = .fetched(body: media.body, url: media.url)
            } else if let remaining = attempt?.removing(id) {
                progress = .fetching(remaining)
            } else if let next {
                progress = .pausing(until: next, awaitsPlaylist: error.prospect == .newURL)
                if let renewal { renew(renewal, at: now) }
            } else {
                progress = .failed(error)
            }
            return FailedAttempt(failure: error, failures: retrySchedule.failures, isLast: next == nil)
        }
    }

    /// Ends the attempts with the short body, if there is one. Returns whether there is.
    mutating func acceptHeldBody() -> Bool {
        guard let shortBody else { return false }
        accept(shortBody)
        return true
    }

    /// Ends the attempts with `media`, or with the short body if that is longer.
    private mutating func accept(_ media: (body: [UInt8], url: String)) {
        let held = shortBody ?? media
        if shortBody != nil { shortRetryHelped = media.body.count > held.body.count }
        shortBody = nil
        let longer = media.body.count > held.body.count ? media : held
        progress = .fetched(body: longer.body, url: longer.url)
    }

    /// Ends a pause after an error, because the host answers again. Pauses after refusals go on.
    mutating func retryEarly(at now: Duration) {
        guard case .pausing = progress, !retrySchedule.isRefused else { return }
        progress = .pausing(until: max(now, retrySchedule.retryAfterEnd), awaitsPlaylist: false)
    }
}
