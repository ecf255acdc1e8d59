import Support

/// A rule that chooses the variant of a multivariant playlist to follow.
package enum VariantChoice: Hashable, Sendable {
    case highest, lowest
    /// Frame height in lines.
    case height(Int)
    /// Bits per second.
    case bandwidth(Int)

    /// The largest frame height in use, 8K. A larger number is a bandwidth.
    static let maximumHeight = 4320

    /// Reads "max", "min", a height ("720", "720p") or a bandwidth in bits per second; nil for other text.
    package init?(_ text: String) {
        switch text {
        case "max": self = .highest
        case "min": self = .lowest
        default:
            let digits = text.hasSuffix("p") ? String(text.dropLast()) : text
            guard let number = decimalInteger(digits.utf8).flatMap({ Int(exactly: $0) }), number > 0 else { return nil }
            if number > Self.maximumHeight, text.hasSuffix("p") { return nil }
            self = number <= Self.maximumHeight ? .height(number) : .bandwidth(number)
        }
    }

    /// The text that `init(_:)` reads back.
    package var text: String {
        switch self {
        case .highest: "max"
        case .lowest: "min"
        case .height(let number), .bandwidth(let number): String(number)
        }
    }

    /// The variant of `playlist` that this rule chooses, followed by the variants redundant to it (RFC 8216 §6.2.4),
    /// which have the same attributes at other URIs, in order. Empty if the playlist contains no variant.
    ///
    /// Only variants that can be republished are considered, unless no variant can. Among equal variants the first one
    /// listed wins. Among variants at one URI, which differ in their audio, a variant that every player decodes wins.
    ///
    /// - Parameter candidates: the variants to choose from; nil: all.
    package func choose(from playlist: MultivariantPlaylist, among candidates: [Variant]? = nil) -> [Variant] {
        let candidates = (candidates ?? playlist.variants).republished
        guard let chosen = choose(among: candidates) else { return [] }
        let variant =
            chosen.codecNames.allSatisfy(\.isPlain)
            ? chosen : candidates.first { $0.uri == chosen.uri && $0.codecNames.allSatisfy(\.isPlain) } ?? chosen
        return [variant]
            + playlist.variants.filter {
                $0.uri != variant.uri && $0.isEquivalent(to: variant)
            }
    }

    private func choose(among variants: [Variant]) -> Variant? {
        switch self {
        case .highest: variants.first(by: >)
        case .lowest: variants.first(by: <)
        case .height(let height): choose(near: height, among: variants) { $0.resolution?.height }
        case .bandwidth(let bandwidth): choose(near: bandwidth, among: variants) { $0.bandwidth }
        }
    }

    /// The variant with the largest value up to `limit`, or else with the smallest value above it. Among several such
    /// variants, the variant of the best quality.
    private func choose(
        near limit: Int, among variants: [Variant], by value: (Variant) -> Int?
    ) -> Variant? {
        let values = variants.compactMap(value)
        guard let nearest = values.filter({ $0 <= limit }).max() ?? values.min() else {
            return variants.first(by: >)
        }
        return variants.filter { value($0) == nearest }.first(by: >)
    }
}

extension Variant {
    var codecNames: [CodecName] { codecs.map { CodecName($0) } }

    /// The CODECS entries that are not audio and not text.
    package var videoCodecs: [String] { codecs.filter { CodecName($0).content == .video } }

    /// Whether CODECS names only audio and text codecs and RESOLUTION is absent.
    var isAudioOnly: Bool {
        resolution == nil && !codecs.isEmpty && videoCodecs.isEmpty
    }

    /// The attributes that name groups and paths. They may differ between redundant variants.
    private static let pathAttributes: Set = [
        "AUDIO", "VIDEO", "SUBTITLES", "CLOSED-CAPTIONS", "PATHWAY-ID", "STABLE-VARIANT-ID",
    ]

    /// Whether another variant has the same attributes, at this or another URI.
    package func isEquivalent(to other: Variant) -> Bool { comparableAttributes == other.comparableAttributes }

    fileprivate var comparableAttributes: Set<AttributeList.Attribute> {
        Set(attributes.attributes.filter { !Self.pathAttributes.contains($0.name) })
    }
}

extension [Variant] {
    /// The variants that can be republished: only variants with video if any have video, of these the ones whose codecs are
    /// carried, and of these the ones that every client can render.
    package var republished: [Variant] {
        preferring { !$0.isAudioOnly }.republished(codecs: \.codecNames).preferring {
            $0.videoLayout?.isOrdinary ?? true
        }
    }

    /// The variant whose quality precedes the quality of all others in an order; the first of several. The quality is
    /// the bandwidth, then the frame area.
    fileprivate func first(by precedes: ((Int, Int), (Int, Int)) -> Bool) -> Variant? {
        map { (variant: $0, quality: ($0.bandwidth, $0.resolution?.area ?? 0)) }
            .min { precedes($0.quality, $1.quality) }?.variant
    }
}

extension MultivariantPlaylist {
    /// Whether the playlist has a variant that is equivalent to none of `excluded`.
    package func hasVariant(otherThan excluded: [Variant]) -> Bool {
        variants.contains { variant in !excluded.contains { $0.isEquivalent(to: variant) } }
    }

    /// The playlist without the variants that are equivalent to one of `excluded`, unless these are all.
    package func excluding(_ excluded: [Variant]) -> MultivariantPlaylist {
        var playlist = self
        playlist.variants = variants.preferring { variant in !excluded.contains { $0.isEquivalent(to: variant) } }
        return playlist
    }

    /// The rendition to follow in the AUDIO group of `variant`: the first with DEFAULT=YES, else the first with
    /// AUTOSELECT=YES, else the first.
    ///
    /// nil if the playlist has no such group, or if the rendition has no URI because it is muxed into the variant
    /// (§4.3.4.2.1).
    package func audio(of variant: Variant) -> Rendition? {
        let renditions = audioRenditions(of: variant)
        let chosen =
            renditions.first { $0.isDefault } ?? renditions.first { $0.isAutoselect } ?? renditions.first
        return chosen?.uri == nil ? nil : chosen
    }

    /// The renditions in the AUDIO group of `variant`, in the order listed.
    package func audioRenditions(of variant: Variant) -> [Rendition] {
        guard let group = variant.audio else { return [] }
        return renditions.filter { $0.type == .audio && $0.groupID == group }
    }

    /// The audio in the segments of `variant`: the rendition without a URI (RFC 8216 §4.3.4.2.1); nil if every
    /// rendition has a URI.
    package func multiplexedAudio(of variant: Variant) -> Rendition? {
        audioRenditions(of: variant).first { $0.uri == nil }
    }

    /// The renditions in the SUBTITLES group of `variant` that have a URI, in the order listed.
    package func subtitles(of variant: Variant) -> [Rendition] {
        guard let group = variant.subtitles else { return [] }
        return renditions.filter { $0.type == .subtitles && $0.groupID == group && $0.uri != nil }
    }

    /// The renditions in the CLOSED-CAPTIONS group of `variant`, in the order listed. If the variant names no group,
    /// the renditions of the first group, because packagers forget the attribute.
    package func closedCaptions(of variant: Variant) -> [Rendition] {
        let captions = renditions.filter { $0.type == .closedCaptions }
        let group = variant.closedCaptions ?? captions.first?.groupID
        return captions.filter { $0.groupID == group }
    }
}
