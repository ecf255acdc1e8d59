/// Identity of a frame: the content that it belongs to, and its number in it.
///
/// The same creative has the same bytes in every showing, as in the field: which showing a published frame belongs to
/// follows from its order.
struct FrameIdentity: Hashable {
    let content: Int
    let frame: Int

    /// Content and frame as 12 hexadecimal digits.
    var digits: [UInt8] {
        var digits = [UInt8](repeating: 0, count: 12)
        write(to: &digits, at: 0)
        return digits
    }

    /// Writes the digits in the place of others.
    func write(to bytes: inout [UInt8], at start: Int) {
        let value = content << 32 | frame
        for position in 0..<12 {
            let digit = UInt8(value >> (4 * (11 - position)) & 15)
            bytes[start + position] = digit < 10 ? 0x30 + digit : 0x57 + digit
        }
    }

    init(content: Int, frame: Int) { (self.content, self.frame) = (content, frame) }

    init?(digits: ArraySlice<UInt8>) {
        guard digits.count == 12 else { return nil }
        var (content, frame) = (0, 0)
        for position in digits.indices {
            guard let value = Self.value(digits[position]) else { return nil }
            if position - digits.startIndex < 4 { content = content << 4 | value } else { frame = frame << 4 | value }
        }
        self.init(content: content, frame: frame)
    }

    private static func value(_ digit: UInt8) -> Int? {
        switch digit {
        case 0x30...0x39: Int(digit) - 0x30
        case 0x61...0x66: Int(digit) - 0x57
        default: nil
        }
    }
}

/// H.264 access units without an encoder: gray IDR pictures, and P and B pictures whose macroblocks are all skipped. Any
/// decoder decodes them.
enum CodedVideo {
    /// uuid_iso_iec_11578 of the SEI messages that hold an identity.
    static let identifier = Array("liverelayhistory".utf8)

    private static let start: [UInt8] = [0, 0, 0, 1]

    static func sequenceParameterSet(_ format: MediaFormat) -> [UInt8] {
        var writer = BitWriter()
        for byte in [0x67, 77, 0, 30] { writer.bits(byte, 8) }
        writer.exponential(0)
        writer.exponential(0)  // log2_max_frame_num_minus4
        writer.exponential(format.reorders ? 0 : 2)  // pic_order_cnt_type
        if format.reorders { writer.exponential(4) }
        writer.exponential(format.reorders ? 2 : 1)
        writer.bit(0)
        writer.exponential(format.width - 1)
        writer.exponential(format.height - 1)
        writer.bits(0b110, 3)  // frame_mbs_only, direct_8x8_inference, no cropping
        writer.bit(1)
        writer.bits(0, 4)  // no aspect ratio, overscan, signal type or chroma location
        writer.bit(1)
        writer.bits(format.frameDuration, 32)
        writer.bits(180_000, 32)
        writer.bit(1)
        writer.bits(0, 4)  // no HRD, no pic_struct, no bitstream restriction
        writer.endPayload()
        return escaped(writer.bytes)
    }

    static func pictureParameterSet() -> [UInt8] {
        var writer = BitWriter()
        writer.bits(0x68, 8)
        for _ in 0..<2 { writer.exponential(0) }
        writer.bits(0, 2)
        for _ in 0..<3 { writer.exponential(0) }
        writer.bits(0, 3)
        for _ in 0..<3 { writer.exponential(0) }
        writer.bits(0, 3)
        writer.endPayload()
        return writer.bytes
    }

    /// The frames of a content in decoding order: number in order of presentation, and kind.
    enum FrameKind { case refresh, predicted, bidirectional }

    /// The position in decoding order of a group, as number in order of presentation and kind.
    static func frame(_ position: Int, _ format: MediaFormat) -> (number: Int, kind: FrameKind) {
        guard format.reorders, position > 0 else { return (position, position == 0 ? .refresh : .predicted) }
        // I0, P2 B1, P4 B3, … and a last P alone if the number of frames is even.
        let pair = (position - 1) / 2
        if pair * 2 + 2 >= format.group { return (position, .predicted) }
        return position % 2 == 1 ? (position + 1, .predicted) : (position - 1, .bidirectional)
    }

    /// An access unit.
    /// - Parameter position: in decoding order of its group.
    static func accessUnit(_ identity: FrameIdentity, at position: Int, _ format: MediaFormat) -> [UInt8] {
        let (number, kind) = frame(position, format)
        var unit = start + [0x09, 0xF0]
        if kind == .refresh {
            unit += start + sequenceParameterSet(format) + start + pictureParameterSet()
        }
        unit += start + [0x06, 5, 28] + identifier + identity.digits + [0x80]
        return unit + start + slice(number, position, kind, format)
    }

    /// The NAL units of an access unit with their lengths, without delimiter and parameter sets (ISO/IEC 14496-15 §5).
    static func sample(of unit: [UInt8]) -> [UInt8] {
        let starts = unit.indices.filter { unit[$0...].starts(with: start) }
        var writer = BoxComposer()
        for (index, position) in starts.enumerated() {
            let bytes = unit[(position + start.count)..<(index + 1 < starts.count ? starts[index + 1] : unit.count)]
            guard let kind = bytes.first.map({ $0 & 31 }), ![7, 8, 9].contains(kind) else { continue }
            writer.integer(bytes.count, 4)
            writer.append(Array(bytes))
        }
        return writer.bytes
    }

    private static func slice(_ number: Int, _ position: Int, _ kind: FrameKind, _ format: MediaFormat) -> [UInt8] {
        var writer = BitWriter()
        writer.bits([.refresh: 0x65, .predicted: 0x41, .bidirectional: 0x01][kind] ?? 0, 8)
        writer.exponential(0)
        writer.exponential([.refresh: 7, .predicted: 5, .bidirectional: 6][kind] ?? 0)
        writer.exponential(0)
        writer.bits(format.reorders ? (kind == .bidirectional ? position / 2 + 1 : (position + 1) / 2) : position, 4)
        if kind == .refresh { writer.exponential(0) }
        if format.reorders { writer.bits(number * 2, 8) }
        if kind == .bidirectional { writer.bit(1) }
        if kind != .refresh { writer.bit(0) }
        if kind == .predicted { writer.bit(0) }
        if kind == .bidirectional { writer.bits(0, 2) }
        if kind == .refresh { writer.bits(0, 2) } else if kind == .predicted { writer.bit(0) }
        writer.exponential(0)  // slice_qp_delta
        let macroblocks = format.width * format.height
        if kind == .refresh {
            // I_16x16_2_0_0, chroma by DC, the same quantizer, no coefficient.
            for _ in 0..<macroblocks { writer.bits(0b0010_0111, 8) }
        } else {
            writer.exponential(macroblocks)
        }
        writer.endPayload()
        return escaped(writer.bytes)
    }

    /// Inserts emulation_prevention_three_byte.
    private static func escaped(_ bytes: [UInt8]) -> [UInt8] {
        var (escaped, zeros): ([UInt8], Int) = ([], 0)
        for byte in bytes {
            if zeros == 2, byte <= 3 {
                escaped.append(3)
                zeros = 0
            }
            escaped.append(byte)
            zeros = byte == 0 ? zeros + 1 : 0
        }
        return escaped
    }
}

/// Silent AAC-LC frames whose identity is in a data_stream_element.
enum CodedAudio {
    /// The bytes before an identity: those of a data_stream_element.
    static let mark: [UInt8] = [0x81, 13, 0x41]

    /// A raw_data_block (ISO/IEC 14496-3 §4.4.2.1).
    static func frame(_ identity: FrameIdentity, _ format: MediaFormat) -> [UInt8] {
        var writer = BitWriter()
        for byte in mark { writer.bits(Int(byte), 8) }
        for digit in identity.digits { writer.bits(Int(digit), 8) }
        writer.bits(format.channels == 2 ? 0b0010_0000 : 0, format.channels == 2 ? 8 : 7)
        for _ in 0..<format.channels { writer.bits(0, 22) }
        writer.bits(0b111, 3)
        writer.align()
        return writer.bytes
    }

    /// The header of an ADTS frame without CRC.
    static func header(_ size: Int, _ format: MediaFormat) -> [UInt8] {
        let length = size + 7
        return [
            0xFF, 0xF1, UInt8(0x40 | MediaFormat.rateIndex(format.sampleRate) << 2 | format.channels >> 2),
            UInt8(format.channels & 3) << 6 | UInt8(length >> 11), UInt8(length >> 3 & 0xFF),
            UInt8(length & 7) << 5 | 0x1F, 0xFC,
        ]
    }
}
