import CCurl
import Glibc
import Synchronization

/// A queue of commands from any thread to the curl thread, which also wakes that thread.
///
/// The wake signal is a byte on a pair of sockets, one of which `curl_multi_poll` watches. Every thread may hold a
/// descriptor, unlike the pointer that `curl_multi_wakeup` needs.
final class CurlCommandQueue: Sendable {
    typealias TransferID = UInt64
    typealias ChannelID = UInt64

    enum CurlCommand: Sendable {
        case start(TransferID, ChannelID, CurlJob, CurlTransfer.Continuation)
        /// Cancels a transfer, which may have ended already or not begun yet.
        case cancel(TransferID)
        /// Continues a stream whose buffer has room again.
        case resume(TransferID)
        /// Ends a channel, which starts no transfer after this.
        case close(ChannelID)
        case stop
    }

    private struct State {
        var commands: [CurlCommand] = []
        var lastID: UInt64 = 0
    }

    /// Readable while the queue is not empty.
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

    /// Returns an identifier that is unique among the transfers and channels of this queue.
    func makeID() -> UInt64 {
        state.withLock {
            $0.lastID += 1
            return $0.lastID
        }
    }

    func post(_ command: CurlCommand) {
        let wasEmpty = state.withLock {
            $0.commands.append(command)
            return $0.commands.count == 1
        }
        guard wasEmpty else { return }  // the thread was woken already
        var byte: UInt8 = 1
        _ = unsafe write(wakeWriteDescriptor, &byte, 1)
    }

    /// Removes and returns all commands in the order posted, and resets the wake signal.
    func drain() -> [CurlCommand] {
        var bytes: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0]
        while unsafe read(wakeDescriptor, &bytes, bytes.count) == bytes.count {}
        return state.withLock { state in
            let commands = state.commands
            state.commands = []
            return commands
        }
    }
}
