import CZlib

/// One whole body as one gzip member (RFC 1952), made once when a playlist is published and then served as it lies.
enum Gzip {
    /// zlib's own default, 6 of 9: a playlist is small, and higher levels gain nothing on it.
    private static let level = Z_DEFAULT_COMPRESSION
    /// The largest window of deflate, and 16 more, which is how zlib is told to write a gzip header and trailer.
    private static let windowBits = MAX_WBITS + 16
    /// zlib's default of 1...9: 128 KiB of state while compressing.
    private static let memoryLevel: CInt = 8

    /// - Returns: the member, the same bytes for the same input (its header carries no time and no name), or nil if
    ///   zlib could not allocate its state; the caller then has the uncompressed body only.
    static func compress(_ bytes: [UInt8]) -> [UInt8]? {
        guard var deflate = Deflate(level: level, windowBits: windowBits, memoryLevel: memoryLevel) else { return nil }
        return deflate.finish(bytes)
    }
}

/// The state of one zlib compressor, freed with it.
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

    /// Compresses `input`, the only input of this stream, in one call: the output is as large as it can ever get.
    mutating func finish(_ input: [UInt8]) -> [UInt8]? {
        guard let inputCount = UInt32(exactly: input.count) else { return nil }
        let bound = unsafe Int(deflateBound(stream, uLong(inputCount)))
        guard let room = UInt32(exactly: bound) else { return nil }
        var ended = false
        let output = unsafe [UInt8](unsafeUninitializedCapacity: bound) { target, count in
            unsafe input.withUnsafeBufferPointer { source in
                // zlib reads through next_in only; its type lacks the const that zlib's documentation promises.
                unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: source.baseAddress)
                unsafe stream.pointee.avail_in = inputCount
                unsafe stream.pointee.next_out = target.baseAddress
                unsafe stream.pointee.avail_out = room
                ended = unsafe deflate(stream, Z_FINISH) == Z_STREAM_END
            }
            count = unsafe Int(stream.pointee.total_out)
        }
        return ended ? output : nil
    }
}
