import Foundation
import Glibc
import Service

/// The connection between a process and its successor: lines of JSON over a pair of sockets.
final class HandoverLink: Sendable {
    /// A longer line is no message.
    private static let lineLimit = 64 << 20

    /// One end of the pair, which is closed when nobody reads or writes any more.
    private final class Socket: Sendable {
        let descriptor: Int32

        init(_ descriptor: Int32) { self.descriptor = descriptor }

        func end() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

        deinit { close(descriptor) }
    }

    private let socket: Socket
    private let queue = DispatchQueue(label: "liverelay.handover")

    /// - Parameters:
    ///   - descriptor: one end of the pair, which the link closes.
    ///   - receive: called on one thread with each message, and with nil at the end of the connection.
    init(_ descriptor: Int32, receive: @escaping @Sendable (HandoverMessage?) -> Void) {
        let socket = Socket(descriptor)
        self.socket = socket
        Thread.detachNewThread {
            var rest: [UInt8] = []
            var bytes = [UInt8](repeating: 0, count: 64 << 10)
            while rest.count < Self.lineLimit {
                let count = unsafe read(socket.descriptor, &bytes, bytes.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                rest += bytes[..<count]
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    if let message = HandoverMessage(line: Data(rest[..<end])) { receive(message) }
                    rest.removeFirst(end + 1)
                }
            }
            receive(nil)
        }
    }

    deinit { socket.end() }

    /// Sends a message. If the other process has ended, nothing happens.
    func send(_ message: HandoverMessage) {
        let bytes = [UInt8](message.line) + [UInt8(ascii: "\n")]
        queue.async { [socket] in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = unsafe rest.withUnsafeBytes {
                    unsafe Glibc.send(socket.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// Ends the connection after everything was sent.
    func end() { queue.sync { socket.end() } }

    /// Two connected descriptors; nil if none is free.
    static func makePair() -> (Int32, Int32)? {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else { return nil }
        return (ends[0], ends[1])
    }
}
