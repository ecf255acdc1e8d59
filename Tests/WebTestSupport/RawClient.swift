import Glibc
import Testing

/// A client that sends what it is told and reads what comes, on one blocking socket: it knows no more of HTTP than
/// where a response ends. Ten seconds of silence end a test that would otherwise hang.
package struct RawClient: ~Copyable {
    package struct Failure: Error {
        let call: String
        let errno: Int32
    }

    private let descriptor: CInt
    private var unread: ArraySlice<UInt8> = []

    /// - Parameter receiveBuffer: bytes the kernel may hold for this client; small, for one that reads slowly.
    package init(port: Int, receiveBuffer: CInt? = nil) throws {
        let result: CInt
        (descriptor, result) = LoopbackSocket.connect(
            Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), port: port, receiveBuffer: receiveBuffer)
        guard result == 0 else { throw Failure(call: "connect", errno: errno) }
    }

    deinit { close(descriptor) }

    package func send(_ text: String) throws {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let sent = unsafe rest.withUnsafeBytes { unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, 0x4000) }
            guard sent > 0 else { throw Failure(call: "send", errno: errno) }
            rest.removeFirst(sent)
        }
    }

    /// Ends the sending half: the server reads an end of file.
    package func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Makes the end of this client a reset instead of an orderly close.
    package func resetAtEnd() {
        var setting = linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &setting, socklen_t(MemoryLayout<linger>.size))
    }

    /// The next response; of one to a HEAD there is no body.
    package mutating func response(toHead isHead: Bool = false) throws -> RawResponse {
        var response = try head()
        let hasBody = !isHead && response.status != 204 && response.status != 304
        response.body = hasBody ? try read(Int(response["Content-Length"] ?? "0") ?? 0) : []
        return response
    }

    /// Status and fields only; the body stays to be read.
    package mutating func head() throws -> RawResponse {
        while true {
            if let end = unread.firstRange(of: Array("\r\n\r\n".utf8)) {
                let text = String(decoding: unread[..<end.lowerBound], as: UTF8.self)
                unread = unread[end.upperBound...]
                return RawResponse(head: text)
            }
            guard try receive() > 0 else { throw Failure(call: "recv: connection ended within a head", errno: 0) }
        }
    }

    package mutating func read(_ count: Int) throws -> [UInt8] {
        while unread.count < count {
            guard try receive() > 0 else { throw Failure(call: "recv: connection ended within a body", errno: 0) }
        }
        defer { unread = unread.dropFirst(count) }
        return Array(unread.prefix(count))
    }

    /// Everything until the server closes, however it does.
    package mutating func rest() throws -> [UInt8] {
        do {
            while try receive() > 0 {}
        } catch let failure as Failure where failure.errno == ECONNRESET {}
        defer { unread = [] }
        return Array(unread)
    }

    private mutating func receive() throws -> Int {
        var buffer = [UInt8](repeating: 0, count: 256 * 1024)
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
        guard count >= 0 else { throw Failure(call: "recv", errno: errno) }
        unread.append(contentsOf: buffer[..<count])
        return count
    }
}

package struct RawResponse {
    package let status: Int
    package let fields: [(name: String, value: String)]
    package var body: [UInt8] = []

    package init(head: String) {
        let lines = head.split(separator: "\r\n")
        status = Int(lines.first?.split(separator: " ").dropFirst().first ?? "") ?? 0
        fields = lines.dropFirst().map { line in
            let colon = line.firstIndex(of: ":") ?? line.endIndex
            return (String(line[..<colon]), String(line[colon...].dropFirst(2)))
        }
    }

    /// The value of a field that occurs once; nil if it is absent. Two of one name fail the test.
    package subscript(name: String) -> String? {
        let values = fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
        #expect(values.count <= 1, "\(name) occurs \(values.count) times")
        return values.first
    }
}
