package import Playlist
import Support

/// The attributes of the variant in the master playlist, computed from all listed segments (RFC 8216 §4.3.4.2).
package struct VariantAttributes: Equatable, Sendable {
    /// Each codec of the listed segments once, video before audio, in the order of first appearance.
    package var codecs: [String]
    package var videoCodecs: [String]
    /// The largest frame size.
    package var resolution: Variant.Resolution?
    /// The highest frame rate, as written by the publisher.
    package var frameRate: String?
    /// The widest video range; nil for SDR, which is the default. Segments may have a narrower range.
    package var videoRange: String?
    /// The SUPPLEMENTAL-CODECS, each once. Segments without an entry are played by their CODECS.
    package var supplementalCodecs: [String]
    /// The highest bits per second of 0.5 to 1.5 TARGETDURATIONs (draft-pantos-hls-rfc8216bis §4.4.6.2).
    package var peakBitRate: Int
    /// Bits per second over all listed segments, rounded up.
    package var averageBitRate: Int
    /// Whether every segment can be decoded without another.
    package var isIndependent: Bool

    /// nil if no segment contains media.
    /// - Parameters:
    ///   - rates: the bit rates of the container.
    ///   - format: returns the format of segments as listed; nil if they are not listed.
    init?(
        _ sums: VariantSums, rates: KeyPath<VariantSums, VariantSums.BitRates>,
        format: (VariantSums.FormatSpan) -> SegmentFormat?
    ) {
        let formats = sums.formats.compactMap(format)
        let rates = sums[keyPath: rates]
        guard !formats.isEmpty, rates.ticks > 0 else { return nil }
        videoCodecs = Self.unique(formats.compactMap(\.videoCodec))
        codecs = videoCodecs + Self.unique(formats.compactMap(\.audioCodec))
        resolution = formats.compactMap(\.resolution).max { $0.area < $1.area }
        frameRate = formats.compactMap(\.frameRate).max { Self.frameRate($0) < Self.frameRate($1) }
        let ranges = Set(formats.compactMap(\.videoRange))
        videoRange = ["PQ", "HLG"].first(where: ranges.contains)
        supplementalCodecs = Self.unique(formats.compactMap(\.supplementalCodec))
        isIndependent = sums.dependentSegments == 0
        averageBitRate = PeakBitRate.bitRate(bytes: rates.bytes, ticks: rates.ticks)
        peakBitRate = max(averageBitRate, rates.peak.bitRate)
    }

    var audioCodecs: [String] { codecs.filter { !videoCodecs.contains($0) } }

    /// The variant without its groups.
    /// - Parameter layout: REQ-VIDEO-LAYOUT, as the upstream declares it.
    func variant(uri: String, layout: String? = nil) -> Variant {
        var variant = Variant(uri: uri, bandwidth: peakBitRate)
        variant.averageBandwidth = averageBitRate
        variant.codecs = codecs
        variant.supplementalCodecs = supplementalCodecs
        variant.resolution = resolution
        variant.frameRate = frameRate
        variant.videoRange = videoRange
        variant.requiredLayout = layout
        return variant
    }

    /// The stream of I-frames; nil without video. An I-frame has no more bits than its segment, so the segments' bit
    /// rate is used.
    func iFrameStream(uri: String, layout: String? = nil) -> Variant? {
        guard resolution != nil else { return nil }
        var stream = Variant(uri: uri, bandwidth: peakBitRate)
        stream.codecs = videoCodecs
        stream.resolution = resolution
        stream.videoRange = videoRange
        stream.requiredLayout = layout
        return stream
    }

    private static func unique(_ texts: [String]) -> [String] {
        var seen: Set<String> = []
        return texts.filter { seen.insert($0).inserted }
    }

    /// The value of FRAME-RATE, a decimal number; zero for other text.
    private static func frameRate(_ text: String) -> Duration { DecimalSeconds.duration(text) ?? .zero }
}

extension RingIndex {
    /// The attributes of the variant in the master playlist; nil before the first segment.
    package var variantAttributes: VariantAttributes? {
        VariantAttributes(variantSums, rates: \.fragmentedMP4) { $0.format }
    }
}

extension Variant {
    /// A variant as the upstream declares it, without its groups and without audio.
    init(declaring upstream: Variant, uri: String) {
        self.init(uri: uri, bandwidth: upstream.bandwidth)
        averageBandwidth = upstream.averageBandwidth
        codecs = upstream.videoCodecs
        (resolution, frameRate, videoRange) = (upstream.resolution, upstream.frameRate, upstream.videoRange)
        requiredLayout = upstream.videoLayout?.republished
    }
}
