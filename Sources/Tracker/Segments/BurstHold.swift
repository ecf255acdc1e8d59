/// Holds back a burst of live media for a moment, until its subtitles have arrived.
///
/// Subtitles are late if the video is several seconds of media ahead of them. After an outage, and when a channel is
/// joined, several segments are listed at once, and their subtitles come some milliseconds after them. Nobody waits for
/// such a burst in real time.
struct SubtitleHold: Equatable, Sendable {
    static let limit = Duration.seconds(1)

    private var since: Duration?

    /// When the burst is delivered without its subtitles; nil if none is held.
    var deadline: Duration? { since.map { $0 + Self.limit } }

    /// Returns whether media is held back now.
    mutating func holds(isBurst: Bool, awaitsSubtitles: Bool, at now: Duration) -> Bool {
        guard isBurst else {
            since = nil
            return false
        }
        let began = since ?? now
        since = began
        return awaitsSubtitles && now - began < Self.limit
    }
}
