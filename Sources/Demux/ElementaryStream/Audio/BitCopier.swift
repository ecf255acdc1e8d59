import Media

/// Copies bit fields from any bit position of its input to a byte-aligned output.
struct BitCopier: Sendable {
    private var writer = BitWriter()

    var bytes: [UInt8] { writer.bytes }
    /// Number of bits copied, padding included.
    var count: Int { writer.bitCount }

    init() {}

    /// Copies `size` bits and returns their value.
    @discardableResult
    mutating func copy(_ size: Int, from bits: inout BitReader) throws(MediaError) -> Int {
        let value = try bits.u(size)
        writer.append(value, bits: size)
        return value
    }

    /// Appends zeros up to the next byte boundary.
    mutating func align() { writer.align() }
}
