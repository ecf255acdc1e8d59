import Playlist
package import Support

/// The place where an upstream segment begins in the published media.
package struct AdMarkerPlacement: Equatable, Sendable {
    /// The media sequence number of the upstream.
    package var mediaSequence: UInt64
    /// The published time of its first frame.
    package var date: ProgramDateTime
    /// The time of its first frame in the dates of the upstream; nil if the upstream has none.
    package var upstreamDate: ProgramDateTime?

    package init(mediaSequence: UInt64, date: ProgramDateTime, upstreamDate: ProgramDateTime? = nil) {
        self.mediaSequence = mediaSequence
        self.date = date
        self.upstreamDate = upstreamDate
    }
}
