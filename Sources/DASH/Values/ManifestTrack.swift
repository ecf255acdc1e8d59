/// The content of one derived media playlist: the media of one kind, through all periods.
///
/// Its text is the fragment of the URL of the manifest.
package enum ManifestTrack: Hashable, Sendable {
    /// Video, or audio where there is no video. `alternative` is the index of the base URL.
    case main(alternative: Int)
    /// Audio beside video, by the name of its rendition.
    case audio(name: String)

    package init?(fragment: String) {
        if fragment.hasPrefix(Self.audio) {
            self = .audio(name: String(fragment.dropFirst(Self.audio.count)))
        } else if fragment.hasPrefix(Self.main), let number = Int(fragment.dropFirst(Self.main.count)), number >= 0 {
            self = .main(alternative: number)
        } else {
            return nil
        }
    }

    package var fragment: String {
        switch self {
        case .main(let alternative): "\(Self.main)\(alternative)"
        case .audio(let name): "\(Self.audio)\(name)"
        }
    }

    private static let (main, audio) = ("main=", "audio=")
}
