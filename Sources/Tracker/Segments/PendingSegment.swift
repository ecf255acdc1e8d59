import Playlist

/// One segment between being listed and being delivered.
struct PendingSegment: Sendable {
    enum Progress: Sendable {
        case waiting
        case fetching(FetchID)
        /// - Parameter awaitsList: until a newer list comes, if that is sooner.
        case pausing(until: Duration, awaitsList: Bool)
        case fetched(body: [UInt8], url: String)
        case failed(FetchFailure)
    }

    private enum Listing {
        /// In the playlist as last loaded, under its number.
        case listed
        /// In it under another number.
        case renumbered
        case removed
    }

    let segment: MediaSegment
    private(set) var requests: SegmentRequests
    let listedAt: Duration
    let listedDateRanges: [DateRange]
    private(set) var progress = Progress.waiting
    private var listing = Listing.listed
    /// Starts with the first try.
    private(set) var budget: RetryBudget?

    init(_ segment: MediaSegment, _ requests: SegmentRequests, dateRanges: [DateRange], at now: Duration) {
        self.segment = segment
        self.requests = requests
        listedAt = now
        listedDateRanges = dateRanges
    }

    /// It was refused, and a newer list may have another address.
    var awaitsPlaylist: Bool {
        if case .pausing(_, awaitsList: true) = progress { true } else { false }
    }

    /// A try can start.
    func isDue(at now: Duration) -> Bool {
        switch progress {
        case .waiting: true
        case .pausing(let until, _): until <= now
        case .fetching, .fetched, .failed: false
        }
    }
}

// MARK: - What a list says

extension PendingSegment {
    /// The lists to come have nothing to say of it.
    /// - Parameter isGone: false where they list it under another number.
    mutating func detachNumber(isGone: Bool) { listing = isGone ? .removed : .renumbered }

    /// Takes over fresh addresses, whose tokens live longer, and notes that it has left the list.
    ///
    /// - Parameter shelf: what it holds need not be fetched from another address.
    mutating func refresh(from list: MediaPlaylist, base: String, _ shelf: ResourceCache) {
        guard listing == .listed, let window = list.window else { return }
        listing = window.contains(segment.mediaSequence) ? .listed : .removed
        guard listing == .listed, let fresh = try? SegmentRequests(list.segment(segment.mediaSequence), base: base)
        else {
            return
        }
        switch progress {
        case .waiting, .pausing(_, awaitsList: false): requests = fresh
        case .pausing(_, awaitsList: true):
            requests = fresh
            progress = .waiting
        case .fetched: requests = requests.replacing(with: fresh) { shelf.state(of: $0) != .held }
        case .fetching, .failed: break
        }
    }
}

// MARK: - Trying

extension PendingSegment {
    mutating func start(as id: FetchID, targetDuration: Duration, at now: Duration) {
        progress = .fetching(id)
        budget = budget ?? RetryBudget(targetDuration: targetDuration, at: now)
    }

    /// A try ended. Returns what went wrong, if it did; a body that looks cut short is taken when no try is left.
    mutating func settle(_ request: FetchRequest, _ outcome: FetchOutcome, at now: Duration) -> FailedAttempt? {
        do {
            let media = try request.media(in: outcome, isEncrypted: requests.key != nil)
            progress = .fetched(body: media.body, url: media.url)
            return nil
        } catch {
            let next = nextTry(after: error, outcome.retryAfter, at: now)
            if let next {
                progress = .pausing(until: next, awaitsList: error.prospect == .newURL)
            } else if error == .truncated, let media = try? request.media(in: outcome, acceptsTruncated: true) {
                progress = .fetched(body: media.body, url: media.url)
            } else {
                progress = .failed(error)
            }
            return FailedAttempt(failure: error, failures: budget?.failures ?? 1, isLast: next == nil)
        }
    }

    private mutating func nextTry(after failure: FetchFailure, _ retryAfter: Duration?, at now: Duration) -> Duration? {
        let verdict = budget?.failed(failure.prospect, retryAfter: retryAfter, isListed: listing != .removed, at: now)
        if case .retry(let next) = verdict { return next }
        return nil
    }
}
