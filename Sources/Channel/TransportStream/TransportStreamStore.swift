package import LiveRing
import Media
package import Mux
import Playlist
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
        package internal(set) var encodedAudioFrames = 0
        package internal(set) var silentFrames = 0
        package internal(set) var oversizeUnits = 0
        package internal(set) var loweredDecodeTimes = 0
        package internal(set) var lateAudioFrames = 0
    }

    private struct Entry {
        let segment: TransportSegment
        var lastUse: UInt64
    }

    private typealias Outcome = Result<TransportStreamSource.Written, TransportStreamError>

    /// Bytes that are kept, of one segment at least.
    package static let byteLimit = 32 << 20

    private let byteLimit: Int
    private var entries: [String: Entry] = [:]
    private var byteCount = 0
    private var uses: UInt64 = 0
    private var pending: [String: Task<Outcome, Never>] = [:]
    private nonisolated let latestCounts = Mutex(Counts())

    package init(byteLimit: Int = TransportStreamStore.byteLimit) { self.byteLimit = byteLimit }

    /// Counts since the process began. Reading them does not wait for the actor.
    package nonisolated var counts: Counts { latestCounts.withLock { $0 } }

    /// The transport stream of a published segment. Several callers at once wait for the same work.
    package func segment(
        of entry: RingEntry, in snapshot: RingSnapshot
    ) async throws(TransportStreamError) -> TransportSegment {
        let name = entry.segment.name
        uses += 1
        if let known = entries[name]?.segment {
            entries[name]?.lastUse = uses
            return known
        }
        if let task = pending[name] { return try await task.value.get().segment }
        let source = TransportStreamSource(snapshot)
        let task = Task<Outcome, Never>.detached {
            Outcome { () throws(TransportStreamError) in try source.write(entry) }
        }
        pending[name] = task
        let outcome = await task.value
        pending[name] = nil
        record(outcome, as: name)
        return try outcome.get().segment
    }

    private func record(_ outcome: Outcome, as name: String) {
        guard case .success(let written) = outcome else {
            latestCounts.withLock { $0.failures += 1 }
            return
        }
        latestCounts.withLock { $0.add(written) }
        entries[name] = Entry(segment: written.segment, lastUse: uses)
        byteCount += written.segment.bytes.count
        evict(except: name)
    }

    private func evict(except name: String) {
        while byteCount > byteLimit, entries.count > 1 {
            let oldest = entries.filter { $0.key != name }.min { $0.value.lastUse < $1.value.lastUse }
            guard let oldest else { return }
            byteCount -= oldest.value.segment.bytes.count
            entries[oldest.key] = nil
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
        encodedAudioFrames += replacements.encodedAudioFrames
        silentFrames += replacements.silentFrames
        oversizeUnits += segment.oversizeUnits
        loweredDecodeTimes += segment.loweredDecodeTimes
        lateAudioFrames += segment.lateAudioFrames
    }
}
