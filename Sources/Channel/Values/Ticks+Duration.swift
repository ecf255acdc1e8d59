import Splice

extension Ticks {
    /// The tick nearest to `duration`, or `Int64.max / 4` ticks if the duration is longer.
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let (whole, overflows) = seconds.multipliedReportingOverflow(by: Ticks.perSecond)
        let part = (attoseconds / 1_000_000_000 * Ticks.perSecond + 500_000_000) / 1_000_000_000
        self.init(overflows ? Int64.max / 4 : min(whole + part, Int64.max / 4))
    }
}
