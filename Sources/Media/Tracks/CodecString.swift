/// The names of codecs in CODECS (RFC 6381 §3.3, ISO/IEC 14496-15 Annex E).
enum CodecString {
    /// `avc1.` and the three bytes behind the header of the sequence parameter set.
    static func h264(_ parameterSet: H264SequenceParameterSet) -> String {
        let bytes = [parameterSet.profileIdc, parameterSet.constraintSetFlags, parameterSet.levelIdc]
        return "avc1." + bytes.map { hexadecimal($0, digits: 2) }.joined()
    }

    /// `hvc1.` with profile, compatibility (bits reversed), tier and level, constraints without trailing zeros.
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

    private static func hexadecimal(_ value: Int, digits: Int) -> String {
        let text = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }

    private static func reversed(_ bits: UInt32) -> UInt32 {
        (0..<32).reduce(0) { $0 << 1 | (bits >> UInt32($1)) & 1 }
    }
}

extension AudioConfiguration {
    /// RFC 6381 §3.3. MPEG audio has one name whatever its rate: players know "mp4a.6B" for both object types.
    package var codecString: String {
        switch codec {
        case .aac: "mp4a.40.\(announcedObjectType)"
        case .mpegAudio: "mp4a.6B"
        case .ac3: "ac-3"
        case .eac3: "ec-3"
        case .flac: "fLaC"
        case .alac: "alac"
        case .opus: "opus"
        case .dts: "dtsc"
        case .smpte302, .blurayPCM: "lpcm"
        }
    }

    /// AAC LC when the configuration does not say.
    private var announcedObjectType: Int {
        do throws(MediaError) {
            let configuration = try AudioSpecificConfig(decoderSpecificInfo)
            return configuration.extensionAudioObjectType ?? configuration.audioObjectType
        } catch {
            return 2
        }
    }
}
