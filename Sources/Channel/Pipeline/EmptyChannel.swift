package import Splice
package import Tracker

/// What was found in a channel of which nothing could be published.
package struct EmptyChannel: Equatable, Sendable {
    /// Main segments that arrived, and those that did not.
    package var segments = 0
    package var lost: UInt64 = 0
    /// Why the last of these did not arrive.
    package var lossReason: SegmentLoss.Reason?
    package var counts = SpliceCounts()

    package init() {}

    mutating func record(_ loss: SegmentLoss) {
        lost += UInt64(loss.mediaSequences.count)
        lossReason = loss.reason
    }
}
