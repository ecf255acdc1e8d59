import Playlist

/// A segment that is listed and not delivered yet.
struct PendingSegment: Sendable {
    enum Progress: Sendable {
        case waiting
        case fetching(FetchID)
        /// - Parameter awaitsPlaylist: whether a newer playlist ends the pause.
        case pausing(until: Duration, awaitsPlaylist: Bool)
        case fetched(body: [UInt8], url: String)
        case failed(FetchFailure)
    }

    private enum Listing {
        /// In the playlist loaded last, under its number.
        case listed
        /// In the playlist loaded last, under another number.
        case renumbered
        case removed
    }

    let segment: MediaSegment
    private(set) var requests: SegmentRequests
    let listedAt: Duration
    let listedDateRanges: [DateRange]
    private(set) var progress = Progress.waiting
    private var listing = Listing.listed
    /// A body that ended with its connection and is much shorter than its EXTINF. It is used if no longer one comes.
    private var shortBody: (body: [UInt8], url: String)?
    /// Whether another attempt brought a longer body than the short one; nil without such an attempt.
    private(set) var shortRetryHelped: Bool?
    /// nil before the first attempt.
    private(set) var budget: RetryBudget?

    init(_ segment: MediaSegment, _ requests: SegmentRequests, dateRanges: [DateRange], at now: Duration) {
        self.segment = segment
        self.requests = requests
        listedAt = now
        listedDateRanges = dateRanges
    }

    /// Whether the URL was refused and a newer playlist may have another one.
    var awaitsPlaylist: Bool {
        if case .pausing(_, awaitsPlaylist: true) = progress { true } else { false }
    }

    /// Whether an attempt can start.
    func isDue(at now: Duration) -> Bool {
        switch progress {
        case .waiting: true
        case .pausing(let until, _): until <= now
        case .fetching, .fetched, .failed: false
        }
    }
}

// MARK: - Playlist updates

extension PendingSegment {
    /// Records that later playlists do not have the segment under its number.
    ///
    /// - Parameter isRemoved: false if they list it under another number.
    mutating func detachNumber(isRemoved: Bool) { listing = isRemoved ? .removed : .renumbered }

    /// Updates the URLs, whose tokens may be fresh, and records whether the segment is still listed.
    ///
    /// - Parameter cache: keys and maps that it holds keep their URLs.
    mutating func refresh(from playlist: MediaPlaylist, base: String, _ cache: ResourceCache) {
        guard listing == .listed, let window = playlist.window else { return }
        listing = window.contains(segment.mediaSequence) ? .listed : .removed
        guard listing == .listed,
            let fresh = try? SegmentRequests(playlist.segment(segment.mediaSequence), base: base)
        else { return }
        switch progress {
        case .waiting, .pausing(_, awaitsPlaylist: false): requests = fresh
        case .pausing(_, awaitsPlaylist: true):
            requests = fresh
            progress = .waiting
        case .fetched: requests = requests.replacingResources(from: fresh) { cache.state(of: $0) != .held }
        case .fetching, .failed: break
        }
    }
}

// MARK: - Attempts

extension PendingSegment {
    mutating func start(as id: FetchID, targetDuration: Duration, at now: Duration) {
        progress = .fetching(id)
        budget = budget ?? RetryBudget(targetDuration: targetDuration, at: now)
    }

    /// Records the end of an attempt. Returns its failure, if it failed.
    ///
    /// After the last attempt a body that looks truncated is accepted. For a body that is too short there is one more
    /// attempt, and the longer body is accepted.
    /// - Parameter acceptsShort: whether no other attempt is made for a body that is too short.
    mutating func settle(
        _ request: FetchRequest, _ outcome: FetchOutcome, acceptsShort: Bool = true, at now: Duration
    ) -> FailedAttempt? {
        do {
            let media = try request.media(
                in: outcome, isEncrypted: requests.key != nil, acceptsShort: acceptsShort || shortBody != nil)
            accept(media)
            return nil
        } catch {
            let next = nextTry(after: error, outcome.retryAfter, at: now)
            if error == .tooShort {
                shortBody = try? request.media(in: outcome, acceptsTruncated: true)
            }
            if let next {
                progress = .pausing(until: next, awaitsPlaylist: error.prospect == .newURL)
            } else if let shortBody {
                progress = .fetched(body: shortBody.body, url: shortBody.url)
                self.shortBody = nil
            } else if error == .truncated, let media = try? request.media(in: outcome, acceptsTruncated: true) {
                progress = .fetched(body: media.body, url: media.url)
            } else {
                progress = .failed(error)
            }
            return FailedAttempt(failure: error, failures: budget?.failures ?? 1, isLast: next == nil)
        }
    }

    /// Ends the attempts with `media`, or with the short body if that is longer.
    private mutating func accept(_ media: (body: [UInt8], url: String)) {
        let held = shortBody ?? media
        if shortBody != nil { shortRetryHelped = media.body.count > held.body.count }
        shortBody = nil
        let longer = media.body.count > held.body.count ? media : held
        progress = .fetched(body: longer.body, url: longer.url)
    }

    private mutating func nextTry(after failure: FetchFailure, _ retryAfter: Duration?, at now: Duration) -> Duration? {
        let verdict = budget?.failed(failure.prospect, retryAfter: retryAfter, isListed: listing != .removed, at: now)
        if case .retry(let next) = verdict { return next }
        return nil
    }
}
