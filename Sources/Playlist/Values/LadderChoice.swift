/// A rule that chooses which variants of a multivariant playlist are republished.
package enum LadderChoice: Hashable, Sendable {
    /// Only the variant that `VariantChoice` chooses.
    case one
    case all
    /// The variants nearest to these frame heights, as `VariantChoice` understands them.
    case heights([Int])

    /// `max`, `all`, or heights with commas between them; nil for other text.
    package init?(_ text: String) {
        switch text {
        case "max": self = .one
        case "all": self = .all
        default:
            let words = text.split(separator: ",", omittingEmptySubsequences: false)
            let heights = words.compactMap { word -> Int? in
                guard case .height(let height) = VariantChoice(String(word)) else { return nil }
                return height
            }
            guard heights.count == words.count, !heights.isEmpty else { return nil }
            self = .heights(heights)
        }
    }

    package var text: String {
        switch self {
        case .one: "max"
        case .all: "all"
        case .heights(let heights): heights.map(String.init).joined(separator: ",")
        }
    }

    /// Returns the leading variant of `playlist` and the variants redundant to it, as `VariantChoice.choose` does,
    /// chosen from the republished variants.
    package func leading(_ choice: VariantChoice, of playlist: MultivariantPlaylist) -> [Variant] {
        choice.choose(from: playlist, among: variants(of: playlist))
    }

    /// The variants that are republished beside the leading one, in the order listed. Variants that are redundant to
    /// another one, or have the URI of another one and differ in audio only, are excluded.
    package func further(than leading: [Variant], in playlist: MultivariantPlaylist) -> [Variant] {
        guard self != .one, let first = leading.first, !first.isAudioOnly else { return [] }
        var (uris, known) = (Set(leading.map(\.uri)), [first])
        return variants(of: playlist).filter { variant in
            let isNew = !known.contains { $0.resolution == variant.resolution && $0.bandwidth == variant.bandwidth }
            guard isNew, !variant.isAudioOnly, uris.insert(variant.uri).inserted else { return false }
            known.append(variant)
            return true
        }
    }

    private func variants(of playlist: MultivariantPlaylist) -> [Variant] {
        guard case .heights(let heights) = self else { return playlist.variants.republished }
        let chosen = heights.compactMap { VariantChoice.height($0).choose(from: playlist).first }
        return playlist.variants.filter(chosen.contains)
    }
}
