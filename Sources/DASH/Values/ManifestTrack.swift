package import Media

/// The content of one derived media playlist: the media of one kind, through all periods.
///
/// Its text is the fragment of the URL of the manifest.
package enum ManifestTrack: Hashable, Sendable {
    /// Video, or audio where there is no video. `alternative` is the index of the base URL.
    case main(alternative: Int)
    /// Another representation of the video: in each period the nearest one.
    case variant(VideoTrackIdentity, alternative: Int)
    /// Audio beside video, by the name of its rendition.
    case audio(name: String)

    package init?(fragment: String) {
        if fragment.hasPrefix(Self.audioPrefix) {
            self = .audio(name: String(fragment.dropFirst(Self.audioPrefix.count)))
            return
        }
        let parts = fragment.split(separator: "=", omittingEmptySubsequences: false)
        let numbers = parts.dropFirst().flatMap { $0.split(separator: ".") }.compactMap { Int($0) }.filter { $0 >= 0 }
        switch (parts.first, numbers.count) {
        case (.some(Self.mainName), 1): self = .main(alternative: numbers[0])
        case (.some(Self.variantName), 3):
            self = .variant(
                VideoTrackIdentity(height: numbers[0], bandwidth: numbers[1]), alternative: numbers[2])
        default: return nil
        }
    }

    package var fragment: String {
        switch self {
        case .main(let alternative): "\(Self.mainName)=\(alternative)"
        case .variant(let identity, let alternative): "\(Self.variantName)=\(identity.text).\(alternative)"
        case .audio(let name): "\(Self.audioPrefix)\(name)"
        }
    }

    private static let (mainName, variantName): (Substring, Substring) = ("main", "variant")
    private static let audioPrefix = "audio="
}
