package import Media

/// The kind of a supported elementary stream.
package enum ElementaryStreamKind: Hashable, Sendable {
    case video(VideoConfiguration.Codec)
    case audio(AudioFraming)

    var isVideo: Bool {
        if case .video = self { return true }
        return false
    }
}
