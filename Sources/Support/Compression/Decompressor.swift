import CLzma
import CZlib

/// Decompresses content that comes in parts: gzip or xz, by its first bytes, or neither.
///
/// Members that follow each other are one content, as in the gzip program.
@safe package struct Decompressor: ~Copyable {
    package enum Failure: Error, Equatable {
        /// The content is damaged, or ends too early.
        case damaged
        /// `receive` returned false.
        case stopped
    }

    private enum Codec { case gzip, xz, none }

    private static let stepByteCount = 256 << 10
    /// In bytes. The xz decoder refuses content that needs more memory; the highest preset of xz needs 64 MiB.
    private static let memoryLimit: UInt64 = 80 << 20

    /// The first bytes, until the codec is known.
    private var head: [UInt8] = []
    private var codec: Codec?
    private let zlib: UnsafeMutablePointer<z_stream>
    private let lzma: UnsafeMutablePointer<lzma_stream>
    private var isAtEnd = false
    /// Whether bytes other than a member follow the last member.
    private var isPadded = false

    package init() {
        unsafe zlib = .allocate(capacity: 1)
        unsafe zlib.initialize(to: z_stream())
        unsafe lzma = .allocate(capacity: 1)
        unsafe lzma.initialize(to: lzma_stream())
    }

    deinit {
        if codec == .gzip { _ = unsafe inflateEnd(zlib) }
        if codec == .xz { unsafe lzma_end(lzma) }
        unsafe zlib.deallocate()
        unsafe lzma.deallocate()
    }

    /// Passes on the content of `bytes` in parts, each of a bounded size.
    /// - Parameter receive: returns false to stop.
    package mutating func decompress(
        _ bytes: [UInt8], isLast: Bool, to receive: ([UInt8]) -> Bool
    ) throws(Failure) {
        var bytes = bytes
        if codec == nil {
            head += bytes
            guard head.count >= 6 || isLast else { return }
            guard begin() else { throw .damaged }
            (bytes, head) = (head, [])
        }
        guard codec != Codec.none else {
            if !bytes.isEmpty, !receive(bytes) { throw .stopped }
            return
        }
        var offset = 0
        while offset < bytes.count || isLast {
            guard let step = step(bytes, from: offset, isLast: isLast) else { throw .damaged }
            offset += step.consumed
            if !step.bytes.isEmpty, !receive(step.bytes) { throw .stopped }
            if step.consumed == 0, step.bytes.isEmpty { break }
        }
        if isLast, !isAtEnd { throw .damaged }
    }

    private mutating func begin() -> Bool {
        if head.starts(with: [0x1F, 0x8B, 0x08]) {
            guard unsafe liverelay_inflate_init(zlib, Gzip.windowBits) == Z_OK else { return false }
            codec = .gzip
        } else if head.starts(with: [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00]) {
            let flags = liverelay_lzma_concatenated
            guard unsafe lzma_stream_decoder(lzma, Self.memoryLimit, flags) == LZMA_OK else { return false }
            codec = .xz
        } else {
            codec = Codec.none
        }
        return true
    }

    /// Returns nil if the content is damaged.
    private mutating func step(_ input: [UInt8], from offset: Int, isLast: Bool) -> (consumed: Int, bytes: [UInt8])? {
        // Bytes after the last member are padding unless they begin another member.
        if isAtEnd, codec == .gzip, !restart(input[offset...]) { return (input.count - offset, []) }
        var (consumed, isIntact) = (0, true)
        let output = unsafe [UInt8](unsafeUninitializedCapacity: Self.stepByteCount) { target, count in
            unsafe input.withUnsafeBufferPointer { source in
                let rest = unsafe UnsafeMutablePointer(mutating: source.baseAddress.map { unsafe $0 + offset })
                let available = source.count - offset
                if codec == .gzip {
                    unsafe (zlib.pointee.next_in, zlib.pointee.avail_in) = (rest, UInt32(available))
                    unsafe (zlib.pointee.next_out, zlib.pointee.avail_out) = (target.baseAddress, UInt32(target.count))
                    let code = unsafe inflate(zlib, Z_NO_FLUSH)
                    isAtEnd = code == Z_STREAM_END
                    isIntact = code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR
                    consumed = unsafe available - Int(zlib.pointee.avail_in)
                    count = unsafe target.count - Int(zlib.pointee.avail_out)
                } else {
                    unsafe (lzma.pointee.next_in, lzma.pointee.avail_in) = (UnsafePointer(rest), available)
                    unsafe (lzma.pointee.next_out, lzma.pointee.avail_out) = (target.baseAddress, target.count)
                    let code = unsafe lzma_code(lzma, isLast ? LZMA_FINISH : LZMA_RUN)
                    isAtEnd = code == LZMA_STREAM_END
                    isIntact = code == LZMA_OK || code == LZMA_STREAM_END || code == LZMA_BUF_ERROR
                    consumed = unsafe available - lzma.pointee.avail_in
                    count = unsafe target.count - lzma.pointee.avail_out
                }
            }
        }
        return isIntact ? (consumed, output) : nil
    }

    /// Begins with the next member; false if no member follows. The second byte of a member may be in the next part.
    private mutating func restart(_ rest: ArraySlice<UInt8>) -> Bool {
        guard !isPadded, let first = rest.first else { return false }
        isPadded = first != 0x1F
        guard !isPadded else { return false }
        isAtEnd = false
        return unsafe inflateReset(zlib) == Z_OK
    }
}
