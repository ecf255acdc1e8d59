import Playlist

/// The lists that a capture has of one playlist, said again round after round as those of a channel without an end:
/// numbers go on, the seam between two rounds is a discontinuity, and each round brings what the first one brought.
struct PlaylistLoop: Sendable {
    /// Media sequence numbers of all segments that were ever listed.
    private var numbers: Range<UInt64>
    /// Of those that bear EXT-X-DISCONTINUITY, the first of all apart.
    private var tagged: Set<UInt64> = []
    /// EXT-X-DISCONTINUITY-SEQUENCE where the first of them is first in the list.
    private var discontinuitySequence: UInt64
    /// The list that reaches furthest: the next round begins beside it.
    private var last: MediaPlaylist

    /// nil for a list without segments.
    init?(_ list: MediaPlaylist) {
        guard let window = list.numbers else { return nil }
        (numbers, last, discontinuitySequence) = (window, list, list.discontinuitySequence ?? 0)
        append(list)
    }

    /// Another of its lists, in the order of time.
    mutating func append(_ list: MediaPlaylist) {
        guard let window = list.numbers else { return }
        if window.upperBound >= numbers.upperBound { last = list }
        if window.lowerBound < numbers.lowerBound { discontinuitySequence = list.discontinuitySequence ?? 0 }
        numbers = min(numbers.lowerBound, window.lowerBound)..<max(numbers.upperBound, window.upperBound)
        tagged.formUnion(list.segments.filter(\.isDiscontinuous).map(\.mediaSequence))
    }

    /// How long what it listed last stands before the next round begins.
    var targetDuration: Duration { last.targetDuration }

    /// What a recorded list says in a round; the recorded round is 0.
    func playlist(_ recorded: MediaPlaylist, iteration: UInt64) -> MediaPlaylist {
        var list = shifted(recorded, by: iteration)
        guard iteration > 0, recorded.numbers?.lowerBound == numbers.lowerBound,
            last.numbers?.upperBound == numbers.upperBound
        else { return list }
        // Who saw the last list of the round before finds in this one where it goes on.
        let before = shifted(last, by: iteration - 1)
        list.mediaSequence = before.mediaSequence
        list.discontinuitySequence = before.discontinuitySequence
        list.segments = before.segments + list.segments
        return list
    }

    private func shifted(_ recorded: MediaPlaylist, by round: UInt64) -> MediaPlaylist {
        var list = recorded
        list.hasEndList = false
        list.playlistType = nil
        guard round > 0, let first = recorded.numbers?.lowerBound else { return list }
        let offset = round &* (numbers.upperBound - numbers.lowerBound)
        list.mediaSequence = recorded.mediaSequence &+ offset
        list.segments = recorded.segments.map { segment in
            var moved = segment.withExplicitIV
            moved.mediaSequence = segment.mediaSequence &+ offset
            moved.programDateTime = nil
            moved.isDiscontinuous = segment.isDiscontinuous || segment.mediaSequence == numbers.lowerBound
            return moved
        }
        let inRound = tagged.subtracting([numbers.lowerBound])
        let gone = inRound.count { $0 < first } + (first > numbers.lowerBound ? 1 : 0)
        list.discontinuitySequence = discontinuitySequence &+ round &* UInt64(inRound.count + 1) &+ UInt64(gone) &- 1
        return list
    }
}

extension MediaPlaylist {
    fileprivate var numbers: Range<UInt64>? {
        guard let first = segments.first?.mediaSequence, let last = segments.last?.mediaSequence else { return nil }
        return first <= last && last < .max ? first..<last + 1 : nil
    }
}
