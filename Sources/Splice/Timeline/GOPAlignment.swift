import Demux
import Media
import Mux
import Transcode

/// Whether an upstream's segments end where its groups of pictures do, learnt from where they begin.
///
/// What is published cannot be taken back, so as long as nobody knows, a segment is held until the next one has begun. At
/// a join that costs nothing: several segments come at once. Each time the upstream breaks what was believed of it, it has
/// to show twice as many clean borders, up to a bound: one late picture is no delay for ever.
struct GOPAlignment: Equatable, Sendable {
    static let maxBoundariesNeeded = 32
    /// A tail that looked unfinished and was not, so many times in a row, is the way this upstream counts time.
    static let maxFalseAlarms = 3

    enum Holdback: Equatable, Sendable {
        case nothing
        /// Until it is known how the next one begins.
        case segment
        /// Segments are cut in the middle of groups: what follows the last sync sample goes with the next one.
        case lastGOP
    }

    private var alignedBoundaries = 0
    private var alignedBoundariesNeeded = 1
    private var falseAlarms = 0
    private var hasOpenTail = false
    private var cutsMidGOP = false

    /// What is held of a segment.
    var holdback: Holdback {
        if cutsMidGOP { return .lastGOP }
        return alignedBoundaries >= alignedBoundariesNeeded && !hasOpenTail ? .nothing : .segment
    }

    /// A segment of the same run followed.
    mutating func recordSegmentStart(isSync: Bool) {
        if hasOpenTail { falseAlarms = isSync ? falseAlarms + 1 : 0 }
        if isSync {
            alignedBoundaries = min(alignedBoundaries + 1, Self.maxBoundariesNeeded)
            if alignedBoundaries >= alignedBoundariesNeeded { cutsMidGOP = false }
        } else {
            if alignedBoundaries >= alignedBoundariesNeeded {
                alignedBoundariesNeeded = min(alignedBoundariesNeeded * 2, Self.maxBoundariesNeeded)
            }
            alignedBoundaries = 0
            cutsMidGOP = true
        }
    }

    /// - Parameter isClosed: every picture that is shown before the last one decoded has come.
    mutating func recordTail(isClosed: Bool) { hasOpenTail = !isClosed && falseAlarms < Self.maxFalseAlarms }
}
