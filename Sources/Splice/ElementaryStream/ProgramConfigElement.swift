/// A program_config_element (ISO/IEC 14496-3 §4.4.1.1): the channels of AAC whose channel configuration is 0.
struct ProgramConfigElement: Equatable, Sendable {
    private static let elementID: UInt8 = 5
    private static let section = "ISO/IEC 14496-3 §4.4.1.1"

    let channelCount: Int
    /// From element_instance_tag on, aligned as if it began with a byte, comment included.
    let bytes: [UInt8]

    /// The element in front of a raw_data_block; nil when another stands there or it is cut off.
    init?(rawDataBlock: ArraySlice<UInt8>) {
        guard let first = rawDataBlock.first, first >> 5 == Self.elementID else { return nil }
        var bits = BitReader(rawDataBlock, section: Self.section)
        do throws(SpliceError) {
            try bits.skip(3)
            self = try Self(&bits, bitsInFront: 3)
        } catch {
            return nil
        }
    }

    private init(_ bits: inout BitReader, bitsInFront: Int) throws(SpliceError) {
        var copy = BitCopy()
        channelCount = try Self.take(&bits, into: &copy, bitsInFront: bitsInFront)
        bytes = copy.bytes
    }

    /// Copies one behind what `copy` holds.
    /// - Parameter bitsInFront: of the structure around it, as byte_alignment() counts them, less those in `copy`.
    /// - Returns: the number of channels.
    static func take(
        _ bits: inout BitReader, into copy: inout BitCopy, bitsInFront: Int = 0
    ) throws(SpliceError) -> Int {
        try copy.take(4 + 2 + 4, &bits)  // element_instance_tag, object_type, sampling_frequency_index
        let front = try copy.take(4, &bits)
        let side = try copy.take(4, &bits)
        let back = try copy.take(4, &bits)
        let lowFrequency = try copy.take(2, &bits)
        let associated = try copy.take(3, &bits)
        let coupling = try copy.take(4, &bits)
        for size in [4, 4, 3] where try copy.take(1, &bits) == 1 { try copy.take(size, &bits) }  // mixdowns
        var channels = lowFrequency
        for _ in 0..<front + side + back {
            channels += try copy.take(1, &bits) + 1  // is_cpe
            try copy.take(4, &bits)
        }
        for _ in 0..<lowFrequency + associated { try copy.take(4, &bits) }
        for _ in 0..<coupling { try copy.take(5, &bits) }
        try bits.skip((8 - (bitsInFront + copy.count) % 8) % 8)
        copy.align()
        let comment = try copy.take(8, &bits)
        for _ in 0..<comment { try copy.take(8, &bits) }
        return channels
    }
}
