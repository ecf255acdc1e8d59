/// Limits of a segment cursor: how much it fetches when it joins, and how long it tolerates stale playlists.
package struct CursorPolicy: Equatable, Sendable {
    /// The least media to fetch when joining at the live edge …
    package var joinDuration = Duration.seconds(8)
    /// … and the least in target durations: one long segment alone would run dry before the next is listed …
    package var joinTargetDurations = TargetDurations.halves(3)
    /// … but never more segments than this: three of 12 s would be a burst of 36 s.
    package var joinSegments = 3
    /// Segments fetched in addition, so that a companion rendition begins before the main one, not after it.
    package var extraJoinSegments = 0
    /// Consecutive playlists that may end before what was fetched already. A stale CDN edge serves one or two.
    package var maxStalePlaylists = 2
    /// The longest lag of a CDN edge that still lists part of the newest window.
    package var maxLag = TargetDurations.halves(7)

    package static let main = CursorPolicy()
    package static let companion = CursorPolicy(extraJoinSegments: 1)
    /// Subtitles begin well before the video, because their playlist may be ahead of the main one or segmented
    /// differently, and their segments are small. They do not begin with the hours of media that some playlists list.
    package static let subtitles = CursorPolicy(
        joinDuration: .seconds(20), joinTargetDurations: .halves(8), joinSegments: 11, extraJoinSegments: 1)
}

/// A duration counted in half target durations.
package struct TargetDurations: Equatable, Sendable {
    private let halves: Int

    package static func halves(_ halves: Int) -> TargetDurations { TargetDurations(halves: halves) }

    package static func * (targetDuration: Duration, count: TargetDurations) -> Duration {
        targetDuration * count.halves / 2
    }
}
