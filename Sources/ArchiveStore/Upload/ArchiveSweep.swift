import LiveRing
import Support

/// Removes objects older than the archive's length. Several relays with one prefix may do so at the same time.
///
/// A wrong clock must not cost an archive. Therefore the age is measured from the earlier of two times: the end of what
/// this relay published, and this machine's clock. Nothing is removed while the store's clock differs. If many hours
/// are due at once, a sweep removes one day of them and leaves the others to later sweeps.
struct ArchiveSweep: Sendable {
    /// The result of a sweep.
    struct Outcome: Equatable, Sendable {
        var removedObjects = 0
        /// Hours that are due, and wait for the next sweep.
        var waitingHours = 0
        /// The time by which the store's clock is ahead of this machine's, if nothing was removed because of it.
        var clockDifference: Duration?
    }

    /// The most hours whose objects one sweep removes.
    static let hoursAtOnce = 26
    static let longestClockDifference = Duration.seconds(300)
    private static let interval = Duration.seconds(600)
    /// The time between two queries for the end of the published media, as long as nothing was published.
    private static let startInterval = Duration.seconds(5)
    /// The pause after a sweep that the store refused, or that was interrupted.
    private static let failureInterval = Duration.seconds(60)
    /// The pause after a sweep that left expired hours, long enough to notice the removals in the log or the metrics.
    private static let waitingInterval = Duration.seconds(3600)
    /// The most pages of an hour's objects that one sweep removes; the next sweep removes more.
    private static let pagesAtOnce = 100
    /// The most keys to skip that are not hours.
    private static let foreignLimit = 64

    let store: ObjectStore
    let retention: Duration

    /// Sweeps until the task is canceled. If the store refuses, the sweep is retried.
    /// - Parameter published: the end of what this relay has published; nil: nothing so far.
    func run<C: Clock>(
        _ clock: C, published: @Sendable () -> ProgramDateTime?, observe: @Sendable (Outcome) -> Void
    ) async where C.Duration == Duration {
        while !Task.isCancelled {
            guard let end = published() else {
                try? await clock.sleep(for: Self.startInterval)
                continue
            }
            guard let outcome = try? await sweep(publishedUntil: end) else {
                try? await clock.sleep(for: Self.failureInterval)
                continue
            }
            observe(outcome)
            try? await clock.sleep(for: outcome.waitingHours > 0 ? Self.waitingInterval : Self.interval)
        }
    }

    /// Removes the indexes of an hour before its objects, so that no reader finds an index of removed objects.
    func sweep(publishedUntil end: ProgramDateTime) async throws(StoreError) -> Outcome {
        var outcome = Outcome()
        let oldest = Self.oldestHour(at: min(end, store.date), keeping: retention)
        var hours: Set<Int64> = []
        for folder in [IndexKey.folder, IndexKey.mediaFolder] {
            hours.formUnion(try await expired(in: folder, before: oldest))
        }
        let due = hours.sorted()
        if due.count > Self.hoursAtOnce { outcome.waitingHours = Int(clamping: oldest - due[Self.hoursAtOnce]) }
        for hour in due.prefix(Self.hoursAtOnce) {
            for folder in [IndexKey.folder, IndexKey.mediaFolder] {
                guard try await remove("\(folder)\(IndexKey.name(ofHour: hour))/", &outcome) else {
                    outcome.waitingHours = 0
                    return outcome
                }
            }
        }
        return outcome
    }

    /// The oldest expired hours of a folder: at most one more than a sweep removes.
    private func expired(in folder: String, before oldest: Int64) async throws(StoreError) -> [Int64] {
        var (hours, foreign, last) = ([Int64](), 0, String?.none)
        while hours.count <= Self.hoursAtOnce, foreign < Self.foreignLimit {
            guard let key = try await store.page(folder, after: last, limit: 1).objects.first?.key else { break }
            let name = key.dropFirst(folder.count).prefix { $0 != "/" }
            guard let hour = IndexKey.hour(named: name) else {
                (foreign, last) = (foreign + 1, key)
                continue
            }
            guard hour < oldest else { break }
            hours.append(hour)
            // Skips all keys of the hour, because a tilde sorts after all characters of names.
            last = "\(folder)\(name)/~"
        }
        return hours
    }

    /// Removes the objects of a folder.
    /// - Returns: false if the clocks differ.
    private func remove(_ folder: String, _ outcome: inout Outcome) async throws(StoreError) -> Bool {
        var last: String?
        for _ in 0..<Self.pagesAtOnce {
            let page = try await store.page(folder, after: last)
            if let difference = store.clockDifference, abs(difference) > Self.longestClockDifference {
                outcome.clockDifference = difference
                return false
            }
            for object in page.objects {
                try await store.remove(object.key)
                outcome.removedObjects += 1
            }
            last = page.objects.last?.key
            if page.isLast || last == nil { break }
        }
        return true
    }

    /// The oldest hour that is at least partly in the archive.
    static func oldestHour(at date: ProgramDateTime, keeping retention: Duration) -> Int64 {
        IndexKey.hour(of: date.advanced(byMilliseconds: -retention.components.seconds * 1000))
    }
}

private func abs(_ duration: Duration) -> Duration { duration < .zero ? .zero - duration : duration }

extension ObjectStore {
    func index(_ key: IndexKey) async throws(StoreError) -> ArchiveIndex {
        let text = try await bytes(of: key.text)
        do throws(RingError) { return try ArchiveIndex(text, name: key.text) } catch {
            throw StoreError(.badIndex(error), object: name(of: key.text))
        }
    }
}
