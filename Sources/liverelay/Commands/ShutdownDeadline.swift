import Foundation
import Glibc
import Observability
import Support
import Synchronization

/// Ends the process a while after it was asked to end, whatever is still being computed.
///
/// An orderly end takes a fraction of a second. A channel that computes does not hear of it before it has finished, and
/// may keep all threads of the pool busy, so this has a thread of its own. The spool and captures are complete at any
/// moment.
enum ShutdownDeadline {
    /// From the signal to the end of the process.
    static let limit = Duration.milliseconds(1900)

    private static let hasStarted = Mutex(false)

    /// Starts the time once, however many signals come.
    static func start() {
        let isFirst = hasStarted.withLock { hasStarted in
            defer { hasStarted = true }
            return !hasStarted
        }
        if isFirst { start(after: limit, exit: endProcess) }
    }

    static func start(after limit: Duration, exit: @escaping @Sendable () -> Void) {
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: limit / .seconds(1))
            exit()
        }
    }

    /// Ends the commands, removes the temporary spools and ends the process, with the status of an orderly end.
    private static func endProcess() {
        ProcessGroups.ofThisProcess.close()
        TemporarySpool.removeAll()
        Glibc._exit(ExitStatus.success.rawValue)
    }
}
