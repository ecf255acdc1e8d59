import Playlist

/// A finished media playlist played as a live one that never ends: a sliding window over its segments, over and over, at
/// the pace their durations give.
struct LoopingPlaylist: Sendable {
    static let windowSegments: UInt64 = 6
    /// Listed at the start, as a channel that has been on the air for a while would.
    static let listedAtStart = 3

    private let finished: MediaPlaylist
    private let length: Duration

    /// nil without segments, or when they last no time.
    init?(_ finished: MediaPlaylist) {
        let length = finished.segments.reduce(Duration.zero) { $0 + $1.duration }
        guard length > .zero else { return nil }
        self.finished = finished
        self.length = length
    }

    /// What is listed `now` after the channel went on the air.
    func playlist(at now: Duration) -> MediaPlaylist {
        let newest = newestIndex(at: now)
        let oldest = newest + 1 > Self.windowSegments ? newest + 1 - Self.windowSegments : 0
        var playlist = MediaPlaylist(targetDuration: finished.targetDuration, mediaSequence: oldest)
        playlist.version = finished.version
        playlist.discontinuitySequence = discontinuities(before: oldest)
        playlist.segments = (oldest...newest).map(segment)
        return playlist
    }

    private var count: UInt64 { UInt64(finished.segments.count) }
    private var discontinuitiesPerRound: UInt64 {
        UInt64(finished.segments.dropFirst().filter(\.isDiscontinuous).count) + 1
    }

    /// The last segment that has been on the air by `now`; never before the first one.
    private func newestIndex(at now: Duration) -> UInt64 {
        let aired = now + finished.segments.prefix(Self.listedAtStart).reduce(Duration.zero) { $0 + $1.duration }
        // Whole rounds are passed at once: a channel that has looped for days is answered as fast as a new one.
        let rounds = UInt64(max(0, aired.microseconds / (length.microseconds + 1)))
        var end = length * Int(rounds)
        var listed = rounds * count
        while true {
            end += finished.segments[Int(listed % count)].duration
            if end > aired { return max(listed, 1) - 1 }
            listed += 1
        }
    }

    private func segment(_ index: UInt64) -> MediaSegment {
        let place = Int(index % count)
        var segment = finished.segments[place].withExplicitIV
        segment.mediaSequence = index
        segment.isDiscontinuous = place == 0 ? index > 0 : segment.isDiscontinuous
        segment.discontinuitySequence = discontinuities(before: index) + (segment.isDiscontinuous ? 1 : 0)
        segment.programDateTime = nil
        return segment
    }

    /// Discontinuity tags of all segments before `index`.
    private func discontinuities(before index: UInt64) -> UInt64 {
        let (round, place) = index.quotientAndRemainder(dividingBy: count)
        guard index > 0 else { return 0 }
        let inRound = finished.segments.prefix(Int(place)).dropFirst().filter(\.isDiscontinuous).count
        return round * discontinuitiesPerRound + UInt64(inRound) - (place == 0 ? 1 : 0)
    }
}

extension MediaSegment {
    /// With the IV that a key without one implies (RFC 8216 §5.2) said in words: it would change with the number.
    fileprivate var withExplicitIV: MediaSegment {
        var copy = self
        let vector = (0..<16).map { $0 < 8 ? 0 : UInt8(truncatingIfNeeded: mediaSequence >> (8 * UInt64(15 - $0))) }
        for key in copy.keys.indices where copy.keys[key].initializationVector == nil {
            copy.keys[key].initializationVector = vector
        }
        return copy
    }
}

extension Duration {
    fileprivate var microseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
