import Media

/// The kind of an elementary stream by its stream_type and descriptors.
extension ElementaryStreamKind {
    /// - Parameters:
    ///   - streamType: ISO/IEC 13818-1 Table 2-34; from 0x80 on, the program's registration defines the meaning.
    ///   - program: the descriptors of the PMT's first loop.
    ///   - stream: the descriptors of the stream's own loop.
    init?(streamType: UInt8, program: StreamDescriptors, stream: StreamDescriptors) {
        if program.registration == "HDMV", let kind = Self.bluray(streamType) {
            self = kind
            return
        }
        switch streamType {
        case 0x1B: self = .video(.h264)
        case 0x24: self = .video(.hevc)
        case 0x03, 0x04, 0x0F: self = .audio(.mpeg)
        case 0x11: self = .audio(.loas)
        case 0x81, 0x87: self = .audio(.ac3)
        // In cable systems 0x82 carries SCTE 27 subtitles, and those register themselves.
        case 0x82 where program.registration == nil || program.registration == "HDMV": self = .audio(.dts)
        case 0x8A: self = .audio(.dts)
        case 0x06:
            guard let kind = Self.privateData(stream) else { return nil }
            self = kind
        default: return nil
        }
    }

    /// Returns the kind of private PES data by its descriptors: registration, or those of ETSI EN 300 468 Annexes D and
    /// G.
    private static func privateData(_ descriptors: StreamDescriptors) -> Self? {
        switch descriptors.registration {
        case "AC-3", "EAC3": return .audio(.ac3)
        case "DTS1", "DTS2", "DTS3": return .audio(.dts)
        case "BSSD": return .audio(.smpte302)
        case "HEVC": return .video(.hevc)
        default: break
        }
        if descriptors.has(.ac3) || descriptors.has(.enhancedAC3) { return .audio(.ac3) }
        return descriptors.has(.dts) ? .audio(.dts) : nil
    }

    /// Returns the kind of a Blu-ray Disc stream type. A DTS-HD stream contains a core, which is followed.
    private static func bluray(_ streamType: UInt8) -> Self? {
        switch streamType {
        case 0x80: .audio(.blurayPCM)
        case 0x84: .audio(.ac3)
        case 0x85, 0x86: .audio(.dts)
        default: nil
        }
    }

    /// Whether a stream type stands for HLS sample encryption of H.264, AAC, AC-3 or E-AC-3.
    static func isSampleEncrypted(_ streamType: UInt8) -> Bool { [0xDB, 0xCF, 0xC1, 0xC2].contains(streamType) }
}
