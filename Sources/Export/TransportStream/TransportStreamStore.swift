package import LiveRing
import Media
package import Mux
import Playlist
package import Support
import Synchronization

/// Makes the transport streams of published segments and keeps the latest used, so that any number of viewers share them.
package actor TransportStreamStore {
    package struct Counts: Equatable, Sendable {
        /// Segments written, those that were written again included.
        package internal(set) var segments = 0
        /// Segments that could not be written.
        package internal(set) var failures = 0
        /// Frames in a foreign codec that are not in the transport streams written.
        package internal(set) var foreignFrames = 0
        package internal(set) var stills = 0
        package internal(set) var foreignAudioFrames = 0
        package internal(set) var silentFrames = 0
        package internal(set) var oversizeUnits = 0
        package internal(set) var loweredDecodeTimes = 0
        package internal(set) var lateAudioFrames = 0
    }

    private struct Key: Hashable {
        /// The name of the segment's file.
        let name: String
        var shift = Ticks.zero
        var earlyAudio = EarlyAudio.kept
    }

    private typealias Outcome = Result<TransportStreamSource.Written, TransportStreamError>

    /// Bytes that are kept, of one segment at least.
    package static let byteLimit = 32 << 20

    /// Segments older than the live playlist that requests may wait for at once.
    static let pendingLimit = 8

    private struct Weak {
        weak var held: HeldBytes?
    }

    private let byteLimit: Int
    private nonisolated let memory: SegmentMemory
    /// Segments that clients are being sent, as files.
    private let budget: ByteBudget
    private var sent: [Key: Weak] = [:]
    private var made: LRUCache<Key, TransportSegment>
    private var pending: [Key: Task<Outcome, Never>] = [:]
    private nonisolated let latestCounts = Mutex(Counts())

    package init(byteLimit: Int = TransportStreamStore.byteLimit) {
        self.byteLimit = byteLimit
        made = LRUCache(limit: byteLimit)
        memory = SegmentMemory(byteLimit: byteLimit / 4)
        budget = ByteBudget(limit: 2 * byteLimit)
    }

    /// Bytes of the segments that clients are being sent, each segment once.
    package nonisolated var heldBytes: Int { budget.heldBytes }

    /// The transport stream of a published segment as a file. All clients that are being sent a segment share its bytes.
    ///
    /// Segments of the live playlist, which are few, are refused last: those that are held may have twice the bytes then.
    /// - Parameter slate: is in the place of the segment; nil: it is as it was published.
    /// - Throws: `.busy` if clients hold too many bytes of other segments, or wait for too many.
    package func file(
        of entry: RingEntry, in snapshot: RingSnapshot, replacedBy slate: BreakSlate? = nil
    ) async throws(TransportStreamError) -> HeldBytes {
        let record = slate?.record(for: entry) ?? entry
        let key = Key(name: record.segment.name)
        if let known = sent[key]?.held { return known }
        let isLive = entry.mediaSequence + UInt64(snapshot.liveSegmentCount) >= snapshot.index.nextMediaSequence
        guard isLive || pending[key] != nil || pending.count < Self.pendingLimit else { throw .busy }
        guard hasRoom(isLive) else { throw .busy }
        let segment: TransportSegment
        if let slate {
            segment = try await self.segment(inPlaceOf: entry, in: snapshot, from: slate).segment
        } else {
            segment = try await self.segment(of: entry, in: snapshot)
        }
        if let known = sent[key]?.held { return known }
        guard hasRoom(isLive) else { throw .busy }
        let held = budget.hold(segment.bytes)
        sent = sent.filter { $0.value.held != nil }
        sent[key] = Weak(held: held)
        return held
    }

    private func hasRoom(_ isLive: Bool) -> Bool { budget.heldBytes < budget.limit * (isLive ? 2 : 1) }

    /// Counts since the process began. Reading them does not wait for the actor.
    package nonisolated var counts: Counts { latestCounts.withLock { $0 } }

    /// The transport stream of a published segment. Several callers at once wait for the same work.
    package func segment(
        of entry: RingEntry, in snapshot: RingSnapshot, earlyAudio: EarlyAudio = .kept
    ) async throws(TransportStreamError) -> TransportSegment {
        let key = Key(name: entry.segment.name, earlyAudio: earlyAudio)
        var snapshot = snapshot
        if snapshot.remote != nil, made.value(key) == nil {
            snapshot = await snapshot.fetching(entry.ownFiles + entry.sharedFiles)
        }
        let source = TransportStreamSource(snapshot, memory: memory)
        return try await segment(as: key, isShared: !snapshot.hasOneReader) {
            Outcome { () throws(TransportStreamError) in try source.write(entry, earlyAudio: earlyAudio) }
        }
    }

    /// The transport stream of the slate in the place of a published segment, and the entry that it is made of.
    package func segment(
        inPlaceOf entry: RingEntry, in snapshot: RingSnapshot, from slate: BreakSlate
    ) async throws(TransportStreamError) -> (segment: TransportSegment, entry: RingEntry) {
        guard let record = slate.record(for: entry) else { throw .noMedia }
        let source = TransportStreamSource(snapshot, memory: memory)
        let segment = try await segment(as: Key(name: record.segment.name)) {
            Outcome { () throws(TransportStreamError) in
                guard let file = slate.segment(for: entry) else { throw .noMedia }
                return try source.write(record, file: file)
            }
        }
        return (segment, record)
    }

    /// A segment as it is sent at a place of a client's clock, and the clock packets of the pause before it. Clients that
    /// were there at the same gaps share the bytes.
    package func place(
        _ segment: TransportSegment, of entry: RingEntry, at placement: ClientClock.Placement,
        earlyAudio: EarlyAudio = .kept
    ) async -> (pause: [UInt8], segment: TransportSegment) {
        let key = Key(name: entry.segment.name, shift: placement.shift, earlyAudio: earlyAudio)
        let moved =
            placement.shift == .zero
            ? segment
            : try? await self.segment(as: key) {
                .success(.init(segment: segment.earlier(by: placement.shift), replacements: .init()))
            }
        let program = entry.transportStream.flatMap { TransportStreamState($0)?.program }
        let pause = placement.pause.isEmpty ? nil : program.map { TransportTimeShift.clock(placement.pause, of: $0) }
        return (pause ?? [], moved ?? segment)
    }

    /// - Parameter isShared: whether others may ask for the segment. If none does, it is made on this thread, and takes all
    ///   of the room, so that the memory of those before it is used again.
    private func segment(
        as key: Key, isShared: Bool = true, _ write: @escaping @Sendable () -> Outcome
    ) async throws(TransportStreamError) -> TransportSegment {
        if let known = made.value(key) { return known }
        guard isShared else {
            let outcome = write()
            record(outcome, as: key, isShared: false)
            return try outcome.get().segment
        }
        if let task = pending[key] { return try await task.value.get().segment }
        let task = Task<Outcome, Never>.detached { await MediaPool.segments.perform(write) }
        pending[key] = task
        let outcome = await task.value
        pending[key] = nil
        record(outcome, as: key, isShared: true)
        return try outcome.get().segment
    }

    private func record(_ outcome: Outcome, as key: Key, isShared: Bool) {
        guard case .success(let written) = outcome else {
            latestCounts.withLock { $0.failures += 1 }
            return
        }
        if key.shift == .zero, key.earlyAudio == .kept { latestCounts.withLock { $0.add(written) } }
        let cost = isShared ? written.segment.bytes.count : max(byteLimit, written.segment.bytes.count)
        for gone in made.insert(written.segment, as: key, cost: cost) {
            memory.store(gone.bytes, for: .output)
        }
    }
}

extension TransportStreamStore.Counts {
    fileprivate mutating func add(_ written: TransportStreamSource.Written) {
        let (segment, replacements) = (written.segment, written.replacements)
        segments += 1
        foreignFrames += replacements.foreignFrames
        stills += replacements.stills
        foreignAudioFrames += replacements.foreignAudioFrames
        silentFrames += replacements.silentFrames
        oversizeUnits += segment.oversizeUnits
        loweredDecodeTimes += segment.loweredDecodeTimes
        lateAudioFrames += segment.lateAudioFrames
    }
}
