/// Holds back a burst of live video for a moment, until its audio and subtitles have arrived.
///
/// After an outage, and when a channel is joined, several segments are listed at once, and those of other renditions
/// come some milliseconds after them. A track is late if the video is several seconds of media ahead of it, and nobody waits
/// for such a burst in real time.
struct BurstHold: Equatable, Sendable {
    static let limit = Duration.seconds(1)

    private var since: Duration?

    /// When the burst is delivered without the other renditions; nil if none is held.
    var deadline: Duration? { since.map { $0 + Self.limit } }

    /// Returns whether video is held back now.
    mutating func holds(isBurst: Bool, awaitsOthers: Bool, at now: Duration) -> Bool {
        guard isBurst else {
            since = nil
            return false
        }
        let began = since ?? now
        since = began
        return awaitsOthers && now - began < Self.limit
    }
}
