import Media

@testable import Demux

/// Streams of every audio framing, correct in every field that framing reads, with the variants of each header.
enum AudioSeeds {
    /// A few frames of one framing.
    struct Stream {
        let framing: AudioFraming
        /// The stream_type and the descriptors that announce it in a PMT.
        let type: UInt8
        var descriptors: [UInt8] = []
        /// Whether packets can be made of it.
        var isUsable = true
        let bytes: [UInt8]
    }

    static let streams = mpeg + ac3 + loas + unusable

    /// Syncwords and the fields after them.
    static let words: [FuzzWord] = [
        [0xFF, 0xF1, 0x4C, 0x80], [0xFF, 0xF0, 0x4C, 0x80], [0xFF, 0xFB, 0x14, 0xC0], [0xFF, 0xFD, 0x14, 0x00],
        [0xFF, 0xFF, 0x14, 0x00], [0xFF, 0xF3, 0x14, 0x00], [0x0B, 0x77, 0, 0, 0x08, 0x40, 0x40, 0],
        [0x0B, 0x77, 0, 0x1F, 0x34, 0x80], [0x0B, 0x77, 0x40, 0x13, 0x34, 0x80], [0x0B, 0x77, 0x08, 0x1F, 0x34, 0x80],
        [0x56, 0xE0], [0x56, 0xE0, 0x10, 0x80], [0x56, 0xE0, 0x10, 0x20, 0, 0x11, 0x90], [0x56, 0xFF, 0xFF],
        [0xFF, 0xFF, 0xFF],
    ]

    private static func fill(_ count: Int, _ byte: UInt8 = 0x21) -> [UInt8] { Array(repeating: byte, count: count) }

    // MARK: - MPEG audio, AC-3

    private static let mpeg: [Stream] = [
        Stream(framing: .mpeg, type: 0x0F, bytes: adts() + adts(blocks: 2) + adts(isProtected: true)),
        Stream(framing: .mpeg, type: 0x0F, bytes: adts(frequency: 12) + adts(channels: 0, payload: element + fill(9))),
        // MPEG-1 layers III, II and I at 48 kHz, MPEG-2 layer III at 24 kHz.
        Stream(
            framing: .mpeg, type: 0x03,
            bytes: ([0xFF, 0xFB, 0x14, 0xC0] + fill(92)) + ([0xFF, 0xFB, 0x14, 0] + fill(92))),
        Stream(
            framing: .mpeg, type: 0x03, bytes: ([0xFF, 0xFD, 0x14, 0] + fill(92)) + ([0xFF, 0xFD, 0x14, 0] + fill(92))),
        Stream(
            framing: .mpeg, type: 0x04, bytes: ([0xFF, 0xFF, 0x14, 0] + fill(28)) + ([0xFF, 0xF3, 0x14, 0] + fill(20))),
    ]

    private static func adts(
        frequency: UInt8 = 3, channels: UInt8 = 2, blocks: UInt8 = 1, isProtected: Bool = false,
        payload: [UInt8] = fill(12)
    ) -> [UInt8] {
        let header = isProtected ? 7 + 2 * Int(blocks) : 7
        let size = header + payload.count
        return [
            0xFF, isProtected ? 0xF0 : 0xF1, 0x40 | frequency << 2 | channels >> 2,
            (channels & 3) << 6 | UInt8(size >> 11), UInt8(size >> 3 & 0xFF), UInt8(size & 7) << 5 | 0x1F,
            0xFC | blocks - 1,
        ] + fill(header - 7, 0xAA) + payload
    }

    /// A program_config_element with a stereo pair in front, for channel configuration 0.
    private static var element: [UInt8] {
        var bits = BitWriter()
        bits.append(5, bits: 3)
        appendProgramConfig(&bits)
        bits.align()
        bits.append(0, bits: 8)  // comment_field_bytes
        return bits.bytes
    }

    /// From element_instance_tag to the last channel.
    private static func appendProgramConfig(_ bits: inout BitWriter) {
        bits.append(0, bits: 4)
        bits.append(1, bits: 2)  // object_type
        bits.append(3, bits: 4)  // sampling_frequency_index
        for (count, size) in [(1, 4), (0, 4), (0, 4), (0, 2), (0, 3), (0, 4)] { bits.append(count, bits: size) }
        bits.append(0, bits: 3)  // mixdowns
        bits.append(0b10000, bits: 5)  // a channel pair
    }

    private static let ac3: [Stream] = [
        Stream(framing: .ac3, type: 0x81, bytes: plainAC3 + plainAC3),
        Stream(framing: .ac3, type: 0x87, bytes: enhanced() + enhanced(type: 1, size: 40) + enhanced()),
        Stream(
            framing: .ac3, type: 0x06, descriptors: [0x7A, 1, 0],
            bytes: enhanced() + enhanced(substream: 1) + enhanced(type: 2) + enhanced(code: 0x04, size: 24)),
        Stream(
            framing: .ac3, type: 0x06, descriptors: [0x6A, 1, 0],
            bytes: plainAC3 + enhanced(type: 1, substream: 3, size: 128) + enhanced(code: 0xC4)),
    ]

    /// 32 kbit/s at 48 kHz, the smallest frame.
    private static let plainAC3: [UInt8] = [0x0B, 0x77, 0, 0, 0x00, 0x40, 0x40, 0] + fill(120)

    /// - Parameter code: fscod, numblkscod, acmod and lfeon.
    private static func enhanced(
        type: UInt8 = 0, substream: UInt8 = 0, code: UInt8 = 0x34, size: Int = 64
    ) -> [UInt8] {
        let words = size / 2 - 1
        return [0x0B, 0x77, type << 6 | substream << 3 | UInt8(words >> 8), UInt8(words & 0xFF), code, 0x80]
            + fill(size - 6, type == 1 ? 0xB5 : 0x20)
    }
}

// MARK: - LATM

extension AudioSeeds {
    private static let loas = [
        latm(config: { appendConfig(&$0) }),
        latm(frames: 3, config: { appendConfig(&$0) }),
        latm(version: 1, config: { appendConfig(&$0) }),
        latm(otherBits: true, config: { appendConfig(&$0, isShort: true) }),
        latm(config: { appendConfig(&$0, rate: 48_000) }),
        // SBR before the configuration that it extends, and channels of a program_config_element.
        latm(config: { appendConfig(&$0, type: 5) }),
        latm(version: 1, config: { appendConfig(&$0, channels: 0) }),
    ].map { Stream(framing: .loas, type: 0x11, bytes: $0) }

    /// Rates that no audio has.
    private static let unusable = [0, 1, 3, 0xFF_FFFF].map { rate in
        Stream(framing: .loas, type: 0x11, isUsable: false, bytes: latm(config: { appendConfig(&$0, rate: rate) }))
    }

    /// An AudioSyncStream: an element with a StreamMuxConfig, two that use the same, and one with another payload.
    private static func latm(
        version: Int = 0, frames: Int = 1, otherBits: Bool = false, config: (inout BitWriter) -> Void
    ) -> [UInt8] {
        var bits = BitWriter()
        bits.append(0, bits: 1)  // useSameStreamMux
        bits.append(version, bits: 1)
        if version == 1 {
            bits.append(0, bits: 1)  // audioMuxVersionA
            appendValue(&bits, 255)
        }
        bits.append(1, bits: 1)  // allStreamsSameTimeFraming
        bits.append(frames - 1, bits: 6)
        bits.append(0, bits: 4 + 3)  // numProgram, numLayer
        // The configuration counts its bits from its own beginning.
        var specific = BitWriter()
        config(&specific)
        if version == 1 { appendValue(&bits, specific.bitCount) }
        for bit in 0..<specific.bitCount { bits.append(Int(specific.bytes[bit / 8] >> (7 - bit % 8)) & 1, bits: 1) }
        bits.append(0, bits: 3)  // frameLengthType
        bits.append(0xFF, bits: 8)
        bits.append(otherBits ? 0b1_0_00000000_1_00000000 : 0, bits: otherBits ? 19 : 2)  // otherData, crcCheck
        let payload = Array(repeating: 8, count: frames).flatMap { [$0] + Array(repeating: 0x21, count: $0) }
        for byte in payload { bits.append(byte, bits: 8) }
        var same = BitWriter()
        same.append(1, bits: 1)
        for byte in payload { same.append(byte, bits: 8) }
        return [bits, same, same].flatMap { synchronized($0.bytes) }
    }

    private static func synchronized(_ element: [UInt8]) -> [UInt8] {
        [0x56, 0xE0 | UInt8(element.count >> 8), UInt8(element.count & 0xFF)] + element
    }

    /// LatmGetValue() in one or two bytes.
    private static func appendValue(_ bits: inout BitWriter, _ value: Int) {
        bits.append(value > 255 ? 1 : 0, bits: 2)
        bits.append(value, bits: value > 255 ? 16 : 8)
    }

    /// An AudioSpecificConfig. `rate`: escaped; nil: 48 kHz by its index.
    private static func appendConfig(
        _ bits: inout BitWriter, type: Int = 2, rate: Int? = nil, channels: Int = 2, isShort: Bool = false
    ) {
        bits.append(type, bits: 5)
        bits.append(rate == nil ? 3 : 15, bits: 4)
        if let rate { bits.append(rate, bits: 24) }
        bits.append(channels, bits: 4)
        if type == 5 {
            bits.append(3, bits: 4)
            bits.append(2, bits: 5)
        }
        bits.append(isShort ? 1 : 0, bits: 1)
        bits.append(0, bits: 2)
        guard channels == 0 else { return }
        appendProgramConfig(&bits)
        bits.align()
        bits.append(0, bits: 8)
    }
}
