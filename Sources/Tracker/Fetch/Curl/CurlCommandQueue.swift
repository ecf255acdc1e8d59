import Glibc
import Synchronization

/// Where any thread leaves work for the curl thread, and how that thread is woken.
///
/// The bell is a pair of sockets that `curl_multi_poll` watches: a descriptor is a value that every thread may hold, which the
/// pointer that `curl_multi_wakeup` asks for is not.
final class CurlCommandQueue: Sendable {
    typealias TransferID = UInt64
    typealias ChannelID = UInt64

    enum CurlCommand: Sendable {
        case start(TransferID, ChannelID, CurlJob, CurlTransfer.Continuation)
        /// Of a transfer that may have ended already, or not yet begun.
        case cancel(TransferID)
        /// The channel will start nothing any more.
        case close(ChannelID)
        case stop
    }

    private struct State {
        var items: [CurlCommand] = []
        var lastID: UInt64 = 0
    }

    /// Readable while there are items.
    let wakeDescriptor: Int32
    private let wakeWriteDescriptor: Int32
    private let state = Mutex(State())

    /// nil when the process is out of descriptors.
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

    /// Unique among the transfers and channels of this inbox.
    func makeID() -> UInt64 {
        state.withLock {
            $0.lastID += 1
            return $0.lastID
        }
    }

    func post(_ item: CurlCommand) {
        let wasEmpty = state.withLock {
            $0.items.append(item)
            return $0.items.count == 1
        }
        guard wasEmpty else { return }  // rung already
        var byte: UInt8 = 1
        _ = unsafe write(wakeWriteDescriptor, &byte, 1)
    }

    /// All items in the order posted; the bell falls silent.
    func drain() -> [CurlCommand] {
        var bytes: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0]
        while unsafe read(wakeDescriptor, &bytes, bytes.count) > 0 {}
        return state.withLock { state in
            let items = state.items
            state.items = []
            return items
        }
    }
}
