import CZlib

/// Makes one gzip member of content that comes in parts.
@safe package struct GzipStream: ~Copyable {
    private static let stepByteCount = 64 << 10

    private let stream: UnsafeMutablePointer<z_stream>

    /// - Returns: nil if zlib cannot allocate its state.
    package init?() {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        guard unsafe liverelay_deflate_init(stream, Z_DEFAULT_COMPRESSION, Gzip.windowBits, 8) == Z_OK else {
            unsafe stream.deallocate()
            return nil
        }
        unsafe self.stream = unsafe stream
    }

    deinit {
        _ = unsafe deflateEnd(stream)
        unsafe stream.deallocate()
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
