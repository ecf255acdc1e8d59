package import Media

/// The audio codecs that players expect in a transport stream, and how each is carried.
package enum TransportAudioCodec: String, Hashable, Sendable, CaseIterable {
    case aac
    case mpeg
    case ac3
    case eac3

    /// nil if the configuration cannot be carried as players know it: another codec, or AAC that ADTS cannot describe.
    package init?(_ configuration: AudioConfiguration) {
        switch configuration.codec {
        case .aac:
            guard ADTSHeader(configuration) != nil else { return nil }
            self = .aac
        case .mpegAudio: self = .mpeg
        case .ac3: self = .ac3
        case .eac3: self = .eac3
        case .flac, .opus: return nil
        }
    }

    /// stream_type (ISO/IEC 13818-1 Table 2-34, ATSC A/52 §A.4, §G.3).
    var streamType: UInt8 {
        switch self {
        case .aac: 0x0F
        case .mpeg: 0x03
        case .ac3: 0x81
        case .eac3: 0x87
        }
    }

    var streamID: PESPacketWriter.StreamID {
        switch self {
        case .aac, .mpeg: .audio
        case .ac3, .eac3: .private1
        }
    }

    /// format_identifier of the registration descriptor; nil for the codecs of ISO/IEC 13818-1.
    var registration: String? {
        switch self {
        case .aac, .mpeg: nil
        case .ac3: "AC-3"
        case .eac3: "EAC3"
        }
    }
}
