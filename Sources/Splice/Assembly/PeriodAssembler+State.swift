import Media
import Mux

extension PeriodAssembler {
    /// A period whose media is placed and written.
    struct OpenPeriod: Sendable {
        let timeline: PeriodTimeline
        let initSection: InitSection
        let description: PeriodDescription
        /// Whether a segment of the period was written.
        var hasSegments = false
    }

    /// State of the current period.
    enum State: Sendable {
        /// No period began since the channel started or resumed.
        case beginning
        case open(OpenPeriod)
        /// The current period could not be described, and its media is dropped. Late audio of an audio-only period
        /// before it is still written, so `previous` is kept.
        case rejected(previous: OpenPeriod?)

        /// The period to which media is appended; nil if media is dropped.
        var open: OpenPeriod? {
            if case .open(let period) = self { period } else { nil }
        }

        /// The period whose segments are written: the open one, or the one before a rejected period.
        var written: OpenPeriod? {
            switch self {
            case .beginning: nil
            case .open(let period): period
            case .rejected(let previous): previous
            }
        }

        /// Drops media until the next period begins.
        mutating func reject() { self = .rejected(previous: written) }

        /// Records that a segment was written.
        mutating func recordSegment() {
            switch self {
            case .beginning: break
            case .open(var period):
                period.hasSegments = true
                self = .open(period)
            case .rejected(var previous):
                previous?.hasSegments = true
                self = .rejected(previous: previous)
            }
        }
    }
}
