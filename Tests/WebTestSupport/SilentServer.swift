import Glibc
import Synchronization

/// A server on loopback that takes connections and never answers.
package final class SilentServer: Sendable {
    private let descriptor: CInt
    private let taken = Mutex<[CInt]>([])
    package let port: Int

    package init() {
        descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        unsafe withUnsafeMutablePointer(to: &address) { [descriptor] pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                _ = unsafe bind(descriptor, pointer, length)
                _ = listen(descriptor, 64)
                _ = unsafe getsockname(descriptor, pointer, &length)
            }
        }
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit {
        taken.withLock { for connection in $0 { close(connection) } }
        close(descriptor)
    }

    package var url: String { "http://127.0.0.1:\(port)" }

    /// The connections so far, those too that the client has closed.
    package var connectionCount: Int {
        taken.withLock { taken in
            while case let connection = accept(descriptor, nil, nil), connection >= 0 {
                taken.append(connection)
            }
            return taken.count
        }
    }
}
