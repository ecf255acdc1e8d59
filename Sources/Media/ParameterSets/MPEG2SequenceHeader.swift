/// The sequence header of MPEG-2 video and its extensions (ISO/IEC 13818-2 §6.2.2.1, §6.2.2.3, §6.2.2.4).
package struct MPEG2SequenceHeader: Sendable {
    package typealias Fraction = (numerator: Int, denominator: Int)

    /// The last byte of the start code: of a sequence header, of an extension.
    package static let startCode: UInt8 = 0xB3
    package static let extensionStartCode: UInt8 = 0xB5
    private static let section = "ISO/IEC 13818-2 §6.2.2.1"
    /// frame_rate_code (Table 6-4).
    private static let frameRates: [Fraction] = [
        (24_000, 1001), (24, 1), (25, 1), (30_000, 1001), (30, 1), (50, 1), (60_000, 1001), (60, 1),
    ]
    /// aspect_ratio_information: the display aspect ratio (Table 6-3). The first code says that samples are square.
    private static let displayAspectRatios: [Int: Fraction] = [2: (4, 3), 3: (16, 9), 4: (221, 100)]

    /// The extensions of a sequence.
    package enum Extension: UInt8, Sendable {
        case sequence = 1
        case display = 2
    }

    package private(set) var width: Int
    package private(set) var height: Int
    package private(set) var frameRate: Fraction?
    private let aspectRatioInformation: Int
    private var profileAndLevel = 0x48
    private(set) var colourDescription: VideoSignalType.ColourDescription?

    /// - Parameters:
    ///   - header: the sequence header from the last byte of its start code on.
    ///   - extensions: the extensions from the last byte of their start codes on, in any order.
    package init(_ header: [UInt8], extensions: [[UInt8]]) throws(MediaError) {
        var bits = BitReader(header[...], section: Self.section)
        try bits.skip(8)
        width = try bits.u(12)
        height = try bits.u(12)
        aspectRatioInformation = try bits.u(4)
        let rate = try bits.u(4) - 1
        frameRate = Self.frameRates.indices.contains(rate) ? Self.frameRates[rate] : nil
        for unit in extensions {
            var bits = BitReader(unit[...], section: Self.section)
            try bits.skip(8)
            switch Extension(rawValue: UInt8(try bits.u(4))) {
            case .sequence: try readSequence(&bits)
            case .display: try readDisplay(&bits)
            case nil: break
            }
        }
        guard width > 0, height > 0 else { throw bits.fault(.badParameterSet(field: "horizontal_size_value")) }
    }

    private mutating func readSequence(_ bits: inout BitReader) throws(MediaError) {
        profileAndLevel = try bits.u(8)
        try bits.skip(1 + 2)  // progressive_sequence, chroma_format
        width += try bits.u(2) << 12
        height += try bits.u(2) << 12
        try bits.skip(12 + 1 + 8 + 1)  // bit_rate, marker, vbv_buffer_size, low_delay
        let (numerator, denominator) = (try bits.u(2) + 1, try bits.u(5) + 1)
        frameRate = frameRate.map { ($0.numerator * numerator, $0.denominator * denominator) }
    }

    private mutating func readDisplay(_ bits: inout BitReader) throws(MediaError) {
        try bits.skip(3)  // video_format
        guard try bits.flag() else { return }
        colourDescription = VideoSignalType.ColourDescription(
            colourPrimaries: try bits.u(8), transferCharacteristics: try bits.u(8), matrixCoefficients: try bits.u(8))
    }

    package var sampleAspectRatio: Fraction? {
        if aspectRatioInformation == 1 { return (1, 1) }
        guard let (across, down) = Self.displayAspectRatios[aspectRatioInformation] else { return nil }
        return (across * height, down * width)
    }

    /// objectTypeIndication (ISO/IEC 14496-1 Table 5) for the profile. An unknown profile counts as Main.
    package var objectTypeIndication: UInt8 {
        guard profileAndLevel & 0x80 == 0 else { return 0x65 }  // 4:2:2
        return [5: 0x60, 4: 0x61, 3: 0x62, 2: 0x63, 1: 0x64][profileAndLevel >> 4] ?? 0x61
    }
}
