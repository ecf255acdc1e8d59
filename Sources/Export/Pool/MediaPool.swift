import Dispatch
import Glibc
package import LiveRing
package import Support
import Synchronization

/// Threads on which media is read and made, and limits of the work that waits for them and of the bytes that clients hold.
///
/// Each kind of work has a pool for the whole process, so that none waits for another. No thread waits for a store: work
/// that needs remote files is performed again when they are fetched, and leaves its thread to others meanwhile.
package final class MediaPool: Sendable {
    package struct Limits: Sendable {
        /// Pieces of work that are performed at once.
        var threads = 1
        /// Pieces of work of clients that wait or are performed, of all clients and of one.
        var (pending, pendingOfClient) = (Int.max, Int.max)
        /// Of `pending`, those that may have to read from a store.
        var remote = Int.max
        /// Bytes that clients hold, from which on no work of clients begins.
        var heldBytes = Int.max

        package init() {}

        package init(pending: Int, ofClient: Int, remote: Int? = nil, heldBytes: Int = .max) {
            (self.pending, pendingOfClient) = (pending, ofClient)
            (self.remote, self.heldBytes) = (remote ?? pending, heldBytes)
        }
    }

    /// A limit does not permit more work.
    package struct Busy: Error { package init() {} }

    private struct State {
        var nextThread = 0
        var (pending, remote) = (0, 0)
        var pendingOfClient: [String: Int] = [:]
    }

    let limits: Limits
    /// The bytes that clients hold.
    package let held: ByteBudget
    private let threads: [DispatchQueue]
    private let state = Mutex(State())

    /// - Parameter isUrgent: whether somebody waits for the results.
    package init(_ name: String, _ limits: Limits = Limits(), isUrgent: Bool = true) {
        (self.limits, held) = (limits, ByteBudget(limit: limits.heldBytes))
        threads = (0..<limits.threads).map {
            DispatchQueue(label: "liverelay.\(name)-\($0)", qos: isUrgent ? .unspecified : .utility)
        }
    }

    /// The number of pieces of work of clients that wait or are performed.
    package var pendingCount: Int { state.withLock { $0.pending } }

    /// Performs work on one of the threads, in the order of the calls for that thread.
    package func perform<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let thread = state.withLock { state in
            state.nextThread = (state.nextThread + 1) % threads.count
            return threads[state.nextThread]
        }
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            thread.async { continuation.resume(returning: Result { () throws(Failure) in try work() }) }
        }
        return try result.get()
    }

    /// Performs work that reads files of a ring.
    package func perform<Value: Sendable>(
        reading snapshot: RingSnapshot, _ work: @escaping @Sendable (RingSnapshot) -> Value
    ) async -> Value {
        await snapshot.reading({ await self.perform($0) }, work)
    }

    /// Performs work of a client, of which each step takes a thread, if the limits permit it.
    /// - Parameters: as of `begin`.
    package func admit<Value: Sendable>(
        _ client: String?, isRemote: Bool = false, _ work: () async -> Value
    ) async throws(Busy) -> Value {
        guard begin(for: client, isRemote: isRemote) else { throw Busy() }
        defer { end(for: client, isRemote: isRemote) }
        return await work()
    }

    /// Counts a piece of work of a client, until `end` is called.
    /// - Parameters:
    ///   - client: the address of the client; nil: it has no limit of its own.
    ///   - isRemote: whether the work may have to read from a store, so that a slow store does not block the others.
    /// - Returns: false if the limits do not permit it.
    package func begin(for client: String?, isRemote: Bool = false) -> Bool {
        state.withLock { state in
            guard state.pending < limits.pending, !isRemote || state.remote < limits.remote,
                held.heldBytes < held.limit,
                client.map({ state.pendingOfClient[$0, default: 0] < limits.pendingOfClient }) ?? true
            else { return false }
            state.pending += 1
            if isRemote { state.remote += 1 }
            if let client { state.pendingOfClient[client, default: 0] += 1 }
            return true
        }
    }

    package func end(for client: String?, isRemote: Bool = false) {
        state.withLock { state in
            state.pending -= 1
            if isRemote { state.remote -= 1 }
            guard let client else { return }
            state.pendingOfClient[client] = state.pendingOfClient[client].flatMap { $0 > 1 ? $0 - 1 : nil }
        }
    }
}

extension MediaPool {
    /// Transport streams of segments, and bytes of stored files. One core is left for the channels.
    package static let segments = MediaPool("segments", .ofCores)
    /// The indexes of the segments of clips. Clients hold the heads of clips, which have megabytes if the clip has hours.
    package static let clips = MediaPool(
        "clips", Limits(pending: 64, ofClient: 8, remote: 32, heldBytes: 128 << 20))
    /// Stills and sheets of stills.
    package static let stills = MediaPool("stills", Limits(pending: 32, ofClient: 8, remote: 16))
    /// Files of open recordings.
    package static let recordings = MediaPool("recordings")
    /// The last forms of recordings, so that appending never waits for them.
    package static let finishing = MediaPool("finishing", isUrgent: false)
}

extension MediaPool.Limits {
    fileprivate static var ofCores: Self {
        var limits = Self()
        limits.threads = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)) - 1)
        return limits
    }
}
