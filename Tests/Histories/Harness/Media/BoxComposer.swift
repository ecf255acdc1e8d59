/// Writes boxes of ISO/IEC 14496-12.
struct BoxComposer {
    private(set) var bytes: [UInt8] = []

    /// Writes a box of everything that `content` writes.
    mutating func box(_ type: String, _ content: (inout BoxComposer) -> Void) {
        let start = bytes.count
        integer(0, 4)
        text(type)
        content(&self)
        replace(bytes.count - start, at: start)
    }

    mutating func fullBox(_ type: String, version: Int = 0, flags: Int = 0, _ content: (inout BoxComposer) -> Void) {
        box(type) { box in
            box.integer(version << 24 | flags, 4)
            content(&box)
        }
    }

    /// - Parameter count: of bytes.
    mutating func integer(_ value: Int, _ count: Int) {
        for position in (0..<count).reversed() { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * position))) }
    }

    mutating func integers(_ values: [Int], _ count: Int) { for value in values { integer(value, count) } }

    mutating func text(_ text: String) { bytes += text.utf8 }

    mutating func append(_ more: [UInt8]) { bytes += more }

    mutating func zeros(_ count: Int) { bytes += repeatElement(0, count: count) }

    /// Replaces the 32 bits at an offset.
    mutating func replace(_ value: Int, at offset: Int) {
        for position in 0..<4 { bytes[offset + position] = UInt8(truncatingIfNeeded: value >> (8 * (3 - position))) }
    }
}
