import Glibc

/// A socket that is connected to a port of this machine. Ten seconds of silence end a call that receives.
package enum LoopbackSocket {
    /// - Returns: the descriptor, and what `connect` returned.
    package static func connect(_ type: CInt, port: Int, receiveBuffer: CInt? = nil) -> (descriptor: CInt, result: CInt)
    {
        let descriptor = socket(AF_INET, type, 0)
        var patience = timeval(tv_sec: 10, tv_usec: 0)
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        if var size = receiveBuffer {
            _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<CInt>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return (descriptor, result)
    }
}
