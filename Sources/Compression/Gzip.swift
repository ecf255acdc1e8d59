import CZlib

/// Gzip members (RFC 1952) of whole bodies, by zlib.
package enum Gzip {
    /// The largest window of deflate, plus 16, which makes zlib write or expect a gzip header and trailer.
    static let windowBits = MAX_WBITS + 16
    /// zlib's default, 6 of 9: playlists are small, and higher levels do not compress them further.
    private static let level = Z_DEFAULT_COMPRESSION
    /// zlib's default in 1...9: 128 KiB of state while compressing.
    private static let memoryLevel: CInt = 8

    /// Compresses a body into one gzip member. Equal input gives equal output: the header has no time and no name.
    /// - Returns: nil if zlib cannot allocate its state.
    package static func compress(_ bytes: [UInt8]) -> [UInt8]? {
        guard var deflate = Deflate(level: level, windowBits: windowBits, memoryLevel: memoryLevel) else { return nil }
        return deflate.finish(bytes)
    }
}

/// The state of one zlib compressor.
@safe private struct Deflate: ~Copyable {
    private let stream: UnsafeMutablePointer<z_stream>

    init?(level: CInt, windowBits: CInt, memoryLevel: CInt) {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        guard unsafe liverelay_deflate_init(stream, level, windowBits, memoryLevel) == Z_OK else {
            unsafe stream.deallocate()
            return nil
        }
        unsafe self.stream = unsafe stream
    }

    deinit {
        _ = unsafe deflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Compresses the only input of this stream in one call; the output buffer has the maximum size.
    mutating func finish(_ input: [UInt8]) -> [UInt8]? {
        guard let inputCount = UInt32(exactly: input.count) else { return nil }
        let bound = unsafe Int(deflateBound(stream, uLong(inputCount)))
        guard let available = UInt32(exactly: bound) else { return nil }
        var ended = false
        let output = unsafe [UInt8](unsafeUninitializedCapacity: bound) { target, count in
            unsafe input.withUnsafeBufferPointer { source in
                // zlib only reads through next_in; its type lacks the const that zlib's documentation promises.
                unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: source.baseAddress)
                unsafe stream.pointee.avail_in = inputCount
                unsafe stream.pointee.next_out = target.baseAddress
                unsafe stream.pointee.avail_out = available
                ended = unsafe deflate(stream, Z_FINISH) == Z_STREAM_END
            }
            count = unsafe Int(stream.pointee.total_out)
        }
        return ended ? output : nil
    }
}
