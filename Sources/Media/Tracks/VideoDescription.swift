import Support

/// The video properties in the parameter sets, derived once for each configuration from its first sequence parameter
/// set.
package struct VideoDescription: Equatable, Sendable {
    /// Luma samples of a frame after cropping, 1 ... 65 535 each.
    package let width: Int
    package let height: Int
    package let sampleAspectRatio: Ratio?
    /// Frames per second; nil if unspecified or outside 1 ... 480. The value is the encoder's claim: timestamps decide
    /// what is published.
    package let frameRate: Ratio?
    /// Code points of ISO/IEC 23091-2; nil if unspecified.
    package let color: Color?
    /// The CODECS entry (RFC 6381): "avc1.640028", "hvc1.1.6.L93.B0", "mp4v.61".
    package let codecString: String
    /// The SUPPLEMENTAL-CODECS entry: Dolby Vision for players that support it, over video for all others.
    package let supplementalCodec: String?

    /// A fraction of two positive integers in lowest terms.
    package struct Ratio: Equatable, Sendable {
        package let numerator: Int
        package let denominator: Int

        package init(_ numerator: Int, _ denominator: Int) {
            var (divisor, rest) = (numerator, denominator)
            while rest != 0 { (divisor, rest) = (rest, divisor % rest) }
            self.numerator = numerator / max(divisor, 1)
            self.denominator = denominator / max(divisor, 1)
        }
    }

    /// VIDEO-RANGE (draft-pantos-hls-rfc8216bis §4.4.6.2).
    package enum VideoRange: String, Equatable, Sendable {
        case standard = "SDR"
        case hybridLogGamma = "HLG"
        case perceptualQuantizer = "PQ"

        package init(transferCharacteristics: Int?) {
            switch transferCharacteristics {
            case 16: self = .perceptualQuantizer
            case 18: self = .hybridLogGamma
            default: self = .standard
            }
        }
    }

    package struct Color: Equatable, Sendable {
        package let primaries: Int
        package let transferCharacteristics: Int
        package let matrixCoefficients: Int
        package let isFullRange: Bool
    }

    /// - Throws: If the configuration has no sequence parameter set, or if the first cannot be decoded.
    package init(_ configuration: VideoConfiguration) throws(MediaError) {
        guard let nalUnit = configuration.sequenceParameterSets.first else {
            throw MediaError(.badParameterSet(field: "seq_parameter_set"), section: "ISO/IEC 14496-15 §5.3.3.1")
        }
        switch configuration.codec {
        case .h264:
            let sps = try H264SequenceParameterSet(nalUnit: nalUnit)
            // A tick is one field (§E.2.1).
            self.init(
                sps.width, sps.height, sps.vui, timing: sps.vui?.timing, ticksPerFrame: 2, codecString: sps.codecString)
        case .hevc:
            let sps = try HEVCSequenceParameterSet(nalUnit: nalUnit)
            self.init(
                sps.width, sps.height, sps.vui,
                timing: sps.vui?.timing ?? Self.timing(configuration.videoParameterSets.first), ticksPerFrame: 1,
                codecString: sps.profileTierLevel.codecString,
                supplementalCodec: DolbyVision(boxes: configuration.dynamicRangeBoxes)?.supplementalCodec)
        case .mpeg2: self.init(try MPEG2SequenceHeader(nalUnit, extensions: configuration.pictureParameterSets))
        }
    }

    private init(
        _ width: Int, _ height: Int, _ usability: VideoUsability?, timing: VideoTiming?, ticksPerFrame: Int,
        codecString: String, supplementalCodec: String? = nil
    ) {
        (self.width, self.height) = (width, height)
        sampleAspectRatio = usability?.sampleAspectRatio?.ratio.map { Ratio($0.width, $0.height) }
        color = Self.color(usability?.videoSignalType)
        frameRate = timing.flatMap { Self.frameRate($0.timeScale, $0.numUnitsInTick * ticksPerFrame) }
        (self.codecString, self.supplementalCodec) = (codecString, supplementalCodec)
    }

    private init(_ header: MPEG2SequenceHeader) {
        (width, height) = (header.width, header.height)
        sampleAspectRatio = header.sampleAspectRatio.map { Ratio($0.numerator, $0.denominator) }
        frameRate = header.frameRate.map { Ratio($0.numerator, $0.denominator) }
        color = header.colourDescription.map {
            Color(
                primaries: $0.colourPrimaries, transferCharacteristics: $0.transferCharacteristics,
                matrixCoefficients: $0.matrixCoefficients, isFullRange: false)
        }
        codecString = "mp4v." + Hexadecimal.encode([header.objectTypeIndication], uppercase: true)
        supplementalCodec = nil
    }

    /// The range of the transfer characteristics; SDR if unspecified.
    package var videoRange: VideoRange { VideoRange(transferCharacteristics: color?.transferCharacteristics) }

    /// Width on a display with square samples, 16.16 fixed point; the height stays as coded.
    package var displayWidth: UInt32 {
        let ratio = sampleAspectRatio ?? Ratio(1, 1)
        return UInt32(clamping: (width << 16) * ratio.numerator / ratio.denominator)
    }

    private static func frameRate(_ timeScale: Int, _ unitsPerFrame: Int) -> Ratio? {
        guard unitsPerFrame > 0, (unitsPerFrame...480 * unitsPerFrame).contains(timeScale) else { return nil }
        return Ratio(timeScale, unitsPerFrame)
    }

    /// Full range is described even without a colour description; the code points are then 2, "unspecified".
    private static func color(_ signal: VideoSignalType?) -> Color? {
        guard let signal, signal.colourDescription != nil || signal.videoFullRangeFlag else { return nil }
        let unspecified = 2
        return Color(
            primaries: signal.colourDescription?.colourPrimaries ?? unspecified,
            transferCharacteristics: signal.colourDescription?.transferCharacteristics ?? unspecified,
            matrixCoefficients: signal.colourDescription?.matrixCoefficients ?? unspecified,
            isFullRange: signal.videoFullRangeFlag)
    }

    /// The timing of a video parameter set, used if the sequence parameter set has none.
    private static func timing(_ nalUnit: [UInt8]?) -> VideoTiming? {
        nalUnit.flatMap { try? HEVCVideoParameterSet(nalUnit: $0).timing }
    }
}

extension H264SequenceParameterSet {
    /// `avc1.` and the three bytes after the header of the sequence parameter set (RFC 6381 §3.3).
    fileprivate var codecString: String {
        let bytes = [profileIdc, constraintSetFlags, levelIdc].map { UInt8(truncatingIfNeeded: $0) }
        return "avc1." + Hexadecimal.encode(bytes, uppercase: true)
    }
}

extension HEVCProfileTierLevel {
    /// `hvc1.` with profile, compatibility flags (bits reversed), tier and level, and constraint bytes without trailing
    /// zeros (ISO/IEC 14496-15 Annex E).
    fileprivate var codecString: String {
        let space = ["", "A", "B", "C"][generalProfileSpace & 3]
        var constraints = generalConstraintIndicatorFlags[...]
        while constraints.last == 0 { constraints.removeLast() }
        let reversed = (0..<32).reduce(UInt32(0)) { $0 << 1 | (generalProfileCompatibilityFlags >> UInt32($1)) & 1 }
        let compatibility = String(reversed, radix: 16, uppercase: true)
        let level = "\(generalTierFlag ? "H" : "L")\(generalLevelIdc)"
        let fields = ["hvc1", "\(space)\(generalProfileIdc)", compatibility, level]
        return (fields + constraints.map { String($0, radix: 16, uppercase: true) }).joined(separator: ".")
    }
}

/// The Dolby Vision of HEVC video, as its `dvcC` or `dvvC` box says (Dolby Vision Streams Within the ISO Base Media File Format
/// §3.1).
struct DolbyVision: Equatable {
    let profile: Int
    let level: Int
    /// The base video that other players decode: 1 is HDR10, 2 SDR, 4 HLG.
    let compatibility: Int

    /// The brands of the compatible bitstreams (mp4ra.org), by `compatibility`.
    private static let brands = [1: "db1p", 2: "db2g", 4: "db4h"]

    /// - Parameter boxes: whole boxes; nil if no box describes Dolby Vision.
    init?(boxes: [UInt8]) {
        guard let read = try? BoxReader.wholeBoxes(in: boxes[...]).boxes,
            let record = (read.first("dvcC") ?? read.first("dvvC"))?.body, record.count >= 5
        else { return nil }
        let fields = record.dropFirst(2).prefix(3).reduce(0) { $0 << 8 | Int($1) }
        profile = fields >> 17
        level = fields >> 11 & 0x3F
        compatibility = fields >> 4 & 0xF
    }

    /// The entry of SUPPLEMENTAL-CODECS (draft-pantos-hls-rfc8216bis §4.4.6.2); nil for profiles that no other player
    /// decodes, or that need a second layer.
    var supplementalCodec: String? {
        guard profile == 8, let brand = Self.brands[compatibility] else { return nil }
        return "dvh1.0\(profile).\(level < 10 ? "0" : "")\(level)/\(brand)"
    }
}
