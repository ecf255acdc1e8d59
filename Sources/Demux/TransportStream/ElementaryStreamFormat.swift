import Media

/// The format of an elementary stream, by its stream_type and descriptors.
struct ElementaryStreamFormat: Equatable, Sendable {
    enum Content: Equatable, Sendable {
        case supported(ElementaryStreamKind)
        /// Media in a codec that cannot be republished.
        case unsupportedVideo, unsupportedAudio
        /// Data, or a layer that extends another video stream.
        case other
    }

    let content: Content
    /// "H.264", "DVB teletext"; nil for an unknown stream_type.
    let name: String?

    private init(_ content: Content, _ name: String?) { (self.content, self.name) = (content, name) }

    /// - Parameters:
    ///   - streamType: ISO/IEC 13818-1 Table 2-34; from 0x80 on, the program's registration defines the meaning.
    ///   - stream: the descriptors of the stream's own loop.
    ///   - program: the descriptors of the PMT's first loop.
    init(streamType: UInt8, _ stream: StreamDescriptors, program: StreamDescriptors) {
        switch streamType {
        case 0x06: self = Self.privateData(stream)
        // In cable systems 0x82 carries subtitles, and those register themselves.
        case 0x82 where program.registration != nil: self.init(.other, "SCTE 27 subtitles")
        default: self.init(streamType: streamType)
        }
    }

    /// - Parameter streamType: the type of a stream without descriptors.
    init(streamType: UInt8) { self = Self.streamTypes[streamType] ?? Self(.other, nil) }

    var kind: ElementaryStreamKind? {
        if case .supported(let kind) = content { kind } else { nil }
    }

    private static let ac3 = Self(.supported(.audio(.ac3)), "AC-3 or E-AC-3")
    private static let hevc = Self(.supported(.video(.hevc)), "HEVC")
    private static let mpegAudio = Self(.supported(.audio(.mpeg)), "AAC or MPEG audio")
    private static let dts = Self(.unsupportedAudio, "DTS")
    private static let mpegH = Self(.unsupportedAudio, "MPEG-H audio")

    /// A stream without its extension descriptor has two channels.
    private static func opus(_ descriptors: StreamDescriptors) -> Self {
        let channels = descriptors.opusChannelCode.map(OpusChannels.init) ?? .stereo
        return Self(channels.map { .supported(.audio(.opus($0))) } ?? .unsupportedAudio, "Opus")
    }

    private static let streamTypes: [UInt8: Self] = [
        0x01: Self(.unsupportedVideo, "MPEG-1 video"), 0x02: Self(.supported(.video(.mpeg2)), "MPEG-2 video"),
        0x03: mpegAudio, 0x04: mpegAudio, 0x05: Self(.other, "private sections"), 0x08: Self(.other, "DSM-CC"),
        0x0B: Self(.other, "DSM-CC"), 0x0D: Self(.other, "DSM-CC"), 0x0F: mpegAudio,
        0x10: Self(.unsupportedVideo, "MPEG-4 visual"), 0x11: Self(.supported(.audio(.loas)), "AAC in LATM"),
        0x15: Self(.other, "timed ID3"), 0x1B: Self(.supported(.video(.h264)), "H.264"),
        0x1C: Self(.unsupportedAudio, "MPEG-4 audio"), 0x1E: Self(.other, "auxiliary video"),
        0x1F: Self(.other, "H.264 SVC"), 0x20: Self(.other, "H.264 MVC"), 0x21: Self(.unsupportedVideo, "JPEG 2000"),
        0x24: hevc, 0x2D: mpegH, 0x2E: mpegH, 0x32: Self(.unsupportedVideo, "JPEG XS"),
        0x33: Self(.unsupportedVideo, "VVC"), 0x35: Self(.unsupportedVideo, "EVC"),
        0x42: Self(.unsupportedVideo, "AVS video"), 0x81: ac3, 0x82: dts, 0x83: Self(.unsupportedAudio, "TrueHD"),
        0x86: Self(.other, "SCTE-35"), 0x87: ac3, 0x8A: dts, 0x90: Self(.other, "Blu-ray graphics"),
        0xD1: Self(.unsupportedVideo, "Dirac"), 0xD2: Self(.unsupportedVideo, "AVS2 video"),
        0xD4: Self(.unsupportedVideo, "AVS3 video"), 0xEA: Self(.unsupportedVideo, "VC-1"),
    ]

    private static let registrations: [String: Self] = [
        "AC-3": ac3, "EAC3": ac3, "HEVC": hevc, "DTS1": dts, "DTS2": dts, "DTS3": dts,
        "BSSD": Self(.unsupportedAudio, "PCM (SMPTE 302M)"),
        "AC-4": Self(.unsupportedAudio, "AC-4"), "AV01": Self(.unsupportedVideo, "AV1"),
        "VC-1": Self(.unsupportedVideo, "VC-1"), "drac": Self(.unsupportedVideo, "Dirac"), "KLVA": Self(.other, "KLV"),
        "VANC": Self(.other, "VANC"), "CUEI": Self(.other, "SCTE-35"), "ID3 ": Self(.other, "timed ID3"),
    ]

    /// Formats of private PES data by descriptor_tag (ETSI EN 300 468 Table 12).
    private static let descriptorTags: [(tag: UInt8, format: Self)] = [
        (0x6A, ac3), (0x7A, ac3), (0x7B, dts), (0x56, Self(.other, "DVB teletext")),
        (0xFD, Self(.other, "ARIB captions")),
        (0x59, Self(.other, "DVB subtitles")), (0x46, Self(.other, "VBI teletext")), (0x45, Self(.other, "VBI data")),
        (0x26, Self(.other, "timed metadata")), (0x7C, Self(.other, "AAC in private data")),
    ]

    /// Returns the format of private PES data: that of its registration, else that of the first known descriptor. An
    /// unknown registration names the stream, and its audio descriptor still counts.
    private static func privateData(_ descriptors: StreamDescriptors) -> Self {
        let tagged = descriptorTags.first { descriptors.has($0.tag) }?.format
        guard let registration = descriptors.registration else { return tagged ?? Self(.other, nil) }
        if registration == "Opus" { return opus(descriptors) }
        let registered = registrations[registration] ?? Self(.other, "“\(registration)”")
        if registered.kind == nil, let tagged, tagged.content != .other { return tagged }
        return registered
    }
}

/// The descriptors of one PMT loop that the demuxer needs (ISO/IEC 13818-1 §2.6, ETSI EN 300 468 §6).
struct StreamDescriptors: Equatable, Sendable {
    private enum Tag: UInt8 {
        case registration = 0x05
        case language = 0x0A
        case dvbExtension = 0x7F
    }

    private var tags: [UInt8] = []
    /// format_identifier of the registration descriptor, for example "CUEI".
    private(set) var registration: String?
    /// ISO 639-2 code of the first language, as coded.
    private(set) var language: String?
    private(set) var audioType: UInt8?
    /// Whether the audio describes the video to people who cannot see it, or comments on it (audio_type 3, or a
    /// supplementary audio descriptor). Such audio does not replace the main audio.
    private(set) var isCommentary = false
    /// channel_config_code of Opus.
    private(set) var opusChannelCode: UInt8?
    /// The subtitles or teletext in the stream; nil if there are none. Streams with equal descriptors are not told apart.
    private(set) var privateData: PrivateDataStream?

    /// - Parameter loop: a truncated loop ends with its last complete descriptor.
    init(_ loop: ArraySlice<UInt8>) {
        var rest = loop
        var descriptors: [(tag: UInt8, body: [UInt8])] = []
        while let tag = rest.first, let size = rest.dropFirst().first, rest.count >= 2 + Int(size) {
            descriptors.append((tag, Array(rest.dropFirst(2).prefix(Int(size)))))
            rest = rest.dropFirst(2 + Int(size))
        }
        for (tag, body) in descriptors { read(tag, body) }
        privateData = PrivateDataStream(descriptors: descriptors)
    }

    func has(_ tag: UInt8) -> Bool { tags.contains(tag) }

    private mutating func read(_ tag: UInt8, _ body: [UInt8]) {
        tags.append(tag)
        switch Tag(rawValue: tag) {
        case .registration where body.count >= 4:
            registration = registration ?? Self.text(body.prefix(4))
        case .language where body.count >= 4:
            audioType = language == nil ? body[3] : audioType
            language = language ?? Self.text(body.prefix(3))
            if body[3] == 3 { isCommentary = true }
        case .dvbExtension where body.count >= 2 && body[0] == 0x80:  // Opus, of a range for users
            opusChannelCode = opusChannelCode ?? body[1]
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
