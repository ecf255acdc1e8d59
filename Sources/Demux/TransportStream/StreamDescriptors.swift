import Media

/// The descriptors of one PMT loop that the demuxer needs (ISO/IEC 13818-1 §2.6, ETSI EN 300 468 §6).
struct StreamDescriptors: Equatable, Sendable {
    private enum Tag: UInt8 {
        case registration = 0x05
        case language = 0x0A
        case dvbExtension = 0x7F
    }

    /// The descriptor_tag of each descriptor, in order.
    private var tags: [UInt8] = []
    /// format_identifier of the registration descriptor, for example "CUEI".
    private(set) var registration: String?
    /// ISO 639-2 code of the first language, as coded.
    private(set) var language: String?
    /// Whether the audio describes the video to people who cannot see it, or comments on it (audio_type 3, or a
    /// supplementary audio descriptor). Such audio does not replace the main audio.
    private(set) var isCommentary = false

    /// - Parameter loop: a truncated loop ends with its last complete descriptor.
    init(_ loop: ArraySlice<UInt8>) {
        var rest = loop
        while let tag = rest.first, let size = rest.dropFirst().first, rest.count >= 2 + Int(size) {
            read(tag, Array(rest.dropFirst(2).prefix(Int(size))))
            rest = rest.dropFirst(2 + Int(size))
        }
    }

    func has(_ tag: UInt8) -> Bool { tags.contains(tag) }

    private mutating func read(_ tag: UInt8, _ body: [UInt8]) {
        tags.append(tag)
        switch Tag(rawValue: tag) {
        case .registration where body.count >= 4:
            registration = registration ?? Self.text(body.prefix(4))
        case .language where body.count >= 4:
            language = language ?? Self.text(body.prefix(3))
            if body[3] == 3 { isCommentary = true }
        case .dvbExtension where body.count >= 2 && body[0] == 0x06:  // supplementary_audio_descriptor
            // editorial_classification 1 is for the visually impaired; 2 and 3 are clean audio and spoken subtitles.
            if (1...3).contains(body[1] >> 2 & 0x1F) { isCommentary = true }
        default: break
        }
    }

    /// Returns printable text for a log: any byte but printable ASCII becomes a dot.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes.map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: ".") }, as: UTF8.self)
    }
}
