import LiveRing
import Support

/// Decides which segment of the ring a recording takes next, and where it ends.
struct RecordingCursor: Equatable, Sendable {
    enum Step: Equatable, Sendable {
        case append(RingEntry)
        /// Media that there is not; the cursor is after it.
        case lose(RecordingLoss)
        /// Nothing more is published yet.
        case wait
        /// The recording has all of its range. Another one begins at `next`; nil if none does.
        case finish(next: ProgramDateTime?)
    }

    private struct Position: Equatable, Sendable {
        /// nil: nothing before `dateEnd` is of use any more.
        let mediaSequence: UInt64?
        let dateEnd: ProgramDateTime
    }

    /// More than that is not written into the same file, unless its range was asked for.
    private static let longestLoss: Int64 = 3_600_000

    private let start: ProgramDateTime?
    private let end: ProgramDateTime?
    private let split: RecordingSplit
    private let clock: LocalClock
    private let includesSlate: Bool
    /// The first segment of a recording that begins with what is published now.
    private let firstMediaSequence: UInt64
    private var boundary: ProgramDateTime?
    /// The segment after which it goes on.
    private var last: Position?

    /// - Parameters:
    ///   - split: where another file begins.
    ///   - clock: that of the split.
    ///   - firstMediaSequence: of what this process publishes.
    init(
        _ journal: RecordingJournal, split: RecordingSplit, by clock: LocalClock = .utc, from firstMediaSequence: UInt64
    ) {
        // A loss is counted once.
        let lossEnd = journal.losses.last.map { $0.date.advanced(byMilliseconds: $0.milliseconds) }
        (start, end) = (journal.segments.isEmpty ? lossEnd ?? journal.plan.start : nil, journal.plan.end)
        (self.split, self.clock, self.firstMediaSequence) = (split, clock, firstMediaSequence)
        includesSlate = journal.plan.includesSlate
        last = journal.segments.last.map { segment in
            if let lossEnd, lossEnd > segment.dateEnd { return Position(mediaSequence: nil, dateEnd: lossEnd) }
            return Position(mediaSequence: segment.mediaSequence, dateEnd: segment.dateEnd)
        }
        boundary = journal.segments.first.flatMap { split.boundary(after: $0.date, by: clock) }
    }

    /// The next step. The caller tells with `advance(over:)` that it has appended a segment.
    mutating func next(in snapshot: RingSnapshot) -> Step {
        if let end, let last, last.dateEnd >= end { return .finish(next: nil) }
        guard let entry = nextEntry(in: snapshot) else {
            // The end of an earlier process's ring is not that of this channel, and a range has an end of its own.
            let hasEnded = snapshot.hasEnded && snapshot.index.nextMediaSequence > firstMediaSequence
            return hasEnded && end == nil ? .finish(next: nil) : .wait
        }
        if let end, entry.programDateTime >= end {
            return loseRemainder().map(Step.lose) ?? .finish(next: nil)
        }
        if last == nil, let start, entry.programDateTime > start {
            return lose(after: start, before: entry)
        }
        if let boundary, entry.programDateTime >= boundary { return .finish(next: entry.programDateTime) }
        if end == nil, let last, entry.programDateTime.milliseconds(since: last.dateEnd) > Self.longestLoss {
            return .finish(next: entry.programDateTime)
        }
        if let last, isMissing(after: last, before: entry) { return lose(after: last.dateEnd, before: entry) }
        let isMissing = entry.isGap || !includesSlate && entry.isOutageSlate
        if isMissing || entry.transportStream == nil {
            advance(over: entry)
            let length = entry.programDateTimeEnd.milliseconds(since: entry.programDateTime)
            return .lose(
                RecordingLoss(isMissing ? .missing : .unreadable, at: entry.programDateTime, milliseconds: length))
        }
        return .append(entry)
    }

    private func nextEntry(in snapshot: RingSnapshot) -> RingEntry? {
        let index = snapshot.index
        guard let last else {
            return start.map { snapshot.firstEntry(endingAfter: $0) } ?? index.listed(from: firstMediaSequence).first
        }
        // A ring that was made anew counts anew, and its dates go on.
        guard let number = last.mediaSequence, number < index.nextMediaSequence,
            index.entry(numbered: number).map({ $0.programDateTime < last.dateEnd }) ?? true
        else { return snapshot.firstEntry(endingAfter: last.dateEnd) }
        return index.listed(from: number + 1).first
    }

    private func isMissing(after last: Position, before entry: RingEntry) -> Bool {
        guard let number = last.mediaSequence else { return entry.programDateTime > last.dateEnd }
        return entry.mediaSequence != number &+ 1
    }

    /// Returns the loss of the segments that left the ring between two others.
    private mutating func lose(after date: ProgramDateTime, before entry: RingEntry) -> Step {
        let length = max(0, entry.programDateTime.milliseconds(since: date))
        self.last = Position(mediaSequence: entry.mediaSequence &- 1, dateEnd: entry.programDateTime)
        return .lose(RecordingLoss(.evicted, at: date, milliseconds: length))
    }

    /// Returns the loss of what is missing at the end of a range; nil if nothing is, or if nothing is there at all.
    mutating func loseRemainder() -> RecordingLoss? {
        guard let end, let last, last.dateEnd < end else { return nil }
        self.last = Position(mediaSequence: last.mediaSequence, dateEnd: end)
        return RecordingLoss(.evicted, at: last.dateEnd, milliseconds: end.milliseconds(since: last.dateEnd))
    }

    /// Sets where another file begins, of a recording that the guide splits.
    mutating func setProgramEnd(_ end: ProgramDateTime?) {
        if split == .program { boundary = end }
    }

    mutating func advance(over entry: RingEntry) {
        last = Position(mediaSequence: entry.mediaSequence, dateEnd: entry.programDateTimeEnd)
        if boundary == nil { boundary = split.boundary(after: entry.programDateTime, by: clock) }
    }
}
