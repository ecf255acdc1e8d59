import Demux
import Media
import Mux
import Transcode

/// Learns whether an upstream's segments end at GOP boundaries.
///
/// Published segments cannot be recalled, so while the alignment is unknown a segment is held until the next one
/// begins. At a join that costs nothing, because several segments come at once. Each time the upstream breaks its
/// alignment it has to show twice as many aligned boundaries, up to a bound: one late frame does not delay for ever.
struct GOPAlignment: Equatable, Sendable {
    static let maxBoundariesNeeded = 32
    /// Number of consecutive false alarms after which an open tail is ignored: the upstream counts time that way.
    static let maxFalseAlarms = 3

    enum Holdback: Equatable, Sendable {
        case nothing
        /// Hold the segment until it is known how the next one begins.
        case segment
        /// Segments end in the middle of a GOP: frames from the last sync sample on belong to the next segment.
        case lastGOP
    }

    private var alignedBoundaries = 0
    private var alignedBoundariesNeeded = 1
    private var falseAlarms = 0
    private var hasOpenTail = false
    private var cutsMidGOP = false

    /// What is held back of a segment.
    var holdback: Holdback {
        if cutsMidGOP { return .lastGOP }
        return alignedBoundaries >= alignedBoundariesNeeded && !hasOpenTail ? .nothing : .segment
    }

    /// Records how a following segment of the same period begins.
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

    /// - Parameter isClosed: whether all frames presented before the last decoded one were received.
    mutating func recordTail(isClosed: Bool) { hasOpenTail = !isClosed && falseAlarms < Self.maxFalseAlarms }
}
