import Fetch
package import LiveRing
import Support
import Synchronization

/// Puts what one channel publishes into a store: the only code of an upload that waits.
package final class ArchiveUploader<C: Clock>: Sendable where C.Duration == Duration {
    package enum Report: Equatable, Sendable {
        /// The store takes nothing since a moment. Said once until it takes something again, and for each other reason.
        case failing(StoreError)
        case recovered(after: Duration)
        /// A segment is not in the archive, because its files left the spool before the store took them. Others follow until
        /// the store has caught up.
        case losing(mediaSequence: UInt64)
        /// Said once, when the store has caught up or the upload ends.
        case lost(ArchiveUpload.Loss)
    }

    package struct Status: Equatable, Sendable {
        package var counts = ArchiveUpload.Counts()
        package var pendingSegments = 0
        /// nil while the store takes what it is given.
        package var error: StoreError?
    }

    private struct State {
        var status = Status()
        var failing: (error: StoreError, since: Duration)?
        /// The newest loss that was said.
        var loss: ArchiveUpload.Loss?
        var isClosing = false
    }

    /// How often the ring is looked at.
    private static var interval: Duration { .seconds(1) }
    private static var maxEntriesAtOnce: Int { 1024 }

    private let store: ObjectStore
    private let clock: C
    private let retention: Duration?
    private let state = Mutex(State())
    private let report: @Sendable (Report) -> Void
    private let initial: ArchiveUpload

    /// - Parameters:
    ///   - writer: lowercase letters and digits that no other relay of the prefix has.
    ///   - retention: objects that are older are removed; nil: the store's own rules do it.
    package init(
        _ store: ObjectStore, writer: String, policy: ArchiveUpload.Policy = ArchiveUpload.Policy(),
        retention: Duration?, clock: C, report: @escaping @Sendable (Report) -> Void
    ) {
        (self.store, self.clock, self.retention, self.report) = (store, clock, retention, report)
        initial = ArchiveUpload(policy, writer: writer)
    }

    /// Lets the upload end as soon as the store has what is published.
    package func close() { state.withLock { $0.isClosing = true } }

    /// Uploads until it is closed, or the task is canceled.
    /// - Parameters:
    ///   - snapshot: returns the newest state of the channel's ring.
    ///   - observe: gets the status about once a second.
    package func run(
        _ snapshot: @escaping @Sendable () -> RingSnapshot?, observe: @escaping @Sendable (Status) -> Void
    ) async {
        await withTaskGroup(of: Void.self) { group in
            if let retention {
                group.addTask { [self] in await ArchiveSweep(store: store, retention: retention).run(clock) }
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
            let input = await carryOut(step, in: ring, since: start)
            guard !Task.isCancelled else { return }
            next = upload.handle(input, at: start.duration(to: clock.now))
            record(upload, observe)
        }
    }

    private var isClosing: Bool { state.withLock { $0.isClosing } }

    /// The segments that were published since, a limited number of them.
    private func news(of ring: RingSnapshot, after upload: ArchiveUpload) -> ArchiveUpload.Input {
        let number = max(upload.nextMediaSequence, ring.index.oldestMediaSequence)
        let entries = (0..<Self.maxEntriesAtOnce).lazy.map { ring.index.entry(numbered: number + UInt64($0)) }
            .prefix { $0 != nil }.compactMap(\.self)
        return .published(Array(entries), like: ArchiveIndex(like: ring))
    }

    private func carryOut(
        _ step: ArchiveUpload.Step, in ring: RingSnapshot, since start: C.Instant
    ) async -> ArchiveUpload.Input {
        do throws(StoreError) {
            let input = try await perform(step, in: ring)
            recordSuccess(at: start.duration(to: clock.now))
            return input
        } catch {
            if case .cache = error.reason { return .lost }
            recordFailure(error, at: start.duration(to: clock.now))
            return .failed(retryAfter: error.retryAfter)
        }
    }

    private func perform(
        _ step: ArchiveUpload.Step, in ring: RingSnapshot
    ) async throws(StoreError) -> ArchiveUpload.Input {
        switch step {
        case .findEnd(let writer):
            let keys = try await store.list(IndexKey.folder).compactMap { IndexKey($0.key) }
            let last = keys.filter { $0.writer == writer }.max { $0.firstMediaSequence < $1.firstMediaSequence }
            guard let last else { return .foundNothing }
            return .foundEnd(last, try await store.index(last))
        case .putShared(let file):
            try await store.put(IndexKey.key(ofShared: file.name), read([file], in: ring), type: Self.mediaType)
        case .putObject(let files, let part):
            let bytes = try read(files, in: ring)
            guard let digest = SHA256.digest(of: bytes) else { return .failed(retryAfter: nil) }
            let name = "\(Hexadecimal.encode(digest)).m4s"
            try await store.put(part.key(ofObject: name), bytes, type: Self.mediaType)
            return .done(object: name)
        case .putIndex(let key, let index):
            try await store.put(key.text, index.text, type: "application/vnd.apple.mpegurl")
        }
        return .done()
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
