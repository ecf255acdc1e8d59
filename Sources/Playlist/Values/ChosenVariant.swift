/// The variant that `VariantChoice` chose, with its audio rendition and its alternates.
package struct ChosenVariant: Equatable, Sendable {
    package let variant: Variant
    /// The companion audio rendition; nil if the audio is muxed into the variant's own stream.
    package let audio: Rendition?
    /// Redundant variants (RFC 8216 §6.2.4): the same attributes at another URI, in order. `MultivariantPlaylist.audio(of:)`
    /// returns the audio rendition of each.
    package let alternates: [Variant]

    package init(variant: Variant, audio: Rendition? = nil, alternates: [Variant] = []) {
        self.variant = variant
        self.audio = audio
        self.alternates = alternates
    }
}

extension MultivariantPlaylist {
    /// The rendition to follow in the AUDIO group of `variant`: with DEFAULT=YES, else with AUTOSELECT=YES, else the
    /// first.
    ///
    /// nil if there is no such group, or if the rendition has no URI and so is muxed into the variant (§4.3.4.2.1).
    package func audio(of variant: Variant) -> Rendition? {
        guard let group = variant.audio else { return nil }
        let renditions = renditions.filter { $0.type == .audio && $0.groupID == group }
        let chosen =
            renditions.first { $0.isDefault } ?? renditions.first { $0.isAutoselect } ?? renditions.first
        return chosen?.uri == nil ? nil : chosen
    }

    /// The renditions in the SUBTITLES group of `variant` that have a URI, in the order listed.
    package func subtitles(of variant: Variant) -> [Rendition] {
        guard let group = variant.subtitles else { return [] }
        return renditions.filter { $0.type == .subtitles && $0.groupID == group && $0.uri != nil }
    }
}
