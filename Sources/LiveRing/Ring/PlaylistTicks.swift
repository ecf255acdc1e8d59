/// Ticks of 90 kHz ↔ the units of a playlist.
enum PlaylistTicks {
    static let ticksPerSecond: Int64 = 90_000

    /// Exact to the attosecond, rounded down.
    static func duration(ticks: Int64) -> Duration {
        let (seconds, rest) = ticks.quotientAndRemainder(dividingBy: ticksPerSecond)
        return Duration(secondsComponent: seconds, attosecondsComponent: rest * 100_000_000_000_000 / 9)
    }

    /// The nearest tick. EXTINF's five decimals are finer than a tick, so a written duration comes back exactly.
    static func ticks(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        return seconds * ticksPerSecond + (attoseconds * 9 + 50_000_000_000_000) / 100_000_000_000_000
    }

    static func ticks(milliseconds: Int64) -> Int64 { milliseconds * 90 }

    static func milliseconds(ticks: Int64) -> Int64 { ticks / 90 }
}
