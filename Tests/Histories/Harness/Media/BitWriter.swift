/// Writes bits, most significant first, and the codes of ISO/IEC 14496-10 §9.1.
struct BitWriter {
    private(set) var bytes: [UInt8] = []
    private var pending: UInt8 = 0
    private var count = 0

    mutating func bit(_ value: Int) {
        pending = pending << 1 | UInt8(value & 1)
        count += 1
        guard count == 8 else { return }
        bytes.append(pending)
        (pending, count) = (0, 0)
    }

    mutating func bits(_ value: Int, _ width: Int) { for shift in (0..<width).reversed() { bit(value >> shift) } }

    /// ue(v)
    mutating func exponential(_ value: Int) {
        let width = Int.bitWidth - (value + 1).leadingZeroBitCount
        bits(0, width - 1)
        bits(value + 1, width)
    }

    /// Fills the last byte with zeros.
    mutating func align() { while count != 0 { bit(0) } }

    /// rbsp_trailing_bits
    mutating func endPayload() {
        bit(1)
        align()
    }
}
