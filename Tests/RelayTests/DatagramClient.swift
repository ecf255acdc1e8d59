import Glibc
import Testing

/// A client that sends and receives datagrams on loopback. Ten seconds of silence end its test.
struct DatagramClient: ~Copyable {
    private let descriptor: CInt

    init(port: Int) {
        descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        var patience = timeval(tv_sec: 10, tv_usec: 0)
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        #expect(result == 0)
    }

    deinit { close(descriptor) }

    func send(_ bytes: [UInt8]) {
        #expect(
            unsafe bytes.withUnsafeBytes { unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, 0) } == bytes.count)
    }

    func receive() -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 2000)
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
        return Array(buffer.prefix(max(0, count)))
    }
}
