/// The media of a video track beside the leading one in one segment.
package enum VariantMedia<Own> {
    /// No media: it is lost, or the track was not followed (EXT-X-GAP).
    case gap
    case own(Own)
    /// The media of another track, because the source has no variant for this one. 0 is the leading track, 1 the first one
    /// beside it.
    case other(Int)

    package var own: Own? { if case .own(let media) = self { media } else { nil } }

    package func map<Other>(_ transform: (Own) -> Other) -> VariantMedia<Other> {
        switch self {
        case .gap: .gap
        case .own(let media): .own(transform(media))
        case .other(let track): .other(track)
        }
    }
}

extension VariantMedia: Equatable where Own: Equatable {}
extension VariantMedia: Sendable where Own: Sendable {}
