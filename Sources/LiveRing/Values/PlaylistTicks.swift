/// Conversion between 90 kHz ticks and the units of playlists.
enum PlaylistTicks {
    static let ticksPerSecond: Int64 = 90_000

    /// The duration of `ticks`, rounded down to an attosecond.
    static func duration(ticks: Int64) -> Duration {
        let (seconds, rest) = ticks.quotientAndRemainder(dividingBy: ticksPerSecond)
        return Duration(secondsComponent: seconds, attosecondsComponent: rest * 100_000_000_000_000 / 9)
    }

    /// The nearest number of ticks. The five decimals of EXTINF are finer than a tick, so reading a written duration
    /// gives its exact number of ticks. A duration that does not fit into 64 bits is as long as fits.
    static func ticks(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        let rest = (attoseconds * 9 + 50_000_000_000_000) / 100_000_000_000_000
        return Int64(clamping: Int128(seconds) * Int128(ticksPerSecond) + Int128(rest))
    }

    static func ticks(milliseconds: Int64) -> Int64 { milliseconds * 90 }

    static func milliseconds(ticks: Int64) -> Int64 { ticks / 90 }
}
