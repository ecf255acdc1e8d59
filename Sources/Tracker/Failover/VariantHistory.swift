import Fetch
import Playlist
import Support

/// The variants of one source that are not followed, although its multivariant playlist lists them.
struct VariantHistory: Equatable, Sendable {
    /// The pause before a silent variant is tried again, doubled with each trial up to the longest.
    private static let firstPause = Duration.seconds(60)
    private static let longestPause = Duration.seconds(960)
    /// Variants that are remembered. A playlist may name its variants anew each time.
    private static let longestList = 64

    /// Variants that cannot be republished, or are no playlists.
    private(set) var refused: [Variant] = []
    /// Variants of which nothing could be published when they were followed last. They may come back.
    private(set) var silent: [Variant] = []
    private var pause = firstPause
    /// When the best of the silent variants is tried again; nil while there is none.
    private(set) var returnAt: Duration?

    /// The variants that a new session does not follow.
    var excluded: [Variant] { refused + silent }

    mutating func refuse(_ variant: Variant) { refused.append(variant) }

    /// Records that nothing of a variant could be published, in play or on trial.
    mutating func recordSilence(of variant: Variant, at now: Duration) {
        if !silent.contains(where: { $0.isEquivalent(to: variant) }) {
            silent = silent.suffix(Self.longestList - 1) + [variant]
        }
        // A variant that has been there for long is no flapping one.
        if let returnAt, returnAt + Self.longestPause < now { pause = Self.firstPause }
        returnAt = max(returnAt ?? .zero, now + pause)
    }

    /// Makes the silent variants candidates again, because there is no other.
    mutating func forgetSilence() { silent = [] }

    /// Records that the best of the silent variants is tried.
    mutating func recordTrial(at now: Duration) {
        pause = min(pause * 2, Self.longestPause)
        returnAt = now + pause
    }

    /// Whether a silent variant is due for a trial.
    func isReturnDue(at now: Duration) -> Bool { !silent.isEmpty && returnAt.map { $0 <= now } ?? false }

    /// When a silent variant is due for a trial; nil if there is none.
    var deadline: Duration? { silent.isEmpty ? nil : returnAt }
}

/// The relation of a trial of another variant to the active source, whose variant is published meanwhile.
struct OtherVariant: Sendable {
    /// The variant that is published.
    let published: Variant
    /// Where its media ended when the trial began.
    let edge: JoinPoint
    /// Whether the variant that is published is not in an outage, and a better one came back.
    let isReturn: Bool
}

extension JoinPoint {
    /// The place of a segment beside what was published.
    enum Relation: Equatable, Sendable { case precedes, follows }

    /// The relation of a segment of another variant to what was published, by its date or its number; nil if these say
    /// nothing.
    /// - Parameter isNext: whether the relation of the segment after it is asked for.
    func relation(of segment: MediaSegment, isNext: Bool = false) -> Relation? {
        let number = segment.mediaSequence &+ (isNext ? 1 : 0)
        if isPublishedInPart(number) { return .precedes }
        if let date, let start = segment.programDateTime {
            let isBefore = segment.precedes(date, startingAt: isNext ? start.advanced(by: segment.duration) : start)
            return isBefore ? .precedes : .follows
        }
        guard let next = mediaSequence, max(number, next) - min(number, next) <= PublishedEdge.numberReach else {
            return nil
        }
        return number < next ? .precedes : .follows
    }
}
