/// splice_insert of a break that begins at once and returns by itself (ANSI/SCTE 35 §9.7.3).
enum SpliceInsert {
    /// The whole splice_info_section.
    static func section(event: Int, seconds: Int) -> [UInt8] {
        var writer = BitWriter()
        writer.bits(0xFC, 8)
        writer.bits(0b0011, 4)
        writer.bits(32, 12)
        writer.bits(0, 8 + 1 + 6 + 33)
        writer.bits(0xFF, 8)
        writer.bits(0xFFF, 12)
        writer.bits(15, 12)
        writer.bits(5, 8)
        writer.bits(event, 32)
        writer.bits(0b0_1111111, 8)
        writer.bits(0b1111_1111, 8)  // out of the network, the whole program, with a duration, at once
        writer.bits(0b1_111111, 7)
        writer.bits(seconds * 90_000, 33)
        writer.bits(1, 16)
        writer.bits(0, 16)
        writer.bits(0, 16)
        return FrameTemplates.checked(writer.bytes)
    }
}
