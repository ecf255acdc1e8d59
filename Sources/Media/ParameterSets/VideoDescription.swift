/// What the parameter sets say of the picture, derived once for each configuration from its first sequence parameter
/// set.
package struct VideoDescription: Equatable, Sendable {
    /// Luma samples of a frame after cropping, 1 ... 65 535 each.
    package let width: Int
    package let height: Int
    /// Width by height of one sample; nil when it is not said.
    package let sampleAspectRatio: Ratio?
    /// Frames a second; nil when it is not said, or not between 1 and 480. It is what the encoder claims: in the
    /// stream, time stamps decide.
    package let frameRate: Ratio?
    /// Code points of ISO/IEC 23091-2; nil when none is said.
    package let color: Color?
    /// By the transfer characteristics; what is not said is standard.
    package let videoRange: VideoRange
    /// RFC 6381: "avc1.640028", "hvc1.1.6.L93.B0".
    package let codecString: String

    /// Two whole numbers above 0, without a common divisor.
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

        /// - Parameter transferCharacteristics: a code point of ISO/IEC 23091-2.
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

    /// - Throws: when there is no sequence parameter set or the first does not decode.
    package init(_ configuration: VideoConfiguration) throws(MediaError) {
        guard let nalUnit = configuration.sequenceParameterSets.first else {
            throw MediaError(.badParameterSet(field: "seq_parameter_set"), section: "ISO/IEC 14496-15 §5.3.3.1")
        }
        switch configuration.codec {
        case .h264: self.init(try H264SequenceParameterSet(nalUnit: nalUnit))
        case .hevc:
            self.init(
                try HEVCSequenceParameterSet(nalUnit: nalUnit),
                timing: Self.timing(configuration.videoParameterSets.first))
        }
    }

    private init(_ set: H264SequenceParameterSet) {
        width = set.width
        height = set.height
        sampleAspectRatio = Self.ratio(set.vui?.sampleAspectRatio)
        color = Self.colour(set.vui?.videoSignalType)
        // A tick is a field (§E.2.1).
        frameRate = set.vui?.timing.flatMap { Self.frameRate($0.timeScale, $0.numUnitsInTick * 2) }
        videoRange = VideoRange(transferCharacteristics: color?.transferCharacteristics)
        codecString = CodecString.h264(set)
    }

    private init(_ set: HEVCSequenceParameterSet, timing: HEVCTimingInformation?) {
        width = set.width
        height = set.height
        sampleAspectRatio = Self.ratio(set.vui?.sampleAspectRatio)
        color = Self.colour(set.vui?.videoSignalType)
        frameRate = (set.vui?.timing ?? timing).flatMap { Self.frameRate($0.vuiTimeScale, $0.vuiNumUnitsInTick) }
        videoRange = VideoRange(transferCharacteristics: color?.transferCharacteristics)
        codecString = CodecString.hevc(set.profileTierLevel)
    }

    /// Nearest tick; nil without a frame rate.
    package var frameDuration: Ticks? {
        guard let frameRate else { return nil }
        let (rate, units) = (Int64(frameRate.numerator), Int64(frameRate.denominator))
        return Ticks((Ticks.perSecond * units * 2 + rate) / (rate * 2))
    }

    /// Width of the picture on a screen with square samples, 16.16 fixed point; the height stays as coded.
    package var displayWidth: UInt32 {
        let ratio = sampleAspectRatio ?? Ratio(1, 1)
        return UInt32(clamping: (width << 16) * ratio.numerator / ratio.denominator)
    }
}

extension VideoDescription {
    private static func ratio(_ aspect: SampleAspectRatio?) -> Ratio? {
        aspect?.ratio.map { Ratio($0.width, $0.height) }
    }

    private static func frameRate(_ timeScale: Int, _ unitsOfFrame: Int) -> Ratio? {
        guard unitsOfFrame > 0, (unitsOfFrame...480 * unitsOfFrame).contains(timeScale) else { return nil }
        return Ratio(timeScale, unitsOfFrame)
    }

    /// Full range without a colour description is worth saying; its code points are then 2, "unspecified".
    private static func colour(_ signal: VideoSignalType?) -> Color? {
        guard let signal, signal.colourDescription != nil || signal.videoFullRangeFlag else { return nil }
        let unspecified = 2
        return Color(
            primaries: signal.colourDescription?.colourPrimaries ?? unspecified,
            transferCharacteristics: signal.colourDescription?.transferCharacteristics ?? unspecified,
            matrixCoefficients: signal.colourDescription?.matrixCoefficients ?? unspecified,
            isFullRange: signal.videoFullRangeFlag)
    }

    /// The clock of a video parameter set, used when the sequence parameter set has none.
    private static func timing(_ nalUnit: [UInt8]?) -> HEVCTimingInformation? {
        guard let nalUnit else { return nil }
        do throws(MediaError) { return try HEVCVideoParameterSet(nalUnit: nalUnit).timing } catch { return nil }
    }
}
