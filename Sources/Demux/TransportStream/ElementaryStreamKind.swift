package import Media

/// What an elementary stream is, as far as it can be carried.
package enum ElementaryStreamKind: Hashable, Sendable {
    case video(VideoConfiguration.Codec)
    case audio(AudioFraming)

    /// - Parameters:
    ///   - streamType: ISO/IEC 13818-1 Table 2-34; from 0x80 on each registrant of the programme has its own.
    ///   - programme: the descriptors of the PMT's first loop.
    ///   - stream: those of the stream's own loop.
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
        // 0x82 carries SCTE 27 subtitles in cable systems, which register themselves.
        case 0x82 where program.registration == nil || program.registration == "HDMV": self = .audio(.dts)
        case 0x8A: self = .audio(.dts)
        case 0x06:
            guard let kind = Self.privateData(stream) else { return nil }
            self = kind
        default: return nil
        }
    }

    /// Private PES data is named by its descriptors: registration, or those of ETSI EN 300 468 Annexes D and G.
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

    /// What Blu-ray Disc uses beyond the types above; the DTS-HD types hold a core, which is what is followed.
    private static func bluray(_ streamType: UInt8) -> Self? {
        switch streamType {
        case 0x80: .audio(.blurayPCM)
        case 0x84: .audio(.ac3)
        case 0x85, 0x86: .audio(.dts)
        default: nil
        }
    }

    /// Stream types of HLS sample encryption: H.264, AAC, AC-3 and E-AC-3.
    static func isSampleEncrypted(_ streamType: UInt8) -> Bool { [0xDB, 0xCF, 0xC1, 0xC2].contains(streamType) }

    var isVideo: Bool {
        if case .video = self { return true }
        return false
    }
}

/// The rule by which a byte stream of audio falls into frames. A codec is told by each frame's header, so that a
/// stream announced as MPEG audio may carry ADTS, and the other way round.
package enum AudioFraming: Hashable, Sendable {
    /// ADTS (ISO/IEC 13818-7 §6.2) and MPEG-1/2 audio (ISO/IEC 11172-3 §2.4.1.3): told apart by their layer field.
    case mpeg
    /// AC-3 and E-AC-3 (ETSI TS 102 366): told apart by bsid.
    case ac3
    /// MPEG-4 audio in LOAS frames (ISO/IEC 14496-3 §1.7).
    case loas
    /// DTS core frames with or without extensions (ETSI TS 102 114).
    case dts
    /// A PES packet of PCM (SMPTE 302M).
    case smpte302
    /// A PES packet of PCM (Blu-ray Disc).
    case blurayPCM

    /// Frames have no syncword; each PES packet is one.
    var isOneFramePerPacket: Bool { self == .smpte302 || self == .blurayPCM }

    /// fMP4 can carry some of what this framing gives as it is; the rest has to be encoded anew.
    var isCarriedInMP4: Bool {
        switch self {
        case .mpeg, .ac3, .loas: true
        case .dts, .smpte302, .blurayPCM: false
        }
    }
}
