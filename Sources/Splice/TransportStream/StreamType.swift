/// What an elementary stream is, as far as it can be carried.
package enum ElementaryStreamKind: Hashable, Sendable {
    case video(VideoConfiguration.Codec)
    case audio(AudioFraming)

    /// - Parameters:
    ///   - streamType: ISO/IEC 13818-1 Table 2-34.
    ///   - descriptors: the ES_info loop of the PMT.
    init?(streamType: UInt8, descriptors: ArraySlice<UInt8>) {
        switch streamType {
        case 0x1B: self = .video(.h264)
        case 0x24: self = .video(.hevc)
        case 0x03, 0x04, 0x0F: self = .audio(.mpeg)
        case 0x11: self = .audio(.loas)
        case 0x81, 0x87: self = .audio(.ac3)
        case 0x06:
            guard let kind = Self.privateData(descriptors) else { return nil }
            self = kind
        default: return nil
        }
    }

    /// Private PES data is named by its descriptors: AC-3, enhanced AC-3 (ETSI EN 300 468 Annex D) or registration.
    private static func privateData(_ descriptors: ArraySlice<UInt8>) -> Self? {
        var rest = descriptors
        while rest.count >= 2 {
            let tag = rest[rest.startIndex]
            let body = rest.dropFirst(2).prefix(Int(rest[rest.startIndex + 1]))
            switch (tag, Array(body.prefix(4))) {
            case (0x6A, _), (0x7A, _), (0x05, Array("AC-3".utf8)), (0x05, Array("EAC3".utf8)): return .audio(.ac3)
            case (0x05, Array("HEVC".utf8)): return .video(.hevc)
            default: rest = rest[body.endIndex...]
            }
        }
        return nil
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
}
