/// Codec names for the CODECS attribute (RFC 6381 §3.3, ISO/IEC 14496-15 Annex E).
enum CodecString {
    /// `avc1.` and the three bytes after the header of the sequence parameter set.
    static func h264(_ parameterSet: H264SequenceParameterSet) -> String {
        let bytes = [parameterSet.profileIdc, parameterSet.constraintSetFlags, parameterSet.levelIdc]
        return "avc1." + bytes.map { HexDigits.digits($0, count: 2) }.joined().uppercased()
    }

    /// `hvc1.` with profile, compatibility flags (bits reversed), tier and level, and constraint bytes without trailing
    /// zeros.
    static func hevc(_ profile: HEVCProfileTierLevel) -> String {
        let space = ["", "A", "B", "C"][profile.generalProfileSpace & 3]
        var constraints = profile.generalConstraintIndicatorFlags[...]
        while constraints.last == 0 { constraints.removeLast() }
        let compatibility = String(reversed(profile.generalProfileCompatibilityFlags), radix: 16, uppercase: true)
        let tier = profile.generalTierFlag ? "H" : "L"
        let fields = [
            "hvc1", "\(space)\(profile.generalProfileIdc)", compatibility, "\(tier)\(profile.generalLevelIdc)",
        ]
        return (fields + constraints.map { String($0, radix: 16, uppercase: true) }).joined(separator: ".")
    }

    /// `mp4v.` and the objectTypeIndication.
    static func mpeg2(_ header: MPEG2SequenceHeader) -> String {
        "mp4v." + HexDigits.digits(header.objectTypeIndication, count: 2).uppercased()
    }

    private static func reversed(_ bits: UInt32) -> UInt32 {
        (0..<32).reduce(0) { $0 << 1 | (bits >> UInt32($1)) & 1 }
    }
}

extension AudioConfiguration {
    /// The CODECS entry (RFC 6381 §3.3). MPEG audio has one name at any rate: players know "mp4a.6B" for both object
    /// types.
    package var codecString: String {
        switch codec {
        case .aac: "mp4a.40.\(signaledObjectType)"
        case .mpegAudio: "mp4a.6B"
        case .ac3: "ac-3"
        case .eac3: "ec-3"
        case .flac: "fLaC"
        case .opus: "opus"
        }
    }

    /// The object type that CODECS names: AAC LC if the configuration cannot be read.
    private var signaledObjectType: Int {
        do throws(MediaError) {
            let configuration = try AudioSpecificConfig(decoderSpecificInfo)
            return configuration.extensionAudioObjectType ?? configuration.audioObjectType
        } catch {
            return 2
        }
    }
}

extension VideoConfiguration.Codec {
    /// nil for a codec that is not published.
    package init?(codecString: String) {
        switch codecString.prefix(4) {
        case "avc1": self = .h264
        case "hvc1": self = .hevc
        case "mp4v": self = .mpeg2
        default: return nil
        }
    }
}
