import CZlib

/// Gzip members (RFC 1952) of whole bodies, by zlib.
package enum Gzip {
    /// The largest window of deflate, plus 16, which makes zlib write or expect a gzip header and trailer.
    package static let windowBits = MAX_WBITS + 16

    /// Compresses a body into one gzip member. Equal input gives equal output: the header has no time and no name.
    /// - Returns: nil if zlib cannot allocate its state.
    package static func compress(_ bytes: [UInt8]) -> [UInt8]? {
        guard var stream = GzipStream() else { return nil }
        return stream.finish(bytes)
    }
}
