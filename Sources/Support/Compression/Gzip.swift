import CZlib

/// Gzip members (RFC 1952) of whole bodies, by zlib.
package enum Gzip {
    /// The largest window of deflate, plus 16, which makes zlib write or expect a gzip header and trailer.
    static let windowBits = MAX_WBITS + 16

    /// Compresses a body into one gzip member. Equal input gives equal output: the header contains no time and no name.
    /// - Returns: nil if zlib cannot allocate its state.
    package static func compress(_ bytes: [UInt8]) -> [UInt8]? {
        guard var stream = GzipStream() else { return nil }
        return stream.compress(bytes, isLast: true)
    }

    /// The result of decompressing a body that may be a gzip member.
    package enum Decompressed: Equatable, Sendable {
        /// The body is no gzip member, or a damaged one.
        case notGzip
        case whole([UInt8])
        /// The member ends too early.
        case truncated
        /// The content exceeds the limit; none of it is kept.
        case beyondLimit
        case canceled
    }

    /// The first bytes of a member. 8 is deflate, the only compression method that RFC 1952 defines.
    package static let magic: [UInt8] = [0x1F, 0x8B, 0x08]

    /// Decompresses the gzip member at the start of a body and ignores what follows it.
    /// - Parameters:
    ///   - limit: maximum size of the content, in bytes.
    ///   - isDeflate: whether a body that begins otherwise is compressed with deflate (RFC 9110 §8.4.1.2), with the header
    ///     of zlib or, as some servers send it, without.
    package static func decompress(_ body: [UInt8], limit: Int, isDeflate: Bool = false) -> Decompressed {
        let isGzip = body.starts(with: magic)
        guard isGzip || isDeflate, body.count >= 2 else { return .notGzip }
        let hasHeader = body[0] & 15 == 8 && (Int(body[0]) << 8 | Int(body[1])).isMultiple(of: 31)
        guard var inflate = Inflate(isGzip ? windowBits : hasHeader ? MAX_WBITS : -MAX_WBITS) else { return .notGzip }
        return inflate.finish(body, limit: limit, isSized: isGzip)
    }
}

/// The state of one zlib decompressor.
@safe private struct Inflate: ~Copyable {
    private static let stepByteCount = 64 << 10

    private let stream: UnsafeMutablePointer<z_stream>

    /// - Returns: nil if zlib cannot allocate its state.
    init?(_ windowBits: CInt) {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        guard unsafe liverelay_inflate_init(stream, windowBits) == Z_OK else {
            unsafe stream.deallocate()
            return nil
        }
        unsafe self.stream = unsafe stream
    }

    deinit {
        _ = unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Decompresses the only input of this stream.
    /// - Parameter isSized: whether the trailer states the size of the content.
    mutating func finish(_ input: [UInt8], limit: Int, isSized: Bool) -> Gzip.Decompressed {
        guard let count = UInt32(exactly: input.count) else { return .notGzip }
        return unsafe input.withUnsafeBufferPointer { source in
            // zlib only reads through next_in; its type lacks the const that zlib's documentation promises.
            unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: source.baseAddress)
            unsafe stream.pointee.avail_in = count
            return drain(limit: limit, expected: isSized ? Self.contentByteCount(of: input) : 0)
        }
    }

    /// The size of the content modulo 2³² as the trailer states it (RFC 1952 §2.3.1), if the member ends where the
    /// input ends.
    private static func contentByteCount(of input: [UInt8]) -> Int {
        input.suffix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    /// - Parameter expected: the size that the trailer states, reserved in advance so that the output is not copied as
    ///   it grows.
    private mutating func drain(limit: Int, expected: Int) -> Gzip.Decompressed {
        var output: [UInt8] = []
        output.reserveCapacity(min(expected, limit))
        while !StepCounter.isTaskCanceled() {
            let (code, bytes) = step()
            StepCounter.add(bytes.count)
            guard bytes.count <= limit - output.count else { return .beyondLimit }
            output += bytes
            switch code {
            case Z_STREAM_END: return .whole(output)
            case Z_OK where !bytes.isEmpty: continue
            // No progress is possible, because the input is used up.
            case Z_OK, Z_BUF_ERROR: return .truncated
            default: return .notGzip
            }
        }
        return .canceled
    }

    private mutating func step() -> (code: CInt, bytes: [UInt8]) {
        var code = Z_OK
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Self.stepByteCount) { target, count in
            unsafe stream.pointee.next_out = target.baseAddress
            unsafe stream.pointee.avail_out = UInt32(Self.stepByteCount)
            code = unsafe inflate(stream, Z_NO_FLUSH)
            count = unsafe Self.stepByteCount - Int(stream.pointee.avail_out)
        }
        return (code, bytes)
    }
}

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

    /// Returns the compressed bytes that are ready after `bytes`; with `isLast`, the rest of the member.
    package mutating func compress(_ bytes: [UInt8], isLast: Bool = false) -> [UInt8] {
        var output: [UInt8] = []
        unsafe bytes.withUnsafeBufferPointer { source in
            // zlib only reads through next_in; its type lacks the const that zlib's documentation promises.
            unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: source.baseAddress)
            unsafe stream.pointee.avail_in = UInt32(source.count)
            var isFull = true
            while isFull {
                let part = step(isLast ? Z_FINISH : Z_NO_FLUSH)
                if output.isEmpty { output = part } else { output += part }
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
