/// The role of a media playlist in its channel.
package enum StreamRole: Equatable, Sendable {
    /// A media playlist without a multivariant playlist.
    case alone
    /// By index in the multivariant playlist.
    case variant(Int)
    case iFrames(Int)
    case rendition(Int)
}

/// A media playlist with all that is known of it.
package struct CheckedStream: Sendable {
    package let url: String
    package let role: StreamRole
    /// AUDIO, SUBTITLES, VIDEO of EXT-X-MEDIA; VIDEO for a variant.
    package let type: String
    package internal(set) var playlist: PlaylistRecord
    package internal(set) var media: MediaRecord

    package init(url: String, role: StreamRole, type: String) {
        self.url = url
        self.role = role
        self.type = type
        playlist = PlaylistRecord(url: url)
        media = MediaRecord(url: url)
    }

    package var isIFrames: Bool {
        if case .iFrames = role { return true }
        return playlist.current?.hasIFramesOnly == true
    }
}
