/// What is done, and when, while a live playlist lists nothing new, or nothing of what it lists can be published. Each
/// step is taken once per silence.
package struct StallEscalation: Equatable, Sendable {
    /// What is silent.
    package enum Kind: Equatable, Sendable {
        /// The playlist: it may take a target duration to list the next segment.
        case playlist
        /// What it lists, which is there to be had: a target duration less. One lost segment is no silence yet.
        case media
    }

    package enum Step: Int, Equatable, Comparable, Sendable, CaseIterable {
        /// Worth a warning.
        case late
        /// The same variant at another address, if the upstream has one (RFC 8216 §4.3.4.2).
        case redundantVariant
        /// The multivariant playlist is read again: its addresses may carry fresh tokens.
        case reloadMultivariant
        /// The upstream is dead for now. It is still tried.
        case outage
        case giveUp

        package static func < (left: Step, right: Step) -> Bool { left.rawValue < right.rawValue }

        /// Silence after which the step is taken; `giveUp` has its own measure.
        func silence(of kind: Kind) -> TargetDurations? {
            switch self {
            case .late: .halves(3)
            case .redundantVariant: .halves(4)
            case .reloadMultivariant: .halves(kind == .playlist ? 6 : 4)
            case .outage: .halves(kind == .playlist ? 7 : 5)
            case .giveUp: nil
            }
        }
    }

    package enum State: Equatable, Sendable {
        /// Nothing is expected: before joining, after ENDLIST; of media, when all that is listed is published.
        case idle
        /// `climbed` is the last step taken; nil while all is on time.
        case expecting(since: Duration, climbed: Step?)
    }

    package private(set) var state = State.idle
    private var targetDuration = Duration.zero
    private let kind: Kind
    private let giveUp: Duration?

    /// - Parameter giveUp: silence after which hope is lost, never before `outage`; nil: never.
    package init(_ kind: Kind = .playlist, giveUp: Duration?) { (self.kind, self.giveUp) = (kind, giveUp) }

    /// The list grew. Returns how long it was silent if that was worth a step.
    /// - Parameter targetDuration: or longer, where segments are.
    package mutating func restart(targetDuration: Duration, at now: Duration) -> Duration? {
        defer { state = .expecting(since: now, climbed: nil) }
        self.targetDuration = targetDuration
        guard case .expecting(let since, climbed: .some) = state else { return nil }
        return now - since
    }

    package mutating func stop() { state = .idle }

    /// The steps that are due by `now`, lowest first.
    package mutating func escalate(at now: Duration) -> [Step] {
        var steps: [Step] = []
        while let next = nextStep, next.at <= now, case .expecting(let since, _) = state {
            steps.append(next.step)
            state = .expecting(since: since, climbed: next.step)
        }
        return steps
    }

    /// When `climb` has something to say; nil when it never will.
    package var nextDeadline: Duration? { nextStep?.at }

    /// The last step taken in the silence there is.
    var lastStep: Step? { if case .expecting(_, let climbed) = state { climbed } else { nil } }

    /// How long nothing new was listed, or nothing published.
    package func silence(at now: Duration) -> Duration {
        if case .expecting(let since, _) = state { now - since } else { .zero }
    }

    private var nextStep: (step: Step, at: Duration)? {
        guard case .expecting(let since, let climbed) = state else { return nil }
        guard let step = Step(rawValue: climbed.map { $0.rawValue + 1 } ?? 0) else { return nil }
        if let silence = step.silence(of: kind) { return (step, since + targetDuration * silence) }
        guard let giveUp else { return nil }
        return (step, since + max(giveUp, targetDuration * .halves(7)))
    }
}
