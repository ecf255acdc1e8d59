import Playlist
import Support

/// The end of a channel's published media: where another source, or another process, has to join.
struct PublishedEdge: Equatable, Sendable {
    /// The end on the upstream's clock (EXT-X-PROGRAM-DATE-TIME); nil while no segment had a date.
    private(set) var date: ProgramDateTime?
    /// The time listed as gaps after `date`, and that of one.
    private var gapTime = Duration.zero
    private var gapUnit = Duration.zero
    /// The first media sequence number of the primary that may not have been published by an earlier process; nil once
    /// this process has published a segment.
    private var mediaSequence: UInt64?
    /// For each source, the media sequence number after its last published segment.
    private var nextSequences: [Int: UInt64] = [:]

    init(_ resumePoint: JoinPoint = .edge) { (date, mediaSequence) = (resumePoint.date, resumePoint.mediaSequence) }

    /// Where a session with `source` joins; 0 is the primary.
    func joinPoint(of source: Int) -> JoinPoint {
        JoinPoint(date: date, mediaSequence: source == 0 ? mediaSequence : nil, leftAt: nextSequences[source])
    }

    /// Where a session with another variant of `source` joins, which has the same numbers.
    func joinPointOfOtherVariant(of source: Int) -> JoinPoint {
        var point = joinPoint(of: source)
        point.mediaSequence = nextSequences[source] ?? point.mediaSequence
        point.isOfOtherVariant = point != .edge
        return point
    }

    /// Moves the edge to the end of `delivery`.
    /// - Parameter delivery: published or held, in the order in which the main rendition was handed downstream.
    mutating func advance(past delivery: Delivery) {
        guard delivery.rendition == .main else { return }
        switch delivery.content {
        case .segment(let tracked):
            date = Self.startDate(of: tracked, after: date)?.advanced(by: tracked.segment.duration)
            gapTime = .zero
            mediaSequence = nil
            nextSequences[delivery.source] = tracked.segment.mediaSequence &+ 1
        case .lost, .outageGap, .ended: break
        }
    }

    /// Records that a source has other numbers from now on, whose first unpublished one is `next`.
    mutating func renumber(_ source: Int, from next: UInt64) {
        if nextSequences[source] != nil { nextSequences[source] = next }
    }

    /// Records that missing time was listed as gaps.
    mutating func advance(overGaps count: Int, of duration: Duration) {
        (gapTime, gapUnit) = (gapTime + duration * count, duration)
    }

    /// Returns the effects held during a trial, without the leading segments whose time was published meanwhile, or listed
    /// as a gap.
    /// - Parameter source: the source of another variant of which they are; nil: they are of another source.
    /// - Returns: `late`: the segments whose time was listed as a gap.
    func trimming(
        _ held: [UpstreamSession.Effect], otherVariantOf source: Int? = nil
    ) -> (kept: [UpstreamSession.Effect], late: [SegmentLoss]) {
        guard let date else { return source.map { trimming(held, byNumbersOf: $0) } ?? (held, []) }
        let end = date.advanced(by: lateTime)
        var heldEdge = PublishedEdge()
        var isDuplicate = true
        var late: [SegmentLoss] = []
        let kept = held.filter { effect in
            guard isDuplicate, case .deliver(let delivery) = effect, delivery.rendition == .main,
                case .segment(let tracked) = delivery.content
            else { return true }
            let (segment, start) = (tracked.segment, Self.startDate(of: tracked, after: heldEdge.date))
            heldEdge.advance(past: delivery)
            isDuplicate = start.map { segment.isPublished(until: end, from: $0) } ?? false
            if isDuplicate, let start, !segment.isPublished(until: date, from: start) {
                late.append(SegmentLoss(late: segment))
            }
            return !isDuplicate
        }
        return (kept, late)
    }

    /// The time listed as gaps for which later media is not published.
    private var lateTime: Duration { gapTime < ListedGaps.leastTime(gapUnit) ? .zero : gapTime }

    /// Numbers farther apart are not those of one channel.
    static let numberReach: UInt64 = 64

    /// Trims segments without dates: variants of one upstream have the same numbers, by and large.
    private func trimming(
        _ held: [UpstreamSession.Effect], byNumbersOf source: Int
    ) -> (kept: [UpstreamSession.Effect], late: [SegmentLoss]) {
        guard let next = nextSequences[source], let first = held.lazy.compactMap(\.mainSegment).first else {
            return (held, [])
        }
        let number = first.mediaSequence
        guard max(number, next) - min(number, next) <= Self.numberReach else { return (held, []) }
        // The time of what left the playlist has passed.
        var pending = lateTime - first.duration * Int(max(number, next) - next)
        var late: [SegmentLoss] = []
        let kept = held.filter { effect in
            guard let segment = effect.mainSegment else { return true }
            if segment.mediaSequence < next { return false }
            guard pending >= segment.duration / 2 else { return true }
            pending -= segment.duration
            late.append(SegmentLoss(late: segment))
            return false
        }
        return (kept, late)
    }

    private static func startDate(of tracked: TrackedSegment, after end: ProgramDateTime?) -> ProgramDateTime? {
        tracked.segment.programDateTime ?? (tracked.isAfterDiscontinuity ? nil : end)
    }
}

extension UpstreamSession.Effect {
    /// The segment of the main rendition that is delivered; nil if none is.
    var mainSegment: MediaSegment? {
        guard case .deliver(let delivery) = self, delivery.rendition == .main,
            case .segment(let tracked) = delivery.content
        else { return nil }
        return tracked.segment
    }
}

extension SegmentLoss {
    fileprivate init(late segment: MediaSegment) {
        let number = segment.mediaSequence
        self.init(mediaSequences: number..<number &+ 1, reason: .late, cause: .late, duration: segment.duration)
    }
}

extension MediaSegment {
    /// Whether the segment, which starts at `start`, precedes `date`, the end of the published media. Dates too far
    /// apart are taken for different clocks.
    fileprivate func isPublished(until date: ProgramDateTime, from start: ProgramDateTime) -> Bool {
        precedes(date, startingAt: start) && start.distance(to: date) <= JoinPoint.reach(duration)
    }
}
