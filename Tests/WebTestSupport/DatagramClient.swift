import Glibc
import Testing

/// A client that sends and receives datagrams on loopback. Ten seconds of silence end its test.
package struct DatagramClient: ~Copyable {
    private let descriptor: CInt

    package init(port: Int) {
        let result: CInt
        (descriptor, result) = LoopbackSocket.connect(Int32(SOCK_DGRAM.rawValue), port: port)
        #expect(result == 0)
    }

    deinit { close(descriptor) }

    package func send(_ bytes: [UInt8]) {
        #expect(
            unsafe bytes.withUnsafeBytes { unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, 0) } == bytes.count)
    }

    package func receive() -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 2000)
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
        return Array(buffer.prefix(max(0, count)))
    }
}
