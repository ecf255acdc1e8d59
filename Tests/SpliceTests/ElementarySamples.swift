/// Byte streams in miniature: right in all that framing looks at.
enum ElementarySamples {
    static let delimiter: [UInt8] = [0x09, 0xF0]
    static let parameterSets = sequence(0) + picture(0)

    /// NAL units behind start codes of four bytes.
    static func stream(_ units: [[UInt8]]) -> [UInt8] { units.flatMap { [0, 0, 0, 1] + $0 } }

    /// An SPS with this id below 3; `mark` makes it another one.
    static func sequenceUnit(_ id: Int, mark: UInt8 = 0x55) -> [UInt8] {
        [0x67, 0x42, 0x00, 0x1E, exponentialGolomb(id), mark]
    }

    static func pictureUnit(_ id: Int, mark: UInt8 = 0x55) -> [UInt8] { [0x68, exponentialGolomb(id), mark] }

    static func sequence(_ id: Int, mark: UInt8 = 0x55) -> [UInt8] { stream([sequenceUnit(id, mark: mark)]) }

    static func picture(_ id: Int, mark: UInt8 = 0x55) -> [UInt8] { stream([pictureUnit(id, mark: mark)]) }

    /// A slice; the first of its picture unless told otherwise.
    static func slice(_ mark: UInt8, isIDR: Bool = false, isFirst: Bool = true, size: Int = 300) -> [UInt8] {
        [isIDR ? 0x65 : 0x41, isFirst ? 0x88 : 0x44] + [UInt8](repeating: mark | 0x10, count: size)
    }

    /// An access unit with its delimiter, an IDR with its parameter sets.
    static func idr(_ mark: UInt8, size: Int = 300) -> [UInt8] {
        stream([delimiter]) + parameterSets + stream([slice(mark, isIDR: true, size: size)])
    }

    static func plain(_ mark: UInt8, size: Int = 300) -> [UInt8] {
        stream([delimiter, slice(mark, size: size)])
    }

    static let recoveryPoint: [UInt8] = [0x06, 0x06, 0x01, 0xC0, 0x80]

    /// An ADTS frame of AAC-LC; `mark` fills it.
    static func adts(
        _ mark: UInt8, size: Int = 100, frequencyIndex: UInt8 = 3, channels: UInt8 = 2, isProtected: Bool = false,
        blocks: UInt8 = 1
    ) -> [UInt8] {
        let headerSize = isProtected ? 7 + 2 * Int(blocks) : 7
        let whole = headerSize + size
        let head: [UInt8] = [
            0xFF, isProtected ? 0xF0 : 0xF1, 0x40 | frequencyIndex << 2 | channels >> 2,
            (channels & 3) << 6 | UInt8(whole >> 11), UInt8(whole >> 3 & 0xFF), UInt8(whole & 7) << 5 | 0x1F,
            0xFC | (blocks - 1),
        ]
        return head + [UInt8](repeating: 0xAA, count: headerSize - 7) + [UInt8](repeating: mark & 0x7F, count: size)
    }

    private static func exponentialGolomb(_ value: Int) -> UInt8 { [0b1000_0000, 0b0100_0000, 0b0110_0000][value] }
}
