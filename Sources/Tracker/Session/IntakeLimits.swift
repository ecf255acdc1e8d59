import Media
import Playlist
package import Support

/// The memory that the intake of one channel may take, by what it holds.
package struct IntakeLimits: Equatable, Sendable {
    /// Bytes of the segment to deliver next.
    package var segmentBytes: Int
    /// Bytes of the segment of the companion to deliver next.
    package var companionBytes: Int
    /// Bytes of the segments after those, held and in flight, and of a second request for a late segment.
    package var aheadBytes: Int
    /// Bytes of one segment of subtitles.
    package var subtitleBytes: Int
    /// Bytes of the playlist of the companion, and of each subtitle rendition.
    package var companionPlaylistBytes: Int
    package var subtitlePlaylistBytes: Int
    /// Bytes of the keys and maps that are kept.
    package var resourceBytes: Int
    /// Bytes of the `moov` of a media file, which is there in the place of segments that wait.
    package var movieBytes: Int
    /// Listed segments of all renditions that wait to be fetched.
    package var queuedSegments: Int

    package init(_ budget: MemoryBudget = MemoryBudget()) {
        segmentBytes = budget.segmentBytes
        companionBytes = budget.bytes(of: .companion)
        aheadBytes = budget.bytes(of: .ahead) + budget.ladderBytes / 2
        subtitleBytes = Self.subtitleBytes
        companionPlaylistBytes = budget.playlistBytes / 6
        subtitlePlaylistBytes = budget.playlistBytes / 24
        resourceBytes = budget.bytes(of: .resources)
        movieBytes = budget.bytes(of: .ahead)
        queuedSegments = budget.bytes(of: .queue) / Self.bytesPerQueuedSegment
    }

    /// The largest segment of subtitles. A feature film in one file has some hundred kilobytes.
    package static let subtitleBytes = 1 << 20
    /// The approximate memory of a listed segment until it is fetched, with its URLs.
    private static let bytesPerQueuedSegment = 700

    func headBytes(of role: RenditionRole) -> Int {
        switch role {
        case .main: segmentBytes
        case .audio: companionBytes
        case .furtherAudio: companionBytes / AudioTrackChoice.limit
        case .furtherVideo: aheadBytes
        case .subtitles: subtitleBytes
        }
    }

    /// The largest playlist of a rendition; nil: the limit of the configuration.
    func playlistBytes(of role: RenditionRole) -> Int? {
        switch role {
        case .main: nil
        case .audio: companionPlaylistBytes
        case .furtherAudio, .furtherVideo: subtitlePlaylistBytes
        case .subtitles: subtitlePlaylistBytes
        }
    }

    /// How many segments of a rendition may wait. The video and its audio share what is there, and leave a fifth to
    /// subtitles, which have a part each of what the others do not need.
    ///
    /// - Parameters:
    ///   - queued: segments of audio and video that wait; nil before the video was joined.
    ///   - companions: audio renditions.
    ///   - subtitles: subtitle renditions.
    func queuedSegments(of role: RenditionRole, queued: Int?, companions: Int, subtitles: Int) -> Int {
        let media = subtitles == 0 ? queuedSegments : queuedSegments * 4 / 5
        guard role.isSubtitles else { return max(1, media / (1 + companions)) }
        return max(1, (queuedSegments - (queued ?? media)) / subtitles)
    }
}
