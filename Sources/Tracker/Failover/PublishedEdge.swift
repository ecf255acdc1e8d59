import Playlist

/// Up to where the channel was published: where another source, or another process, has to go on.
struct PublishedEdge: Equatable, Sendable {
    /// By the upstream's own dates; nil while none tells.
    private(set) var date: ProgramDateTime?
    /// By the channel's own upstream's numbers, as long as nothing was taken from any source.
    private var mediaSequence: UInt64?
    /// Behind what was taken of each source, by its numbers.
    private var nextSequences: [Int: UInt64] = [:]

    /// - Parameter resumption: where an earlier process stopped.
    init(_ resumption: JoinPoint = .edge) { (date, mediaSequence) = (resumption.date, resumption.mediaSequence) }

    /// Where a session with `source` joins; 0 is the channel's own upstream.
    func joinPoint(of source: Int) -> JoinPoint {
        JoinPoint(date: date, mediaSequence: source == 0 ? mediaSequence : nil, leftAt: nextSequences[source])
    }

    /// - Parameter delivery: what could be used, in the order in which the main rendition was handed downstream.
    mutating func note(_ delivery: Delivery) {
        guard delivery.rendition == .main else { return }
        switch delivery.content {
        case .segment(let tracked):
            date = Self.begin(of: tracked, after: date)?.advanced(by: tracked.segment.duration)
            mediaSequence = nil
            nextSequences[delivery.source] = tracked.segment.mediaSequence &+ 1
        case .lost, .outageGap, .ended: break
        }
    }

    /// What a source on trial brought, without the segments at its beginning that were published meanwhile.
    func trimming(_ held: [UpstreamSession.Effect]) -> [UpstreamSession.Effect] {
        guard let date else { return held }
        var line = PublishedEdge()
        var isRepeating = true
        return held.filter { effect in
            guard isRepeating, case .deliver(let delivery) = effect, delivery.rendition == .main,
                case .segment(let tracked) = delivery.content
            else { return true }
            let begin = Self.begin(of: tracked, after: line.date)
            line.note(delivery)
            isRepeating = begin.map { tracked.segment.isPublished(until: date, from: $0) } ?? false
            return !isRepeating
        }
    }

    private static func begin(of tracked: TrackedSegment, after end: ProgramDateTime?) -> ProgramDateTime? {
        tracked.segment.programDateTime ?? (tracked.isAfterDiscontinuity ? nil : end)
    }
}

extension MediaSegment {
    /// Whether it precedes `date`, up to which the channel was published, on clocks that can be compared.
    fileprivate func isPublished(until date: ProgramDateTime, from begin: ProgramDateTime) -> Bool {
        precedes(date, startingAt: begin) && begin.distance(to: date) <= JoinPoint.reach(duration)
    }
}
