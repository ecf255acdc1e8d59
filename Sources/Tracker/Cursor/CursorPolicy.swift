/// How much a segment cursor takes when it joins, and how long it puts up with a list that went back.
package struct CursorPolicy: Equatable, Sendable {
    /// At the edge at least this much media is taken …
    package var joinDuration: Duration
    /// … and at least this many target durations: one long segment alone would run dry before the next is listed …
    package var joinTargetDurations: TargetDurations
    /// … but never more segments than this: three of 12 s would be a burst of 36 s.
    package var joinSegments: Int
    /// Segments taken further back than that. A companion rendition begins before the main one, not after it.
    package var extraJoinSegments: Int
    /// Lists in a row that may end before what was already taken. A stale CDN edge shows one or two.
    package var maxStalePlaylists: Int
    /// An edge that only lags still lists part of the newest window; it is waited for this many target durations.
    package var maxLag: TargetDurations

    package init(
        joinDuration: Duration = .seconds(8), joinTargetDurations: TargetDurations = .halves(3), joinSegments: Int = 3,
        extraJoinSegments: Int = 0, staleLists: Int = 2, staleTargetDurations: TargetDurations = .halves(7)
    ) {
        self.joinDuration = joinDuration
        self.joinTargetDurations = joinTargetDurations
        self.joinSegments = joinSegments
        self.extraJoinSegments = extraJoinSegments
        self.maxStalePlaylists = staleLists
        self.maxLag = staleTargetDurations
    }

    package static let main = CursorPolicy()
    package static let companion = CursorPolicy(extraJoinSegments: 1)
    /// A subtitle list may be ahead of the picture's or cut otherwise, and its segments are small: it begins well before
    /// the picture, but not with the hours that some list.
    package static let subtitles = CursorPolicy(
        joinDuration: .seconds(20), joinTargetDurations: .halves(8), joinSegments: 11, extraJoinSegments: 1)
}

/// A span of media or of silence, counted in target durations: exact halves of one.
package struct TargetDurations: Equatable, Sendable {
    private let halves: Int

    package static func halves(_ halves: Int) -> TargetDurations { TargetDurations(halves: halves) }

    package static func * (duration: Duration, span: TargetDurations) -> Duration { duration * span.halves / 2 }
}
