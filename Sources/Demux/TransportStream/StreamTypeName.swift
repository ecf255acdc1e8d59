import Media

/// Names of stream types for an operator.
enum StreamTypeName {
    /// Returns "H.264", "MPEG-2 video", "DVB teletext" and so on; nil for an unknown type.
    static func name(of streamType: UInt8, _ descriptors: StreamDescriptors, program: StreamDescriptors) -> String? {
        if let kind = ElementaryStreamKind(streamType: streamType, program: program, stream: descriptors) {
            return name(kind)
        }
        return streamType == 0x06 ? privateData(descriptors) : streamTypes[streamType]
    }

    /// Returns the name of a stream type without descriptors.
    static func name(of streamType: UInt8) -> String? { streamTypes[streamType] }

    private static func name(_ kind: ElementaryStreamKind) -> String {
        switch kind {
        case .video(.h264): "H.264"
        case .video(.hevc): "HEVC"
        case .audio(.mpeg): "AAC or MPEG audio"
        case .audio(.loas): "AAC in LATM"
        case .audio(.ac3): "AC-3 or E-AC-3"
        case .audio(.dts): "DTS"
        case .audio(.smpte302): "PCM (SMPTE 302M)"
        case .audio(.blurayPCM): "PCM (Blu-ray)"
        }
    }

    private static func privateData(_ descriptors: StreamDescriptors) -> String? {
        if let registration = descriptors.registration { return registrations[registration] ?? "“\(registration)”" }
        for (tag, name) in descriptorTags where descriptors.has(tag) { return name }
        return nil
    }

    private static let streamTypes: [UInt8: String] = [
        0x01: "MPEG-1 video", 0x02: "MPEG-2 video", 0x05: "private sections", 0x08: "DSM-CC", 0x0B: "DSM-CC",
        0x0D: "DSM-CC", 0x10: "MPEG-4 visual", 0x15: "timed ID3", 0x1C: "MPEG-4 audio", 0x1E: "auxiliary video",
        0x1F: "H.264 SVC", 0x20: "H.264 MVC", 0x21: "JPEG 2000", 0x2D: "MPEG-H audio", 0x2E: "MPEG-H audio",
        0x32: "JPEG XS", 0x33: "VVC", 0x35: "EVC", 0x42: "AVS video", 0x82: "SCTE 27 subtitles", 0x83: "TrueHD",
        0x86: "SCTE-35", 0x90: "Blu-ray graphics", 0xD1: "Dirac", 0xD2: "AVS2 video", 0xD4: "AVS3 video", 0xEA: "VC-1",
    ]

    /// Names of private PES data by format_identifier.
    private static let registrations = [
        "AV01": "AV1", "Opus": "Opus", "KLVA": "KLV", "VC-1": "VC-1", "drac": "Dirac", "AC-4": "AC-4", "VANC": "VANC",
        "CUEI": "SCTE-35", "ID3 ": "timed ID3",
    ]

    /// Names of private PES data by descriptor (ETSI EN 300 468 Table 12).
    private static let descriptorTags: [(tag: UInt8, name: String)] = [
        (0x56, "DVB teletext"), (0x59, "DVB subtitles"), (0x46, "VBI teletext"), (0x45, "VBI data"),
        (0x26, "timed metadata"), (0x7C, "AAC in private data"),
    ]
}
