import CZlib

/// A gzip member (RFC 1952) that an origin sends without Content-Encoding, or compressed twice with one.
enum UndeclaredGzip: Equatable {
    /// Not gzip, or damaged, which the reader of the body will report.
    case none
    case whole([UInt8])
    /// The member is incomplete.
    case truncated
    case beyondLimit

    /// - Parameter limit: the largest decompressed size. Nothing of a larger body is kept.
    init(_ body: [UInt8], limit: Int) {
        // Deflate is the only method.
        guard body.starts(with: [0x1F, 0x8B, 0x08]), var inflate = Inflate() else {
            self = .none
            return
        }
        self = inflate.finish(body, limit: limit)
    }
}

/// Owns the state of one zlib decompressor.
@safe private struct Inflate: ~Copyable {
    /// The largest window of deflate, plus 16, by which zlib expects a gzip header and trailer.
    private static let windowBits = MAX_WBITS + 16
    private static let stepBytes = 64 << 10

    private let stream: UnsafeMutablePointer<z_stream>

    /// Returns nil if memory is exhausted.
    init?() {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        guard unsafe liverelay_inflate_init(stream, Self.windowBits) == Z_OK else {
            unsafe stream.deallocate()
            return nil
        }
        unsafe self.stream = unsafe stream
    }

    deinit {
        _ = unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Decompresses `input`, the only input of this stream. Bytes after the member are ignored.
    mutating func finish(_ input: [UInt8], limit: Int) -> UndeclaredGzip {
        guard let count = UInt32(exactly: input.count) else { return .none }
        return unsafe input.withUnsafeBufferPointer { source in
            // zlib only reads through next_in, although its type lacks the const that zlib's documentation promises.
            unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: source.baseAddress)
            unsafe stream.pointee.avail_in = count
            return drain(limit: limit)
        }
    }

    private mutating func drain(limit: Int) -> UndeclaredGzip {
        var output: [UInt8] = []
        while true {
            let (code, bytes) = step()
            guard bytes.count <= limit - output.count else { return .beyondLimit }
            output += bytes
            switch code {
            case Z_STREAM_END: return .whole(output)
            case Z_OK where !bytes.isEmpty: continue
            // No progress is possible, because the input is used up.
            case Z_OK, Z_BUF_ERROR: return .truncated
            default: return .none
            }
        }
    }

    private mutating func step() -> (code: CInt, bytes: [UInt8]) {
        var code = Z_OK
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Self.stepBytes) { target, count in
            unsafe stream.pointee.next_out = target.baseAddress
            unsafe stream.pointee.avail_out = UInt32(Self.stepBytes)
            code = unsafe inflate(stream, Z_NO_FLUSH)
            count = unsafe Self.stepBytes - Int(stream.pointee.avail_out)
        }
        return (code, bytes)
    }
}
