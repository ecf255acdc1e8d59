/// Which variant of a multivariant playlist to follow.
package enum VariantChoice: Equatable, Sendable {
    case highest, lowest
    /// Picture height in lines.
    case height(Int)
    /// Bits per second.
    case bandwidth(Int)

    /// The tallest picture in use, 8K: a larger number can only be a bandwidth.
    static let maximalHeight = 4320

    /// "max", "min", a height ("720", "720p") or a bandwidth in bits per second; nil for anything else.
    package init?(_ text: String) {
        switch text {
        case "max": self = .highest
        case "min": self = .lowest
        default:
            let digits = text.hasSuffix("p") ? String(text.dropLast()) : text
            guard let number = decimalInteger(digits.utf8).flatMap({ Int(exactly: $0) }), number > 0 else { return nil }
            if number > Self.maximalHeight, text.hasSuffix("p") { return nil }
            self = number <= Self.maximalHeight ? .height(number) : .bandwidth(number)
        }
    }

    /// What `init` reads back.
    package var text: String {
        switch self {
        case .highest: "max"
        case .lowest: "min"
        case .height(let number), .bandwidth(let number): String(number)
        }
    }

    /// nil when there is no variant. Variants without video stand back unless there is nothing else. Of equals the
    /// first listed wins (RFC 8216 §6.2.4); the others are its alternates.
    package func choose(from playlist: MultivariantPlaylist) -> ChosenVariant? {
        let withVideo = playlist.variants.filter { !$0.isAudioOnly }
        guard let variant = choose(among: withVideo.isEmpty ? playlist.variants : withVideo) else { return nil }
        return ChosenVariant(
            variant: variant, audio: playlist.audio(of: variant),
            alternates: playlist.variants.filter { $0.isRedundant(with: variant) })
    }

    private func choose(among variants: [Variant]) -> Variant? {
        switch self {
        case .highest: variants.best { $0.quality }
        case .lowest: variants.best { $0.quality.negated }
        case .height(let height): choose(near: height, among: variants) { $0.resolution?.height }
        case .bandwidth(let bandwidth): choose(near: bandwidth, among: variants) { $0.bandwidth }
        }
    }

    /// The nearest value not above the wish, else the lowest above it; of several the best.
    private func choose(
        near wish: Int, among variants: [Variant], by value: (Variant) -> Int?
    ) -> Variant? {
        let values = variants.compactMap(value)
        guard let nearest = values.filter({ $0 <= wish }).max() ?? values.min() else {
            return variants.best { $0.quality }
        }
        return variants.filter { value($0) == nearest }.best { $0.quality }
    }
}

/// What `VariantChoice` chose.
package struct ChosenVariant: Equatable, Sendable {
    package let variant: Variant
    /// The playlist to follow beside the variant's own; nil when its sound is in its own stream.
    package let audio: Rendition?
    /// Redundant variants (RFC 8216 §6.2.4): the same attributes at another URI, in order. `MultivariantPlaylist.audio`
    /// gives the audio of each.
    package let alternates: [Variant]

    package init(variant: Variant, audio: Rendition? = nil, alternates: [Variant] = []) {
        self.variant = variant
        self.audio = audio
        self.alternates = alternates
    }
}

extension MultivariantPlaylist {
    /// The rendition of the variant's AUDIO group to follow: DEFAULT=YES, else AUTOSELECT=YES, else the first. nil when
    /// that one has no URI, since it then is in the variant's own stream (§4.3.4.2.1), or when there is no such group.
    package func audio(of variant: Variant) -> Rendition? {
        guard let group = variant.audio else { return nil }
        let renditions = renditions.filter { $0.type == .audio && $0.groupID == group }
        let chosen =
            renditions.first { $0.isDefault } ?? renditions.first { $0.isAutoselect } ?? renditions.first
        return chosen?.uri == nil ? nil : chosen
    }
}

extension MultivariantPlaylist {
    /// The renditions of the variant's SUBTITLES group that can be fetched, in the order listed.
    package func subtitles(of variant: Variant) -> [Rendition] {
        guard let group = variant.subtitles else { return [] }
        return renditions.filter { $0.type == .subtitles && $0.groupID == group && $0.uri != nil }
    }
}

extension Variant {
    /// RFC 6381 names of what is not a picture.
    private static let audioAndTextCodecs = [
        "mp4a", "ac-3", "ec-3", "ac-4", "opus", "flac", "alac", "mp3", "dts", "mha1", "mhm1", "stpp", "wvtt",
    ]

    /// Its CODECS name no video.
    var isAudioOnly: Bool {
        resolution == nil && !codecs.isEmpty
            && codecs.allSatisfy { codec in Self.audioAndTextCodecs.contains { codec.lowercased().hasPrefix($0) } }
    }

    /// Bandwidth first, then picture area.
    fileprivate var quality: VariantQuality {
        let area = resolution.map { $0.width.multipliedReportingOverflow(by: $0.height).partialValue } ?? 0
        return VariantQuality(bandwidth: bandwidth, area: area)
    }

    /// Attributes that name groups and paths differ between redundant variants by design.
    private static let pathAttributes: Set = [
        "AUDIO", "VIDEO", "SUBTITLES", "CLOSED-CAPTIONS", "PATHWAY-ID", "STABLE-VARIANT-ID",
    ]

    fileprivate func isRedundant(with other: Variant) -> Bool {
        uri != other.uri && comparableAttributes == other.comparableAttributes
    }

    private var comparableAttributes: Set<AttributeList.Attribute> {
        Set(attributes.attributes.filter { !Self.pathAttributes.contains($0.name) })
    }
}

private struct VariantQuality: Comparable {
    let bandwidth: Int
    let area: Int

    var negated: VariantQuality { VariantQuality(bandwidth: -bandwidth, area: -area) }

    static func < (left: VariantQuality, right: VariantQuality) -> Bool {
        (left.bandwidth, left.area) < (right.bandwidth, right.area)
    }
}

extension [Variant] {
    /// The first of the greatest.
    fileprivate func best(by quality: (Variant) -> VariantQuality) -> Variant? {
        reduce(nil) { best, variant in
            guard let best else { return variant }
            return quality(variant) > quality(best) ? variant : best
        }
    }
}
