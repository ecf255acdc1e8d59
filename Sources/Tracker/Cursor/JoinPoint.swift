import Playlist
package import Support

/// The point at which to join a playlist whose media was partly received before, by another session or process.
package struct JoinPoint: Equatable, Sendable {
    /// The end of the media received so far, by the upstream's dates; nil if there are none.
    package var date: ProgramDateTime?
    /// The first media sequence number that may be missing; nil if the numbers say nothing.
    package var mediaSequence: UInt64?
    /// The number at which the source was left for another one. All earlier segments were received.
    ///
    /// Later segments may have been received from the other source. So a live playlist ignores this number, and is
    /// joined at its edge.
    package var leftAt: UInt64?
    /// Whether earlier media was of another variant. Its clock and its numbers are the same, and it has other bytes.
    package var isOfOtherVariant: Bool

    package init(
        date: ProgramDateTime? = nil, mediaSequence: UInt64? = nil, leftAt: UInt64? = nil,
        isOfOtherVariant: Bool = false
    ) {
        self.date = date
        self.mediaSequence = mediaSequence
        self.leftAt = leftAt
        self.isOfOtherVariant = isOfOtherVariant
    }

    /// The live edge: nothing was received before.
    package static let edge = JoinPoint()

    /// The greatest distance from the live edge at which a live playlist is joined.
    ///
    /// At a greater distance the clock or the numbers have changed, or joining would cause a burst of old media.
    package static func reach(_ targetDuration: Duration) -> Duration { max(.seconds(60), targetDuration * 10) }

    /// The greatest lag of an edge, and of an origin that begins new numbers, behind what was published.
    ///
    /// Caches hold playlists for seconds, however short the segments are.
    static func lag(_ playlist: MediaPlaylist) -> Duration { max(.seconds(8), playlist.targetDuration * 4) }

    /// Returns the media sequence number to continue with, at most one past the last listed; nil if unknown.
    ///
    /// Dates take precedence over numbers, because a restarted encoder restarts its numbers.
    func joinNumber(in playlist: MediaPlaylist) -> UInt64? {
        if playlist.isComplete { return joinNumber(inFinished: playlist) }
        let number =
            if let date, playlist.hasDates {
                playlist.firstNumber(after: date)
            } else {
                mediaSequence.flatMap { playlist.firstNumber(from: $0) }
            }
        return number.map { isPublishedInPart($0) && playlist.window?.upperBound != $0 ? $0 + 1 : $0 }
    }

    /// Whether a segment is the one in which an earlier process stopped, as another variant has it: its bytes are others, so
    /// nobody can tell what of it was published. It is not asked for again.
    func isPublishedInPart(_ number: UInt64) -> Bool { isOfOtherVariant && leftAt == nil && number == mediaSequence }

    /// Returns the first number of a finished playlist that was not received, at any distance from its end.
    ///
    /// The number is one past the last listed if everything was received.
    private func joinNumber(inFinished playlist: MediaPlaylist) -> UInt64? {
        guard let window = playlist.window else { return nil }
        if let date, playlist.hasDates { return playlist.firstSegment(from: date) ?? window.upperBound }
        guard let number = mediaSequence ?? leftAt, number >= window.lowerBound, number <= window.upperBound else {
            return nil
        }
        return number
    }

    /// Returns the numbers that are lost if `playlist` is joined at `next`; nil if there are none or they are unknown.
    ///
    /// A restarted encoder has no numbers for earlier segments. The first missing segment of an earlier process is not
    /// counted, because part of it may have been received.
    func lostRange(in playlist: MediaPlaylist, before next: UInt64) -> Range<UInt64>? {
        guard let first = mediaSequence, first < next, let window = playlist.window else { return nil }
        let lost = (leftAt == first ? first : first + 1)..<next
        guard !lost.isEmpty else { return nil }
        guard let date, window.contains(next), let begin = playlist.programDateTimes[Int(next - window.lowerBound)]
        else {
            return joinNumber(in: playlist) == next ? lost : nil
        }
        let each = date.distance(to: begin) / Double(next - first)
        let fits = date < begin && each > playlist.targetDuration / 10 && each < playlist.targetDuration * 2
        return fits ? lost : nil
    }
}

extension CursorPolicy {
    /// Returns the media sequence number at which to join a playlist that has segments.
    ///
    /// A live playlist that does not contain `point` is joined at its edge, a finished one at its start.
    func joinNumber(in playlist: MediaPlaylist, at point: JoinPoint = .edge) -> UInt64 {
        guard let window = playlist.window else { return playlist.mediaSequence }
        if let number = point.joinNumber(in: playlist) {
            return number - min(number - window.lowerBound, UInt64(extraJoinSegments))
        }
        if playlist.isComplete { return window.lowerBound }
        let count = edgeSegmentCount(in: playlist)
        return window.upperBound - UInt64(min(count + extraJoinSegments, playlist.segments.count))
    }

    /// Returns how many segments to fetch at the live edge, without the extra ones.
    private func edgeSegmentCount(in playlist: MediaPlaylist) -> Int {
        let wanted = max(joinDuration, playlist.targetDuration * joinTargetDurations)
        var covered = Duration.zero
        var count = 0
        for segment in playlist.segments.reversed() {
            guard count < joinSegments, covered < wanted else { break }
            covered += segment.duration
            count += 1
        }
        return count
    }
}

extension MediaPlaylist {
    fileprivate var hasDates: Bool { programDateTimes.last.flatMap { $0 } != nil }

    /// Returns the number of the first segment after `date`, at most one past the last listed.
    ///
    /// The result is nil if the playlist has no dates, or none near `date`.
    fileprivate func firstNumber(after date: ProgramDateTime) -> UInt64? {
        guard let window, let last = segments.last, let begin = programDateTimes.last ?? nil else { return nil }
        guard begin.advanced(by: last.duration).distance(to: date) <= JoinPoint.reach(targetDuration) else {
            return nil
        }
        return firstSegment(from: date) ?? window.upperBound
    }

    /// Returns the first listed number from `number` on, at most one past the last; nil if it is far from the edge.
    func firstNumber(from number: UInt64) -> UInt64? {
        guard let window, number <= window.upperBound else { return nil }
        let first = max(number, window.lowerBound)
        let reach = JoinPoint.reach(targetDuration)
        let listed = segments.suffix(Int(clamping: window.upperBound - first)).reduce(Duration.zero) {
            $0 + $1.duration
        }
        // A segment that is not listed any more lasted a target duration at most.
        let targets = targetDuration > .zero ? reach / targetDuration : 0
        guard listed <= reach, Double(first - number) <= targets else { return nil }
        return first
    }
}

/// The media published before that a segment may repeat.
///
/// Within one numbering, nothing: a segment is new by its number, whatever its bytes are, because ads, loops and test
/// cards are broadcast many times. Where the numbers say nothing, the bytes have to decide, but only against as much as can
/// be listed again.
extension JoinPoint {
    /// Returns `TrackedSegment.repeatable` of the segment `number`, with which `playlist` is joined.
    func repeatable(in playlist: MediaPlaylist, from number: UInt64) -> Duration {
        if date != nil, playlist.hasDates, joinNumber(in: playlist) != nil { return playlist.repeatableAfterDate }
        // The segment with the resume point is the same one, or another packager's under its number.
        if let mediaSequence, joinNumber(in: playlist) != nil, number > mediaSequence { return .zero }
        return Self.reach(playlist.targetDuration)
    }
}

extension SegmentCursor.RejoinMethod {
    /// Returns `TrackedSegment.repeatable` of the first segment after a reset to `playlist`.
    func repeatable(in playlist: MediaPlaylist) -> Duration {
        switch self {
        case .url: .zero
        case .programDateTime: playlist.repeatableAfterDate
        case .previousOrigin: JoinPoint.reach(playlist.targetDuration)
        // A packager that begins again lists its live edge, which is not far behind what was published.
        case .liveEdge: min(playlist.duration + JoinPoint.lag(playlist), JoinPoint.reach(playlist.targetDuration))
        }
    }
}

extension MediaPlaylist {
    /// A date lies inside a segment, and two packagers round it differently.
    fileprivate var repeatableAfterDate: Duration {
        let longest = segments.lazy.map(\.duration).max() ?? targetDuration
        return min(max(longest, targetDuration) * 2, JoinPoint.reach(targetDuration))
    }
}
