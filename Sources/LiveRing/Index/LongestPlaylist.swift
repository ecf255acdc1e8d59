/// The duration of the longest playlist in which any listed entry ever stood, or a little more, in 90 kHz ticks.
///
/// Playlists are counted in two generations. When every entry of the older generation has left the playlist, the younger
/// generation becomes the older one.
struct LongestPlaylist: Equatable, Sendable {
    private var older: Int64 = 0
    private var younger: Int64
    /// The newest media sequence number of the older generation.
    private var boundary: UInt64

    init(ticks: Int64, newest: UInt64) {
        younger = ticks
        boundary = newest
    }

    var ticks: Int64 { max(older, younger) }

    /// Records a playlist of `listed` ticks with the media sequence numbers `oldest` to `newest`.
    mutating func record(_ listed: Int64, newest: UInt64, oldest: UInt64) {
        if oldest > boundary {
            older = younger
            younger = 0
            boundary = newest
        }
        younger = max(younger, listed)
    }
}
