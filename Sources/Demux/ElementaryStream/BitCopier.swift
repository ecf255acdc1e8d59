import Media

/// Bits read from one place and written, aligned to bytes, to another.
struct BitCopier: Sendable {
    private(set) var bytes: [UInt8] = []
    /// Bits written.
    private(set) var count = 0

    init() {}

    /// - Returns: the value of the bits.
    @discardableResult
    mutating func copy(_ size: Int, from bits: inout BitReader) throws(MediaError) -> Int {
        let value = try bits.u(size)
        for shift in (0..<size).reversed() {
            if count.isMultiple(of: 8) { bytes.append(0) }
            bytes[bytes.count - 1] |= UInt8(value >> shift & 1) << UInt8(7 - count % 8)
            count += 1
        }
        return value
    }

    /// Zeros up to the next byte.
    mutating func align() { count = bytes.count * 8 }
}
