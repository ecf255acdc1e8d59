import Media
import Splice
import Support

extension Duration {
    /// The duration in seconds, rounded to milliseconds; for people and graphs, never for a decision.
    package var seconds: Double { (inSeconds * 1000).rounded() / 1000 }

    /// The duration in whole seconds, rounded up; at least 1.
    var secondsRoundedUp: Int64 {
        let (seconds, attoseconds) = components
        return max(1, attoseconds > 0 ? seconds + 1 : seconds)
    }
}

extension Ticks {
    /// The tick nearest to `duration`, at most the longest of `timeline`.
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let part = (attoseconds / 1_000_000_000 * Ticks.perSecond + 500_000_000) / 1_000_000_000
        let count = Int128(seconds) * Int128(Ticks.perSecond) + Int128(part)
        self.init(min(Int64(clamping: count), Self.timeline.upperBound))
    }
}
