import Dispatch
import Glibc
import Synchronization

/// The threads on which transport streams of segments are made, and files of the ring are read: of the whole process, and none of those that its channels
/// share.
package enum TransportStreamThreads {
    /// Segments that are made at once. One core is left for the channels.
    static let count = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)) - 1)

    private static let queues = (0..<count).map { DispatchQueue(label: "liverelay.segments-\($0)") }
    private static let next = Mutex(0)

    /// Performs the work on one of the threads, in the order of the calls for that thread.
    package static func perform<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
        let queue = next.withLock { next in
            next = (next + 1) % count
            return queues[next]
        }
        return await withCheckedContinuation { continuation in queue.async { continuation.resume(returning: work()) } }
    }
}
