import Playlist

/// Turns the captured states of one media playlist into a channel without an end.
///
/// Media sequence numbers continue from one iteration to the next, and a discontinuity separates the iterations. Every
/// iteration repeats the playlist states of the capture. At the end of an iteration the segments that the first state
/// lists are listed one by one, at the pace of their durations, so that the live edge never stands still or jumps.
struct PlaylistLoop: Sendable {
    /// Media sequence numbers of all segments that were ever listed.
    private var numbers: Range<UInt64>
    /// The numbers of segments with EXT-X-DISCONTINUITY.
    private var discontinuities: Set<UInt64> = []
    /// EXT-X-DISCONTINUITY-SEQUENCE of the playlist that begins with the first number.
    private var discontinuitySequence: UInt64
    /// The earliest playlist state that lists the lowest number.
    private var first: MediaPlaylist
    /// The latest playlist state that lists the highest number.
    private var last: MediaPlaylist
    private var durations: [UInt64: Duration] = [:]

    /// - Returns: nil for a playlist without segments.
    init?(_ playlist: MediaPlaylist) {
        guard let window = playlist.numbers else { return nil }
        (numbers, first, last) = (window, playlist, playlist)
        discontinuitySequence = playlist.discontinuitySequence ?? 0
        append(playlist)
    }

    mutating func append(_ playlist: MediaPlaylist) {
        guard let window = playlist.numbers else { return }
        if window.upperBound >= numbers.upperBound { last = playlist }
        if window.lowerBound < numbers.lowerBound {
            (first, discontinuitySequence) = (playlist, playlist.discontinuitySequence ?? 0)
        }
        numbers = min(numbers.lowerBound, window.lowerBound)..<max(numbers.upperBound, window.upperBound)
        discontinuities.formUnion(playlist.segments.filter(\.isDiscontinuous).map(\.mediaSequence))
        for segment in playlist.segments { durations[segment.mediaSequence] = segment.duration }
    }

    var duration: Duration { durations.values.reduce(.zero, +) }

    /// A captured state in an iteration.
    /// - Parameters:
    ///   - iteration: counted from 0, the capture itself.
    ///   - remaining: time until the next iteration begins.
    func playlist(_ captured: MediaPlaylist, iteration: UInt64, remaining: Duration) -> MediaPlaylist {
        var playlist = prependingPreceding(shifted(captured, by: iteration), of: captured, in: iteration)
        if captured.numbers?.upperBound == numbers.upperBound {
            playlist.segments += shifted(first, by: iteration + 1).segments.prefix(announcedCount(remaining))
        }
        return playlist
    }

    /// The number of segments of the first state that are listed before the next iteration begins.
    ///
    /// Each segment is listed as long before the start of the iteration as the segments after it last.
    private func announcedCount(_ remaining: Duration) -> Int {
        var following = first.segments.reduce(Duration.zero) { $0 + $1.duration }
        return first.segments.prefix { segment in
            following -= segment.duration
            return following >= remaining
        }.count
    }

    private func prependingPreceding(
        _ shiftedPlaylist: MediaPlaylist, of captured: MediaPlaylist, in iteration: UInt64
    ) -> MediaPlaylist {
        var playlist = shiftedPlaylist
        guard iteration > 0, captured.numbers?.lowerBound == numbers.lowerBound else { return playlist }
        // The first state also lists the end of the preceding iteration, so that clients find where they left off.
        let before = shifted(last, by: iteration - 1)
        playlist.mediaSequence = before.mediaSequence
        playlist.discontinuitySequence = before.discontinuitySequence
        playlist.segments = before.segments + playlist.segments
        return playlist
    }

    private func shifted(_ captured: MediaPlaylist, by iteration: UInt64) -> MediaPlaylist {
        var playlist = captured
        playlist.hasEndList = false
        playlist.playlistType = nil
        // A capture's dates do not repeat; without them the channel is dated when it is played.
        for index in playlist.segments.indices { playlist.segments[index].programDateTime = nil }
        guard iteration > 0, let first = captured.numbers?.lowerBound else { return playlist }
        let offset = iteration &* (numbers.upperBound - numbers.lowerBound)
        playlist.mediaSequence = captured.mediaSequence &+ offset
        playlist.segments = captured.segments.map { segment in
            var moved = segment
            // Vectors become explicit, because an implied one (RFC 8216 §5.2) depends on the number.
            for index in moved.keys.indices {
                moved.keys[index].initializationVector = moved.keys[index].vector(for: segment.mediaSequence)
            }
            moved.mediaSequence = segment.mediaSequence &+ offset
            moved.programDateTime = nil
            moved.isDiscontinuous = segment.isDiscontinuous || segment.mediaSequence == numbers.lowerBound
            return moved
        }
        let inIteration = discontinuities.subtracting([numbers.lowerBound])
        let passed = inIteration.count { $0 < first } + (first > numbers.lowerBound ? 1 : 0)
        playlist.discontinuitySequence =
            discontinuitySequence &+ iteration &* UInt64(inIteration.count + 1) &+ UInt64(passed) &- 1
        return playlist
    }
}

extension MediaPlaylist {
    fileprivate var numbers: Range<UInt64>? {
        guard let first = segments.first?.mediaSequence, let last = segments.last?.mediaSequence else { return nil }
        return first <= last && last < .max ? first..<last + 1 : nil
    }
}
