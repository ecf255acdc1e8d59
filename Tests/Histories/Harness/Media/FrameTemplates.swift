import Synchronization

/// Coded frames, made once for each place in a group: only the digits of their identity differ.
enum FrameTemplates {
    private struct VideoKey: Hashable {
        let position: Int
        let format: MediaFormat
        /// Whether it is a sample of MP4.
        var isSample = false
    }

    /// Bytes, and where the digits are.
    private struct Template {
        var bytes: [UInt8]
        let digits: Int

        func with(_ identity: FrameIdentity) -> [UInt8] {
            var copy: [UInt8] = []
            append(identity, to: &copy)
            return copy
        }

        func append(_ identity: FrameIdentity, to other: inout [UInt8]) {
            let start = other.count + digits
            other += bytes
            identity.write(to: &other, at: start)
        }
    }

    private static let videos = Mutex<[VideoKey: Template]>([:])
    private static let audios = Mutex<[MediaFormat: Template]>([:])
    private static let sections = Mutex<[[UInt8]: UInt32]>([:])

    /// An identity whose digits are found in the coded bytes.
    private static let sample = FrameIdentity(content: 0xabcd, frame: 0xabcd_abcd)

    /// An access unit of a transport stream.
    static func video(_ identity: FrameIdentity, at position: Int, _ format: MediaFormat) -> [UInt8] {
        video(identity, VideoKey(position: position, format: format))
    }

    /// A sample of MP4, whose parameter sets are in the init section.
    static func sample(_ identity: FrameIdentity, at position: Int, _ format: MediaFormat) -> [UInt8] {
        video(identity, VideoKey(position: position, format: format, isSample: true))
    }

    private static func video(_ identity: FrameIdentity, _ key: VideoKey) -> [UInt8] {
        videos.withLock { known in
            if let template = known[key] { return template.with(identity) }
            let unit = CodedVideo.accessUnit(sample, at: key.position, key.format)
            let template = template(key.isSample ? CodedVideo.sample(of: unit) : unit)
            known[key] = template
            return template.with(identity)
        }
    }

    /// Appends an ADTS frame.
    static func appendAudio(_ identity: FrameIdentity, _ format: MediaFormat, to bytes: inout [UInt8]) {
        let known = audios.withLock { known in
            if let template = known[format] { return template }
            let frame = CodedAudio.frame(sample, format)
            let made = template(CodedAudio.header(frame.count, format) + frame)
            known[format] = made
            return made
        }
        known.append(identity, to: &bytes)
    }

    private static func template(_ bytes: [UInt8]) -> Template {
        let digits = sample.digits
        let offset = bytes.indices.first { bytes[$0...].starts(with: digits) } ?? 0
        return Template(bytes: bytes, digits: offset)
    }

    /// A section with its CRC_32.
    static func checked(_ section: [UInt8]) -> [UInt8] {
        let checksum = checksum(section)
        return section + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: checksum >> $0) }
    }

    /// CRC_32 of a section (ISO/IEC 13818-1 Annex A).
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        sections.withLock { known in
            if let checksum = known[bytes] { return checksum }
            var checksum = UInt32.max
            for byte in bytes {
                checksum ^= UInt32(byte) << 24
                for _ in 0..<8 { checksum = checksum & 1 << 31 == 0 ? checksum << 1 : checksum << 1 ^ 0x04C1_1DB7 }
            }
            if known.count < 1000 { known[bytes] = checksum }
            return checksum
        }
    }
}
