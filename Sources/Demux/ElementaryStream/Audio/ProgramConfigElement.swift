import Media

/// A program_config_element (ISO/IEC 14496-3 §4.4.1.1): the channels of AAC with channel configuration 0.
struct ProgramConfigElement: Equatable, Sendable {
    private static let elementID: UInt8 = 5
    private static let section = "ISO/IEC 14496-3 §4.4.1.1"

    let channelCount: Int
    /// The element from element_instance_tag on, comment included, shifted to begin at a byte boundary.
    let bytes: [UInt8]

    /// Parses the element at the start of a raw_data_block; nil if another element is there or it is truncated.
    init?(rawDataBlock: ArraySlice<UInt8>) {
        guard let first = rawDataBlock.first, first >> 5 == Self.elementID else { return nil }
        var (bits, copy) = (BitReader(rawDataBlock, section: Self.section), BitWriter())
        do throws(MediaError) {
            try bits.skip(3)
            channelCount = try Self.copy(&bits, into: &copy, bitsBefore: 3)
        } catch {
            return nil
        }
        bytes = copy.bytes
    }

    /// Copies an element to the end of `copy`.
    /// - Parameter bitsBefore: bits of the enclosing structure that byte_alignment() counts, without those in `copy`.
    /// - Returns: The number of channels.
    static func copy(
        _ bits: inout BitReader, into copy: inout BitWriter, bitsBefore: Int = 0
    ) throws(MediaError) -> Int {
        try copy.copy(4 + 2 + 4, from: &bits)  // element_instance_tag, object_type, sampling_frequency_index
        let front = try copy.copy(4, from: &bits)
        let side = try copy.copy(4, from: &bits)
        let back = try copy.copy(4, from: &bits)
        let lowFrequency = try copy.copy(2, from: &bits)
        let associated = try copy.copy(3, from: &bits)
        let coupling = try copy.copy(4, from: &bits)
        for size in [4, 4, 3] where try copy.copy(1, from: &bits) == 1 { try copy.copy(size, from: &bits) }  // mixdowns
        var channels = lowFrequency
        for _ in 0..<front + side + back {
            channels += try copy.copy(1, from: &bits) + 1  // is_cpe
            try copy.copy(4, from: &bits)
        }
        for _ in 0..<lowFrequency + associated { try copy.copy(4, from: &bits) }
        for _ in 0..<coupling { try copy.copy(5, from: &bits) }
        try bits.skip((8 - (bitsBefore + copy.bitCount) % 8) % 8)
        copy.align()
        let comment = try copy.copy(8, from: &bits)
        for _ in 0..<comment { try copy.copy(8, from: &bits) }
        return channels
    }
}

extension BitWriter {
    /// Copies `size` bits of `bits` and returns their value.
    @discardableResult
    mutating func copy(_ size: Int, from bits: inout BitReader) throws(MediaError) -> Int {
        let value = try bits.u(size)
        append(value, bits: size)
        return value
    }
}
