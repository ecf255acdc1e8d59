import NIOCore

/// Recognizes a client that sends its last request again byte for byte, as players do that reload a playlist: such a
/// request need not be parsed.
///
/// A request is remembered only if all of its bytes, and no others, arrived in one piece while the parser was between two
/// requests. After any other input, nothing is remembered on the connection any more.
struct RepeatedRequest {
    /// Inbound: the client has sent its last request again.
    struct Event: Sendable {}

    /// The largest request that is remembered, in bytes.
    static let byteLimit = 2048
    /// After these fields, bytes may follow that belong to the same request, or to another protocol.
    private static let excludedFields: Set = ["content-length", "transfer-encoding", "upgrade"]

    private enum State {
        /// The parser expects a request.
        case between
        /// The same, after the request with these bytes.
        case after(ByteBuffer)
        case unknown
    }

    private var state = State.between

    /// Takes the next input of the connection.
    /// - Returns: whether the input is the last request again. The parser must get all other input.
    mutating func recognizes(_ input: ByteBuffer) -> Bool {
        switch state {
        case .unknown: return false
        case .after(input): return true
        case .between, .after:
            let bytes = Array(input.readableBytesView.prefix(Self.byteLimit + 1))
            // A copy: the memory of the input is used for the next read.
            state = Self.isWholeRequest(bytes) ? .after(ByteBuffer(bytes: bytes)) : .unknown
            return false
        }
    }

    /// Whether the bytes are exactly one GET request without a body, whose lines end in CR LF (RFC 9112 §2.1).
    private static func isWholeRequest(_ bytes: [UInt8]) -> Bool {
        guard bytes.count <= byteLimit, bytes.starts(with: "GET ".utf8), bytes.suffix(4).elementsEqual("\r\n\r\n".utf8)
        else { return false }
        let lines = bytes.dropLast(2).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
        return lines.allSatisfy { line in
            guard line.count > 1, line.last == UInt8(ascii: "\r") else { return false }
            let name = String(decoding: line.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)
            return !excludedFields.contains(name.lowercased())
        }
    }
}
