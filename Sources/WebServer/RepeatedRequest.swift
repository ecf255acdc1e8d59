import NIOCore

/// Recognizes that a client sends one of its last requests again byte for byte, as players do that reload playlists between
/// segments: such a request need not be parsed.
///
/// A request is remembered only if all of its bytes, and no others, arrived in one piece while the parser was between two
/// requests. After any other input, nothing is remembered on the connection any more.
struct RepeatedRequest {
    /// Inbound, before the input reaches the parser or in its place.
    enum Event: Equatable, Sendable {
        /// The input is a whole request, which is remembered under a number below `limit`.
        case remembered(Int)
        /// The client has sent the request with this number again. The parser does not get it.
        case repeated(Int)
    }

    /// The number of requests that are remembered: a player reloads playlists of video, audio and subtitles.
    static let limit = 4
    /// The largest request that is remembered, in bytes.
    static let byteLimit = 2048
    /// After these fields, bytes may follow that belong to the same request, or to another protocol.
    private static let excludedFields: Set = ["content-length", "transfer-encoding", "upgrade"]

    /// Whether the parser is between two requests.
    private var isBetween = true
    private var requests: [ByteBuffer] = []
    /// The numbers of the requests, the one that came last at the end.
    private var order: [Int] = []

    /// Compares the next input of the connection with the requests before.
    /// - Returns: nil if the input is not remembered. The parser gets it, too.
    mutating func recognize(_ input: ByteBuffer) -> Event? {
        guard isBetween else { return nil }
        if let number = requests.firstIndex(of: input) {
            order.removeAll { $0 == number }
            order.append(number)
            return .repeated(number)
        }
        let bytes = Array(input.readableBytesView.prefix(Self.byteLimit + 1))
        guard Self.isWholeRequest(bytes) else {
            self = RepeatedRequest()
            isBetween = false
            return nil
        }
        // A copy: the memory of the input is used for the next read.
        let request = ByteBuffer(bytes: bytes)
        let number = requests.count < Self.limit ? requests.count : order.removeFirst()
        if number < requests.count { requests[number] = request } else { requests.append(request) }
        order.append(number)
        return .remembered(number)
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
