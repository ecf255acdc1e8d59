import Foundation
import Glibc
import Synchronization

/// A minimal HTTP server on 127.0.0.1 that sends any bytes, valid or not.
///
/// It has a thread per connection, and closes when its last reference is released.
package final class LoopbackServer: Sendable {
    package struct Request: Equatable, Sendable {
        /// 0-based, in the order accepted.
        package let connection: Int
        package let target: String
        /// Names in lower case.
        package let headers: [String: String]
        /// As long as Content-Length says.
        package var body: [UInt8] = []
        package var method = "GET"
    }

    package enum Step: Equatable, Sendable {
        case send([UInt8])
        /// Sends nothing more, and waits until the client closes the connection.
        case hang
        /// Sends a byte about every 50 ms until the client closes the connection.
        case trickle
        case close
        /// Closes so that the client sees RST.
        case reset
    }

    package typealias Answer = @Sendable (Request) -> [Step]

    private struct State {
        var requests: [Request] = []
        var accepted = 0
        var hungUp = 0
    }

    package let port: UInt16
    private let listener: Int32
    private let state: Shared

    /// The state that the connections' threads hold, so that they do not retain the server.
    private final class Shared: Sendable {
        let state = Mutex(State())
    }

    package init(answer: @escaping Answer) throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let named = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                var length = size
                return unsafe bind(listener, generic, size) == 0 && listen(listener, 64) == 0
                    && getsockname(listener, generic, &length) == 0
            }
        }
        guard named else { throw POSIXError(.EADDRNOTAVAIL) }
        port = UInt16(bigEndian: address.sin_port)
        let shared = Shared()
        state = shared
        Thread.detachNewThread { Self.accept(on: listener, shared, answer) }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    package var url: String { "http://127.0.0.1:\(port)" }
    package var requests: [Request] { state.state.withLock { $0.requests } }
    package var connectionCount: Int { state.state.withLock { $0.accepted } }

    /// Seconds after which the server closes a silent connection, so that no thread remains.
    ///
    /// With a shorter limit, the server could close connections too early on a busy machine.
    private static let timeout = 120

    /// Waits until so many clients closed the connection after `.hang` or `.trickle`.
    package func waitForHangUps(_ count: Int) async -> Bool {
        let end = ContinuousClock.now + .seconds(Self.timeout)
        while ContinuousClock.now < end {
            if state.state.withLock({ $0.hungUp >= count }) { return true }
            await Task.yield()
        }
        return false
    }

    private static func accept(on listener: Int32, _ shared: Shared, _ answer: @escaping Answer) {
        while true {
            let connection = Glibc.accept(listener, nil, nil)
            guard connection >= 0 else { break }
            var limit = timeval(tv_sec: timeout, tv_usec: 0)
            unsafe setsockopt(
                connection, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            let number = shared.state.withLock {
                $0.accepted += 1
                return $0.accepted - 1
            }
            Thread.detachNewThread { serve(connection, number, shared, answer) }
        }
        close(listener)
    }

    private static func serve(_ connection: Int32, _ number: Int, _ shared: Shared, _ answer: Answer) {
        defer { close(connection) }
        while let text = readHead(of: connection) {
            var request = parse(text, connection: number)
            let length = request.headers["content-length"].flatMap { Int($0) } ?? 0
            guard let body = read(length, from: connection) else { return }
            request.body = body
            shared.state.withLock { $0.requests.append(request) }
            for step in answer(request) {
                switch step {
                case .send(let bytes): guard sendAll(bytes, to: connection) else { return }
                case .close: return
                case .reset: return closeWithReset(connection)
                case .trickle:
                    while !hasHungUp(connection, within: 50), sendAll([0x47], to: connection) {}
                    return shared.state.withLock { $0.hungUp += 1 }
                case .hang:
                    _ = readHead(of: connection)
                    return shared.state.withLock { $0.hungUp += 1 }
                }
            }
        }
    }

    private static func hasHungUp(_ connection: Int32, within milliseconds: Int32) -> Bool {
        var event = pollfd(fd: connection, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&event, 1, milliseconds) != 0
    }

    /// Reads up to the blank line. Returns nil if the client closed the connection, or began a handshake of TLS, which is
    /// refused in plain text.
    private static func readHead(of connection: Int32) -> String? {
        var head: [UInt8] = []
        var byte: UInt8 = 0
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            guard unsafe recv(connection, &byte, 1, 0) == 1 else { return nil }
            guard !head.isEmpty || byte != 0x16 else {
                _ = sendAll(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), to: connection)
                return nil
            }
            head.append(byte)
        }
        return String(decoding: head, as: UTF8.self)
    }

    /// Returns nil if the client closed the connection.
    private static func read(_ count: Int, from connection: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var read = 0
        while read < count {
            let received = unsafe bytes[read...].withUnsafeMutableBytes {
                unsafe recv(connection, $0.baseAddress, $0.count, 0)
            }
            guard received > 0 else { return nil }
            read += received
        }
        return bytes
    }

    private static func parse(_ head: String, connection: Int) -> Request {
        let lines = head.split(separator: "\r\n")
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            let value = parts.count == 2 ? String(parts[1].drop { $0 == " " }) : ""
            headers[parts[0].lowercased()] = value
        }
        let words = lines[0].split(separator: " ")
        var request = Request(connection: connection, target: String(words[1]), headers: headers)
        request.method = String(words[0])
        return request
    }

    private static func sendAll(_ bytes: [UInt8], to connection: Int32) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes[sent...].withUnsafeBytes {
                unsafe Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    private static func closeWithReset(_ connection: Int32) {
        var off = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(connection, SOL_SOCKET, SO_LINGER, &off, socklen_t(MemoryLayout<linger>.size))
    }
}

/// A listener that accepts no connection and whose queue is full, so that clients wait forever.
package final class FullQueue: Sendable {
    package let port: UInt16
    private let sockets: [Int32]

    package init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        var sockets = [listener]
        let isFull = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                guard unsafe bind(listener, generic, size) == 0, listen(listener, 0) == 0,
                    unsafe getsockname(listener, generic, &size) == 0
                else { return false }
                for _ in 0..<4 {
                    let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
                    _ = unsafe connect(client, generic, size)
                    sockets.append(client)
                }
                return true
            }
        }
        self.sockets = sockets
        guard isFull else { throw POSIXError(.EADDRNOTAVAIL) }
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit { for socket in sockets { close(socket) } }
}

extension LoopbackServer.Step {
    package static func send(_ text: String) -> Self { .send(Array(text.utf8)) }

    /// A whole answer with Content-Length.
    package static func answer(_ status: Int = 200, _ headers: [String] = [], body: [UInt8] = []) -> Self {
        let lines = ["HTTP/1.1 \(status) X", "Content-Length: \(body.count)"] + headers
        return .send(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body)
    }

    package static func redirect(to url: String) -> Self {
        .answer(302, ["Location: \(url)"], body: Array("elsewhere".utf8))
    }
}
