import HTTP
import NIOCore

/// The body of a request while it arrives. It cannot be copied: each part is appended in place.
struct RequestBody: ~Copyable {
    private let limit: Int
    private(set) var bytes: [UInt8] = []

    /// - Parameter limit: the largest number of bytes.
    init(limit: Int) { self.limit = limit }

    /// Appends the next part.
    /// - Returns: false, and nothing is kept of the part, if the body is longer than its limit.
    mutating func append(_ part: ByteBuffer) -> Bool {
        guard part.readableBytes <= limit - bytes.count else { return false }
        bytes.append(contentsOf: part.readableBytesView)
        return true
    }
}
