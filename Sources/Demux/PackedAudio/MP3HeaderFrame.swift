import Media

/// The first frame of an MP3 file if it describes the file (Xing, Info or VBRI) and holds no audio.
///
/// LAME and libavformat write after the Xing header how many samples the encoder put before and after the audio.
struct MP3HeaderFrame: Equatable {
    /// Samples that a decoder puts before the encoder's own delay.
    private static let decoderDelay = 528 + 1
    /// Offset of the delay from the start of the extension after the Xing header.
    private static let delayOffset = 21
    private static let vbriOffset = 36

    let end: Int
    /// Time from the first frame after this one to the start of the audio.
    private(set) var delay = Ticks.zero
    /// Time from the end of the audio to the end of the last frame.
    private(set) var padding = Ticks.zero

    /// Reads the frame at `offset`; nil if it is audio.
    init?(_ bytes: [UInt8], at offset: Int) {
        guard case .frame(let header) = AudioFraming.mpeg.header(bytes, at: offset, end: bytes.count),
            case .mpegAudio(layer: 3) = header.format.codec, offset + header.size <= bytes.count
        else { return nil }
        let frame = bytes[offset..<offset + header.size]
        end = frame.endIndex
        if frame.dropFirst(Self.vbriOffset).starts(with: "VBRI".utf8) { return }
        let xing = offset + 4 + Self.sideInformationSize(header.format)
        guard let start = [xing, xing + 2].first(where: { Self.isXing(frame[min($0, end)...]) }) else { return nil }
        guard Self.beginsStream(bytes, at: end, isFirstVersion: header.format.samplesPerFrame == 1152) else { return }
        readDelay(frame[start...], sampleRate: header.format.sampleRate)
    }

    /// Whether the frame at `offset` refers to no data before it (main_data_begin, ISO/IEC 11172-3 §2.4.2.7), as an
    /// encoder's first one. A file that was cut from a longer stream has no delay, whatever it says.
    private static func beginsStream(_ bytes: [UInt8], at offset: Int, isFirstVersion: Bool) -> Bool {
        guard offset + 8 <= bytes.count else { return false }
        let side = offset + (bytes[offset + 1] & 1 == 0 ? 6 : 4)
        return bytes[side] == 0 && (!isFirstVersion || bytes[side + 1] & 0x80 == 0)
    }

    private static func isXing(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.starts(with: "Xing".utf8) || bytes.starts(with: "Info".utf8)
    }

    /// Bytes between the header of a frame, or its CRC, and the Xing header (ISO/IEC 11172-3 §2.4.1.7).
    private static func sideInformationSize(_ format: AudioFrameHeader.Format) -> Int {
        let isMono = format.channelCount == 1
        return format.samplesPerFrame == 1152 ? isMono ? 17 : 32 : isMono ? 9 : 17
    }

    private mutating func readDelay(_ xing: ArraySlice<UInt8>, sampleRate: SampleRate) {
        guard xing.count >= 8 else { return }
        let flags = xing[xing.startIndex + 7]
        let fields = [(flag: 1, size: 4), (2, 4), (4, 100), (8, 4)].filter { Int(flags) & $0.flag != 0 }
        let tag = xing.dropFirst(fields.reduce(8) { $0 + $1.size })
        guard ["LAME", "Lavf", "Lavc"].contains(where: { tag.starts(with: $0.utf8) }) else { return }
        let values = tag.dropFirst(Self.delayOffset).prefix(3).map { Int64($0) }
        guard values.count == 3 else { return }
        let before = values[0] << 4 | values[1] >> 4
        let after = (values[1] & 15) << 8 | values[2]
        if before > 0 { delay = Ticks(samples: before + Int64(Self.decoderDelay), sampleRate: sampleRate) }
        padding = Ticks(samples: max(0, after - Int64(Self.decoderDelay)), sampleRate: sampleRate)
    }
}
