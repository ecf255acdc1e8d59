/// Minimal byte streams, correct in every field that framing reads.
enum ElementarySamples {
    static let delimiter: [UInt8] = [0x09, 0xF0]
    static let parameterSets = sequence(0) + picture(0)

    /// NAL units with four-byte start codes.
    static func stream(_ units: [[UInt8]]) -> [UInt8] { units.flatMap { [0, 0, 0, 1] + $0 } }

    /// An SPS with an identifier below 3; sets with different `fill` differ.
    static func sequenceUnit(_ id: Int, fill: UInt8 = 0x55) -> [UInt8] {
        [0x67, 0x42, 0x00, 0x1E, exponentialGolomb(id), fill]
    }

    static func pictureUnit(_ id: Int, fill: UInt8 = 0x55) -> [UInt8] { [0x68, exponentialGolomb(id), fill] }

    static func sequence(_ id: Int, fill: UInt8 = 0x55) -> [UInt8] { stream([sequenceUnit(id, fill: fill)]) }

    static func picture(_ id: Int, fill: UInt8 = 0x55) -> [UInt8] { stream([pictureUnit(id, fill: fill)]) }

    /// A slice, by default the first of its picture.
    static func slice(_ fill: UInt8, isIDR: Bool = false, isFirst: Bool = true, size: Int = 300) -> [UInt8] {
        [isIDR ? 0x65 : 0x41, isFirst ? 0x88 : 0x44] + [UInt8](repeating: fill | 0x10, count: size)
    }

    /// An access unit with a delimiter; an IDR also has parameter sets.
    static func idr(_ fill: UInt8, size: Int = 300) -> [UInt8] {
        stream([delimiter]) + parameterSets + stream([slice(fill, isIDR: true, size: size)])
    }

    static func plain(_ fill: UInt8, size: Int = 300) -> [UInt8] {
        stream([delimiter, slice(fill, size: size)])
    }

    static let recoveryPoint: [UInt8] = [0x06, 0x06, 0x01, 0xC0, 0x80]

    /// An ADTS frame of AAC-LC whose payload is `fill` repeated.
    static func adts(
        _ fill: UInt8, size: Int = 100, frequencyIndex: UInt8 = 3, channels: UInt8 = 2, isProtected: Bool = false,
        blocks: UInt8 = 1
    ) -> [UInt8] {
        let headerSize = isProtected ? 7 + 2 * Int(blocks) : 7
        let whole = headerSize + size
        let head: [UInt8] = [
            0xFF, isProtected ? 0xF0 : 0xF1, 0x40 | frequencyIndex << 2 | channels >> 2,
            (channels & 3) << 6 | UInt8(whole >> 11), UInt8(whole >> 3 & 0xFF), UInt8(whole & 7) << 5 | 0x1F,
            0xFC | (blocks - 1),
        ]
        return head + [UInt8](repeating: 0xAA, count: headerSize - 7) + [UInt8](repeating: fill & 0x7F, count: size)
    }

    private static func exponentialGolomb(_ value: Int) -> UInt8 { [0b1000_0000, 0b0100_0000, 0b0110_0000][value] }
}
