/// Limits of a segment cursor: how much it fetches when it joins, and how long it tolerates stale playlists.
package struct CursorPolicy: Equatable, Sendable {
    /// The least media to fetch when joining at the live edge …
    package var joinDuration: Duration
    /// … and the least in target durations: one long segment alone would run dry before the next is listed …
    package var joinTargetDurations: TargetDurations
    /// … but never more segments than this: three of 12 s would be a burst of 36 s.
    package var joinSegments: Int
    /// Segments fetched in addition, so that a companion rendition begins before the main one, not after it.
    package var extraJoinSegments: Int
    /// Consecutive playlists that may end before what was fetched already. A stale CDN edge serves one or two.
    package var maxStalePlaylists: Int
    /// The longest lag of a CDN edge that still lists part of the newest window.
    package var maxLag: TargetDurations

    package init(
        joinDuration: Duration = .seconds(8), joinTargetDurations: TargetDurations = .halves(3), joinSegments: Int = 3,
        extraJoinSegments: Int = 0, maxStalePlaylists: Int = 2, maxLag: TargetDurations = .halves(7)
    ) {
        self.joinDuration = joinDuration
        self.joinTargetDurations = joinTargetDurations
        self.joinSegments = joinSegments
        self.extraJoinSegments = extraJoinSegments
        self.maxStalePlaylists = maxStalePlaylists
        self.maxLag = maxLag
    }

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
