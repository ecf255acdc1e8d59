import Fetch
package import LiveRing
import Support
import Synchronization

/// Puts the published segments of one channel into a store. No other code of an upload waits.
package final class ArchiveUploader<C: Clock>: Sendable where C.Duration == Duration {
    package enum Report: Equatable, Sendable {
        /// The store accepts nothing. Reported once until it accepts something again, and once for each other reason.
        case failing(StoreError)
        case recovered(after: Duration)
        /// A segment is not in the archive, because its files left the spool before they were put. More segments follow
        /// until the store has caught up.
        case losing(mediaSequence: UInt64)
        /// Reported once, when the store has caught up or the upload ends.
        case lost(ArchiveUpload.Loss)
        /// Indexes of an earlier run cannot be read. They were moved to keys that end in `.damaged`, and the segments
        /// after the last readable index are put again.
        case setAside(StoreError)
        /// The writer changed its name.
        case renamed(ArchiveUpload.NameChange)
        /// Another relay with the same prefix removes objects older than `theirs`. `own` is the own length; nil if this
        /// relay removes nothing.
        case otherRetention(theirs: Duration, own: Duration?)
        /// Nothing is removed, because the store's clock is ahead by this much. Reported once until the clocks agree
        /// again.
        case clockDiffers(Duration)
        /// This many hours are older than the archive. They are removed one day at a time.
        case expired(hours: Int)
    }

    package struct Status: Equatable, Sendable {
        package var counts = ArchiveUpload.Counts()
        package var pendingSegments = 0
        /// Expired hours of the archive that are still to be removed.
        package var expiredHours = 0
        /// nil while the store accepts what is put.
        package var error: StoreError?
    }

    private struct State {
        var status = Status()
        var failing: (error: StoreError, since: Duration)?
        /// The newest loss that was reported.
        var loss: ArchiveUpload.Loss?
        var isClosing = false
        /// The end of the published media.
        var publishedEnd: ProgramDateTime?
        var clockDifference: Duration?
        /// The claim of this run under the writer's name.
        var claim: (writer: String, date: ProgramDateTime)?
    }

    /// The time between two checks of the ring.
    private static var interval: Duration { .seconds(1) }
    private static var maxEntriesAtOnce: Int { 1024 }
    /// The most unreadable indexes of an earlier run that are set aside.
    private static var damagedLimit: Int { 16 }
    /// The age in milliseconds at which a claim is renewed, and at which another relay's claim is ignored.
    private static var claimInterval: Int64 { 86_400_000 }
    private static var claimValidity: Int64 { 3 * claimInterval }
    /// The most claims of other relays that are read.
    private static var claimLimit: Int { 16 }

    private let store: ObjectStore
    private let clock: C
    private let retention: Duration?
    private let state = Mutex(State())
    private let report: @Sendable (Report) -> Void
    private let makeName: @Sendable () -> String
    private let run: String
    private let initial: ArchiveUpload

    /// - Parameters:
    ///   - writer: a name of lowercase letters and digits that no other relay of the prefix uses.
    ///   - run: differs for every process.
    ///   - retention: older objects are removed; nil: the store's own rules remove them.
    ///   - makeName: returns an unused name for the writer, which its next process uses too.
    package init(
        _ store: ObjectStore, writer: String, run: String, policy: ArchiveUpload.Policy = ArchiveUpload.Policy(),
        retention: Duration?, clock: C, makeName: @escaping @Sendable () -> String,
        report: @escaping @Sendable (Report) -> Void
    ) {
        (self.store, self.clock, self.retention, self.report) = (store, clock, retention, report)
        (self.run, self.makeName) = (run, makeName)
        initial = ArchiveUpload(policy, writer: writer)
    }

    /// Ends the upload as soon as everything published is in the store.
    package func close() { state.withLock { $0.isClosing = true } }

    /// Uploads until it is closed, or the task is canceled.
    /// - Parameters:
    ///   - snapshot: returns the newest state of the channel's ring.
    ///   - observe: called with the status about once a second.
    package func run(
        _ snapshot: @escaping @Sendable () -> RingSnapshot?, observe: @escaping @Sendable (Status) -> Void
    ) async {
        await withTaskGroup(of: Void.self) { group in
            if let retention {
                group.addTask { [self] in
                    await ArchiveSweep(store: store, retention: retention).run(
                        clock, published: { state.withLock { $0.publishedEnd } }, observe: record)
                }
            }
            await upload(snapshot, observe)
            if let loss = state.withLock({ $0.loss }), !loss.isOver { report(.lost(loss)) }
            group.cancelAll()
        }
    }

    private func upload(_ snapshot: @Sendable () -> RingSnapshot?, _ observe: @Sendable (Status) -> Void) async {
        let start = clock.now
        var (upload, next): (ArchiveUpload, ArchiveUpload.Step?) = (initial, nil)
        while !Task.isCancelled {
            let ring = snapshot()
            if let end = ring?.newest?.programDateTimeEnd { state.withLock { $0.publishedEnd = end } }
            let now = start.duration(to: clock.now)
            if let ring, next == nil {
                next = upload.handle(.evicted(before: ring.index.oldestMediaSequence), at: now)
                next = upload.handle(news(of: ring, after: upload), at: now) ?? next
                next = upload.handle(isClosing ? .closing : .tick, at: now) ?? next
            }
            guard let step = next, let ring else {
                record(upload, observe)
                if isClosing, ring == nil || upload.isFinished { return }
                try? await clock.sleep(for: isClosing ? Self.interval / 10 : Self.interval)
                continue
            }
            let input = await carryOut(step, of: upload, in: ring, since: start)
            guard !Task.isCancelled else { return }
            next = upload.handle(input, at: start.duration(to: clock.now))
            record(upload, observe)
        }
    }

    private var isClosing: Bool { state.withLock { $0.isClosing } }

    /// The segments published since the last input, a limited number of them.
    private func news(of ring: RingSnapshot, after upload: ArchiveUpload) -> ArchiveUpload.Input {
        let number = max(upload.nextMediaSequence, ring.index.oldestMediaSequence)
        let entries = (0..<Self.maxEntriesAtOnce).lazy.map { ring.index.entry(numbered: number + UInt64($0)) }
            .prefix { $0 != nil }.compactMap(\.self)
        return .published(Array(entries), like: ArchiveIndex(like: ring))
    }

    private func carryOut(
        _ step: ArchiveUpload.Step, of upload: ArchiveUpload, in ring: RingSnapshot, since start: C.Instant
    ) async -> ArchiveUpload.Input {
        do throws(StoreError) {
            let input = try await perform(step, in: ring, as: upload.writer)
            recordSuccess(at: start.duration(to: clock.now))
            return input
        } catch {
            if case .cache = error.reason { return .lost }
            recordFailure(error, at: start.duration(to: clock.now))
            return .failed(retryAfter: error.retryAfter)
        }
    }

    private func perform(
        _ step: ArchiveUpload.Step, in ring: RingSnapshot, as writer: String
    ) async throws(StoreError) -> ArchiveUpload.Input {
        switch step {
        case .findEnd(let writer):
            try await claim(writer)
            return try await findEnd(of: writer, continuedBy: ring)
        case .takeName(let change):
            let name = makeName()
            try await claim(name)
            report(.renamed(change))
            return .named(name)
        case .putShared(let file):
            try await store.put(IndexKey.key(ofShared: file.name), read([file], in: ring), type: Self.mediaType)
        case .putObject(let files, let part):
            let bytes = try read(files, in: ring)
            guard let digest = SHA256.digest(of: bytes) else { return .failed(retryAfter: nil) }
            let name = "\(Hexadecimal.encode(digest)).m4s"
            try await store.put(part.key(ofObject: name), bytes, type: Self.mediaType)
            return .done(object: name)
        case .putIndex(let key, let index):
            guard try await isClaimed(writer) else { return .taken }
            try await store.put(key.text, index.text, type: "application/vnd.apple.mpegurl")
        }
        return .done()
    }

    // MARK: - The writer's name

    /// Puts a claim that this process writes under a name.
    private func claim(_ writer: String) async throws(StoreError) {
        let isFirst = state.withLock { $0.claim == nil }
        let claim = WriterClaim(run: run, retention: retention?.components.seconds, date: store.date)
        try await store.put(WriterClaim.key(of: writer), claim.text, type: "text/plain")
        state.withLock { $0.claim = (writer, claim.date) }
        if isFirst { try? await compareRetentions(with: claim, of: writer) }
    }

    /// Whether the newest claim to a name is this process's. A missing or unreadable claim is put again.
    private func isClaimed(_ writer: String) async throws(StoreError) -> Bool {
        let isRecent = state.withLock { state in
            state.claim.map { $0.writer == writer && store.date.milliseconds(since: $0.date) < Self.claimInterval }
        }
        do throws(StoreError) {
            if let found = WriterClaim(try await store.bytes(of: WriterClaim.key(of: writer))) {
                guard found.run == run else { return false }
                if isRecent == true { return true }
            }
        } catch { if error.reason != .noObject { throw error } }
        try await claim(writer)
        return true
    }

    /// Reports if relays of one prefix keep it for different times; the shortest time applies to all.
    private func compareRetentions(with own: WriterClaim, of writer: String) async throws(StoreError) {
        let others = try await store.page(WriterClaim.folder).objects.filter { $0.key != WriterClaim.key(of: writer) }
        for object in others.suffix(Self.claimLimit) {
            guard let other = WriterClaim(try await store.bytes(of: object.key)), other.retention != own.retention,
                let seconds = other.retention, own.date.milliseconds(since: other.date) < Self.claimValidity
            else { continue }
            report(.otherRetention(theirs: .seconds(seconds), own: retention))
        }
    }

    /// Finds the last readable index of a writer: mostly in the hours that the ring contains, otherwise earlier. Newer,
    /// unreadable indexes are set aside.
    private func findEnd(
        of writer: String, continuedBy ring: RingSnapshot
    ) async throws(StoreError) -> ArchiveUpload.Input {
        let next = ring.index.nextMediaSequence
        let hour = ring.index.entry(numbered: ring.index.oldestMediaSequence).map {
            IndexKey.hour(of: $0.programDateTime) - 1
        }
        var keys = try await newestKeys(of: writer, from: hour)
        if keys.isEmpty, hour != nil { keys = try await newestKeys(of: writer, from: nil) }
        for key in keys.reversed() {
            do throws(StoreError) { return .foundEnd(key, try await store.index(key), next: next) } catch {
                switch error.reason {
                case .badIndex: try await setAside(key, because: error)
                case .noObject: break
                default: throw error
                }
            }
        }
        return .foundNothing
    }

    private func newestKeys(of writer: String, from hour: Int64?) async throws(StoreError) -> [IndexKey] {
        var keys: [IndexKey] = []
        try await store.forEachPage(IndexKey.folder, after: hour.map(IndexKey.folder(ofHour:))) { page in
            keys += page.compactMap { IndexKey($0.key) }.filter { $0.writer == writer }
            keys.sort { $0.firstMediaSequence < $1.firstMediaSequence }
            keys = keys.suffix(Self.damagedLimit)
            return true
        }
        return keys
    }

    /// Copies an unreadable index and removes the original. The copy leaves the archive with its hour.
    private func setAside(_ key: IndexKey, because error: StoreError) async throws(StoreError) {
        store.recordDamage(error)
        try await store.put(
            "\(key.text).damaged", try await store.bytes(of: key.text), type: "application/octet-stream")
        // If this relay may not remove objects, readers skip the index.
        try? await store.remove(key.text)
        report(.setAside(error))
    }

    private func read(_ files: [SpoolFile], in ring: RingSnapshot) throws(StoreError) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(files.reduce(0) { $0 + $1.byteCount })
        for file in files {
            do throws(RingError) { bytes += try ring.bytes(of: file) } catch {
                throw StoreError(.cache(error), object: store.name(of: file.name))
            }
        }
        return bytes
    }

    private static var mediaType: String { "video/mp4" }

    // MARK: - Status

    private func record(_ sweep: ArchiveSweep.Outcome) {
        let (lastDifference, lastHours) = state.withLock { state in
            defer { (state.clockDifference, state.status.expiredHours) = (sweep.clockDifference, sweep.waitingHours) }
            return (state.clockDifference, state.status.expiredHours)
        }
        if let difference = sweep.clockDifference, lastDifference == nil { report(.clockDiffers(difference)) }
        if sweep.waitingHours > 0, sweep.waitingHours != lastHours { report(.expired(hours: sweep.waitingHours)) }
    }

    private func recordSuccess(at now: Duration) {
        let since = state.withLock { state in
            defer { state.failing = nil }
            state.status.error = nil
            return state.failing?.since
        }
        if let since { report(.recovered(after: now - since)) }
    }

    private func recordFailure(_ error: StoreError, at now: Duration) {
        let isNew = state.withLock { state in
            defer { state.failing = (error, state.failing?.since ?? now) }
            state.status.error = error
            return state.failing?.error.reason != error.reason
        }
        if isNew { report(.failing(error)) }
    }

    private func record(_ upload: ArchiveUpload, _ observe: (Status) -> Void) {
        let (said, status) = state.withLock { state in
            defer { state.loss = upload.loss }
            (state.status.counts, state.status.pendingSegments) = (upload.counts, upload.pendingSegments)
            return (state.loss, state.status)
        }
        observe(status)
        guard let loss = upload.loss, loss != said else { return }
        if loss.isOver {
            report(.lost(loss))
        } else if loss.number != said?.number {
            report(.losing(mediaSequence: loss.first))
        }
    }
}
