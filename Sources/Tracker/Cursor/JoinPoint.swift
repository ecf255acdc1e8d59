package import Playlist

/// Where a list is joined of which something was had before, by another session or by another process.
package struct JoinPoint: Equatable, Sendable {
    /// Up to when everything was had, by the upstream's dates; nil where nothing tells.
    package var date: ProgramDateTime?
    /// The first media sequence number of which something may be owed; nil where the numbers say nothing.
    package var mediaSequence: UInt64?
    /// Where the source was left for another, by its own numbers: what it listed before was had. What it listed since was
    /// perhaps had from the other, so this says nothing of a live list, whose edge is what matters.
    package var leftAt: UInt64?

    package init(date: ProgramDateTime? = nil, mediaSequence: UInt64? = nil, left: UInt64? = nil) {
        self.date = date
        self.mediaSequence = mediaSequence
        self.leftAt = left
    }

    /// Nothing was had before: joined as anybody would.
    package static let edge = JoinPoint()

    /// Farther from the edge, either the clocks or the numbers are others, or going on there would be a burst of old
    /// news.
    static func reach(_ targetDuration: Duration) -> Duration { max(.seconds(60), targetDuration * 10) }

    /// The media sequence number to go on with, which may be the next one to be listed; nil where `list` does not say.
    /// An encoder that was started anew counts anew: where there are dates, they decide.
    func joinNumber(in list: MediaPlaylist) -> UInt64? {
        if list.isComplete { return joinNumber(inFinished: list) }
        if let date, list.hasDates { return list.firstNumber(after: date) }
        return mediaSequence.flatMap { list.firstNumber(from: $0) }
    }

    /// A finished list is no news of the moment: all of it that is owed is taken, however much that is, and nothing
    /// that was had. That may be all of it.
    private func joinNumber(inFinished list: MediaPlaylist) -> UInt64? {
        guard let window = list.window else { return nil }
        if let date, list.hasDates { return list.firstSegment(from: date) ?? window.upperBound }
        guard let number = mediaSequence ?? leftAt, number >= window.lowerBound, number <= window.upperBound else {
            return nil
        }
        return number
    }

    /// What is owed and will not be had where `list` is gone on with at `next`, by its media sequence numbers; nil where
    /// that is nothing, or nobody knows how much: an encoder that counts anew has no number for what was before. Of the
    /// first segment that is owed something was had, if not all of it.
    func lostRange(in list: MediaPlaylist, before next: UInt64) -> Range<UInt64>? {
        guard let begun = mediaSequence, begun < next, begun + 1 < next, let window = list.window else { return nil }
        let gone = begun + 1..<next
        guard let date, window.contains(next), let begin = list.programDateTimes[Int(next - window.lowerBound)] else {
            return joinNumber(in: list) == next ? gone : nil
        }
        let each = date.distance(to: begin) / Double(next - begun)
        let fits = date < begin && each > list.targetDuration / 10 && each < list.targetDuration * 2
        return fits ? gone : nil
    }

    /// Whether its number is one that `list` may be gone on with.
    func canJoin(_ list: MediaPlaylist) -> Bool { mediaSequence.flatMap { list.firstNumber(from: $0) } != nil }
}

extension MediaPlaylist {
    fileprivate var hasDates: Bool { programDateTimes.last.flatMap { $0 } != nil }

    /// The media sequence number of the first segment that lies behind `date`, which may be the next one to be listed;
    /// nil where the list has no dates, or none near `date`.
    fileprivate func firstNumber(after date: ProgramDateTime) -> UInt64? {
        guard let window, let last = segments.last, let begin = programDateTimes.last ?? nil else { return nil }
        guard begin.advanced(by: last.duration).distance(to: date) <= JoinPoint.reach(targetDuration) else {
            return nil
        }
        return firstSegment(from: date) ?? window.upperBound
    }

    /// The first listed from `number` on, which may be the next one to be listed; nil where that is not near the edge.
    fileprivate func firstNumber(from number: UInt64) -> UInt64? {
        guard let window, number <= window.upperBound else { return nil }
        let first = max(number, window.lowerBound)
        let reach = JoinPoint.reach(targetDuration)
        let listed = segments.suffix(Int(clamping: window.upperBound - first)).reduce(Duration.zero) {
            $0 + $1.duration
        }
        // What is not listed any more lasted a target duration at most, each.
        let targets = targetDuration > .zero ? reach / targetDuration : 0
        guard listed <= reach, Double(first - number) <= targets else { return nil }
        return first
    }
}
