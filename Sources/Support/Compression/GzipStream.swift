import CZlib

/// Makes one gzip member: of content that comes in parts, or of a whole body.
@safe package struct GzipStream: ~Copyable {
    /// zlib's default, 6 of 9: playlists are small, and higher levels do not compress them further.
    private static let level = Z_DEFAULT_COMPRESSION
    /// zlib's default in 1...9: 128 KiB of state while compressing.
    private static let memoryLevel: CInt = 8
    private static let stepByteCount = 64 << 10

    private let stream: UnsafeMutablePointer<z_stream>

    /// - Returns: nil if zlib cannot allocate its state.
    package init?() {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        guard unsafe liverelay_deflate_init(stream, Self.level, Gzip.windowBits, Self.memoryLevel) == Z_OK else {
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

    /// Returns what is ready of the member after `bytes`; with `isLast`, the rest of it.
    package mutating func compress(_ bytes: [UInt8], isLast: Bool = false) -> [UInt8] {
        var output: [UInt8] = []
        unsafe bytes.withUnsafeBufferPointer { source in
            // zlib only reads through next_in; its type lacks the const that zlib's documentation promises.
            unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: source.baseAddress)
            unsafe stream.pointee.avail_in = UInt32(source.count)
            var isFull = true
            while isFull {
                let part = step(isLast ? Z_FINISH : Z_NO_FLUSH)
                output += part
                isFull = part.count == Self.stepByteCount
            }
        }
        return output
    }

    private mutating func step(_ flush: CInt) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: Self.stepByteCount) { target, count in
            unsafe stream.pointee.next_out = target.baseAddress
            unsafe stream.pointee.avail_out = UInt32(Self.stepByteCount)
            _ = unsafe deflate(stream, flush)
            count = unsafe Self.stepByteCount - Int(stream.pointee.avail_out)
        }
    }
}
