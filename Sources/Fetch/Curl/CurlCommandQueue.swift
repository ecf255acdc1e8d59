import CCurl
import Glibc
import Synchronization

/// A queue of commands from any thread to the curl thread, which also wakes that thread.
///
/// The wake signal is a byte on a pair of sockets, one of which `curl_multi_poll` watches. Every thread may hold a
/// descriptor, unlike the pointer that `curl_multi_wakeup` needs. A command that is posted while the thread works needs
/// no signal.
///
/// As an executor, the queue lets the curl thread run the tasks that use its answers.
final class CurlCommandQueue: TaskExecutor {
    typealias TransferID = UInt64
    typealias ChannelID = UInt64
    typealias SleepID = UInt64

    enum CurlCommand: Sendable {
        indirect case start(TransferID, ChannelID, CurlJob, CurlTransfer.Continuation)
        /// Cancels a transfer, which may have ended already or not begun yet.
        case cancel(TransferID)
        /// Continues a stream whose buffer has room again.
        case resume(TransferID)
        /// Ends a channel, which starts no transfer after this.
        case close(ChannelID)
        /// Resumes a task at a time.
        case sleep(SleepID, until: ContinuousClock.Instant, CheckedContinuation<Void, Never>)
        /// Ends a sleep, which may have ended already or not begun yet.
        case endSleep(SleepID)
        /// Runs a part of a task.
        case run(UnownedJob)
        case stop
    }

    private struct State {
        var commands: [CurlCommand] = []
        var lastID: UInt64 = 0
        /// Whether the thread waits, and has to be woken.
        var isWaiting = false
    }

    /// Readable if the thread was woken.
    let wakeDescriptor: Int32
    private let wakeWriteDescriptor: Int32
    private let state = Mutex(State())

    /// Returns nil if the process has no descriptor left.
    init?() {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return nil }
        wakeDescriptor = ends[0]
        wakeWriteDescriptor = ends[1]
    }

    deinit {
        close(wakeDescriptor)
        close(wakeWriteDescriptor)
    }

    /// Returns an identifier that is unique among the transfers, channels and sleeps of this queue.
    func makeID() -> UInt64 {
        state.withLock {
            $0.lastID += 1
            return $0.lastID
        }
    }

    func post(_ command: CurlCommand) {
        let wakes = state.withLock { state in
            state.commands.append(command)
            defer { state.isWaiting = false }
            return state.isWaiting
        }
        guard wakes else { return }
        var byte: UInt8 = 1
        _ = unsafe write(wakeWriteDescriptor, &byte, 1)
    }

    func enqueue(_ job: consuming ExecutorJob) { post(.run(UnownedJob(job))) }

    /// Moves all commands, in the order posted, into an empty array, whose memory the next ones get.
    /// - Parameter isWoken: whether the wake signal has to be reset.
    func drain(into commands: inout [CurlCommand], isWoken: Bool) {
        if isWoken {
            var bytes: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0]
            while unsafe read(wakeDescriptor, &bytes, bytes.count) == bytes.count {}
        }
        state.withLock { state in
            state.isWaiting = false
            swap(&state.commands, &commands)
        }
    }

    /// Returns whether the thread may wait: the next command will wake it.
    func beginWaiting() -> Bool {
        state.withLock { state in
            state.isWaiting = state.commands.isEmpty
            return state.isWaiting
        }
    }
}
