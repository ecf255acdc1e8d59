import Media
import Splice

extension Ticks {
    /// The tick nearest to `duration`, at most the longest of `timeline`.
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let part = (attoseconds / 1_000_000_000 * Ticks.perSecond + 500_000_000) / 1_000_000_000
        let count = Int128(seconds) * Int128(Ticks.perSecond) + Int128(part)
        self.init(min(Int64(clamping: count), Self.timeline.upperBound))
    }
}
