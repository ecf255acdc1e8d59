import Media

/// The framing of an audio byte stream. The codec follows from the header of each frame, so a stream announced as MPEG
/// audio may carry ADTS, and the reverse.
package enum AudioFraming: Hashable, Sendable {
    /// ADTS (ISO/IEC 13818-7 §6.2) and MPEG-1/2 audio (ISO/IEC 11172-3 §2.4.1.3), distinguished by their layer field.
    case mpeg
    /// AC-3 and E-AC-3 (ETSI TS 102 366), distinguished by bsid.
    case ac3
    /// MPEG-4 audio in LOAS frames (ISO/IEC 14496-3 §1.7).
    case loas
    /// DTS core frames with or without extensions (ETSI TS 102 114).
    case dts
    /// A PES packet of PCM (SMPTE 302M).
    case smpte302
    /// A PES packet of PCM (Blu-ray Disc).
    case blurayPCM

    /// Whether frames have no syncword; each PES packet is one frame.
    var isOneFramePerPacket: Bool { self == .smpte302 || self == .blurayPCM }

    /// Whether fMP4 can carry codecs of this framing; audio of other framings must be transcoded.
    var isCarriedInMP4: Bool {
        switch self {
        case .mpeg, .ac3, .loas: true
        case .dts, .smpte302, .blurayPCM: false
        }
    }
}
