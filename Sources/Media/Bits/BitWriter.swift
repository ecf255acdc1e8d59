/// Appends bit fields, most significant bit first; the last byte is filled up with zeros.
package struct BitWriter {
    package private(set) var bytes: [UInt8] = []

    package init() {}
    private var free = 0

    package mutating func append(_ value: Int, bits: Int) {
        for shift in stride(from: bits - 1, through: 0, by: -1) {
            if free == 0 {
                bytes.append(0)
                free = 8
            }
            free -= 1
            bytes[bytes.count - 1] |= UInt8(value >> shift & 1) << UInt8(free)
        }
    }
}
