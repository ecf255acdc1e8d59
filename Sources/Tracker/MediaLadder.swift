/// For how long nothing of what the main playlist lists could be published, why, and what is done about it.
///
/// A list may go on and on while its segments are refused, hang, are garbage, or have another key than theirs: that is as
/// much of an outage as a list that stands still.
struct MediaLadder: Equatable, Sendable {
    private var ladder: StallLadder
    /// Why, as far as was heard since something was published.
    private(set) var trouble = MediaTrouble.awaited
    /// When something was published last; before, when something was listed first.
    private(set) var silentSince: Duration?
    private(set) var hasPublished = false

    /// - Parameter giveUp: as of `StallLadder`.
    init(giveUp: Duration?) { ladder = StallLadder(.media, giveUp: giveUp) }

    /// The last step taken; nil while media come, or none are owed.
    var climbed: StallLadder.Step? { ladder.climbed }
    var nextDeadline: Duration? { ladder.nextDeadline }

    /// Something of it comes that can be read.
    var isReadable: Bool { trouble == .withoutPicture || trouble == .withoutSound }

    func silence(at now: Duration) -> Duration { silentSince.map { now - $0 } ?? .zero }

    /// Something is listed that was not published yet.
    mutating func listed(targetDuration: Duration, at now: Duration) {
        guard ladder.state == .idle else { return }
        _ = ladder.grew(targetDuration: targetDuration, at: now)
        silentSince = silentSince ?? now
    }

    /// What is listed does not come.
    mutating func failed(_ reason: SegmentLoss.Reason) { trouble = .lost(reason) }

    /// A segment was handed downstream.
    /// - Parameter owesMore: something else is listed and was not handed over yet.
    /// - Returns: how long nothing was published, if that was an outage.
    mutating func received(
        _ reception: Reception, owesMore: Bool, targetDuration: Duration, at now: Duration
    ) -> Duration? {
        switch reception {
        case .refused(let why): trouble = why
        case .held: trouble = .withoutSound
        case .published:
            defer { (silentSince, trouble, hasPublished) = (now, .awaited, true) }
            let wasOutage = climbed.map { $0 >= .outage } ?? false
            let silence = silence(at: now)
            if owesMore { _ = ladder.grew(targetDuration: targetDuration, at: now) } else { ladder.stop() }
            return wasOutage ? silence : nil
        }
        return nil
    }

    /// Nothing is late any more: the list has ended.
    mutating func stop() { ladder.stop() }

    /// As of `StallLadder`.
    mutating func climb(at now: Duration) -> [StallLadder.Step] { ladder.climb(at: now) }
}
