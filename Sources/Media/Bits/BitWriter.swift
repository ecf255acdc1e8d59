/// Appends bit fields, most significant bit first, and fills the last byte with zeros.
package struct BitWriter: Sendable {
    package private(set) var bytes: [UInt8] = []
    /// Number of bits written, padding of `align()` included.
    package private(set) var bitCount = 0

    package init() {}

    package mutating func append(_ value: Int, bits count: Int) {
        for shift in (0..<count).reversed() {
            if bitCount.isMultiple(of: 8) { bytes.append(0) }
            bytes[bytes.count - 1] |= UInt8(value >> shift & 1) << UInt8(7 - bitCount % 8)
            bitCount += 1
        }
    }

    package mutating func align() { bitCount = bytes.count * 8 }
}
