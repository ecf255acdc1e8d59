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

    /// Records that missing time was listed as gaps.
    mutating func advance(overGaps count: Int, of duration: Duration) {
        (gapTime, gapUnit) = (gapTime + duration * count, duration)
    }

    /// Returns the effects held during a trial, without the leading segments whose time was published meanwhile, or listed
    /// as a gap.
    /// - Returns: `late`: the segments whose time was listed as a gap.
    func trimming(_ held: [UpstreamSession.Effect]) -> (kept: [UpstreamSession.Effect], late: [SegmentLoss]) {
        guard let date else { return (held, []) }
        let end = gapTime < ListedGaps.leastTime(gapUnit) ? date : date.advanced(by: gapTime)
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
                let number = segment.mediaSequence
                late.append(
                    SegmentLoss(
                        mediaSequences: number..<number &+ 1, reason: .late, cause: .late, duration: segment.duration))
            }
            return !isDuplicate
        }
        return (kept, late)
    }

    private static func startDate(of tracked: TrackedSegment, after end: ProgramDateTime?) -> ProgramDateTime? {
        tracked.segment.programDateTime ?? (tracked.isAfterDiscontinuity ? nil : end)
    }
}

extension MediaSegment {
    /// Whether the segment, which starts at `start`, precedes `date`, the end of the published media. Dates too far
    /// apart are taken for different clocks.
    fileprivate func isPublished(until date: ProgramDateTime, from start: ProgramDateTime) -> Bool {
        precedes(date, startingAt: start) && start.distance(to: date) <= JoinPoint.reach(duration)
    }
}
