/// Bounds of the publication offset: how long after its media time the upstream lists a segment.
///
/// The media time of a segment is the duration of all that was listed since joining, the segment included. Offsets are
/// session times minus media times, so they are equal for all segments of a steady upstream.
///
/// The bounds are halved by each load between them. Once they are narrow, they move with the upstream: a little earlier
/// after each find, and by a step later after each miss.
struct PublicationBounds: Equatable, Sendable {
    /// Offsets of the last loads before a find, and of the find itself.
    struct Evidence: Equatable, Sendable {
        /// Offset of the last load that did not list the segment.
        let absent: Duration
        /// Offset of the load that listed it.
        let present: Duration
        /// Whether the upstream published nothing for longer than a miss takes to be noticed.
        let isStall: Bool
    }

    /// The bounds are narrow if they differ by at most a part of a segment, or by the jitter of a network.
    private static let (narrowPart, narrowest) = (64, Duration.milliseconds(30))
    /// The step of a miss, at least and at most, in parts of a segment.
    private static let (leastStepPart, leastStep, mostStepPart) = (100, Duration.milliseconds(20), 8)
    /// A second miss after fewer finds is a move; after fewer than `soon`, the step is too short.
    private static let (atOnce, soon) = (4, 32)
    /// The first finds move the bounds earlier by this part of a step. The part doubles each 64 finds up to a half.
    private static let (creepPart, creepDoubling, mostDoublings) = (400, 64, 7)
    /// Later than the bound, so that a load that starts a little early does not miss.
    private static let margin = Duration.milliseconds(5)

    /// The latest offset known to be before the publication, and the earliest known to be after it.
    private(set) var absent: Duration
    private(set) var present: Duration
    private var step = Duration.zero
    private var findsSinceMiss = Self.atOnce

    init(absent: Duration, present: Duration) { (self.absent, self.present) = (absent, present) }

    func isNarrow(_ segmentDuration: Duration) -> Bool {
        present - absent <= max(Self.narrowest, segmentDuration / Self.narrowPart)
    }

    /// The offset at which the next segment is requested.
    ///
    /// - Parameters:
    ///   - mayMiss: whether the budget permits a load that finds nothing.
    ///   - isRepeatedSoon: whether such a load makes the segment only a little late. Where it waits for a cache, a step
    ///     more in each segment is better.
    func target(_ segmentDuration: Duration, mayMiss: Bool, isRepeatedSoon: Bool) -> Duration {
        if isNarrow(segmentDuration) {
            return present + (isRepeatedSoon ? Self.margin : lastStep(segmentDuration))
        }
        return mayMiss ? absent + (present - absent) / 2 : present
    }

    private static func leastStep(_ segmentDuration: Duration) -> Duration {
        max(leastStep, segmentDuration / leastStepPart)
    }

    /// The step of the last miss, or the least one.
    private func lastStep(_ segmentDuration: Duration) -> Duration { max(step, Self.leastStep(segmentDuration)) }

    /// Reads what a find tells.
    mutating func record(_ evidence: Evidence, segmentDuration: Duration) {
        findsSinceMiss += 1
        if evidence.present <= absent {
            learn(evidence, segmentDuration)
        } else if evidence.absent >= present {
            recordMiss(evidence, segmentDuration)
        } else if isNarrow(segmentDuration) {
            creep(segmentDuration)
        } else {
            absent = max(absent, evidence.absent)
            present = min(present, evidence.present)
        }
    }

    /// Searches anew from one find.
    mutating func learn(_ evidence: Evidence, _ segmentDuration: Duration) {
        present = evidence.present
        absent = max(evidence.absent, present - segmentDuration)
        findsSinceMiss = Self.atOnce
    }

    /// Reads a find that came later than the bounds say. A stall tells nothing about the offset, but two do.
    private mutating func recordMiss(_ evidence: Evidence, _ segmentDuration: Duration) {
        defer { findsSinceMiss = 0 }
        if findsSinceMiss < Self.atOnce { return learn(evidence, segmentDuration) }
        guard !evidence.isStall else { return }
        let next = findsSinceMiss < Self.soon ? lastStep(segmentDuration) * 2 : step / 2
        step = max(Self.leastStep(segmentDuration), min(segmentDuration / Self.mostStepPart, next))
        absent += step
        present = min(present + step, evidence.present)
    }

    private mutating func creep(_ segmentDuration: Duration) {
        let doublings = min(findsSinceMiss / Self.creepDoubling, Self.mostDoublings)
        let part = lastStep(segmentDuration) * (1 << doublings) / Self.creepPart
        absent -= part
        present -= part
    }
}
