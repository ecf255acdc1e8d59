import Support
import Playlist

/// Measures stalls of the live edge. All times are milliseconds.
struct LiveEdgeMonitor {
    /// A time in which no segment was published.
    struct Stall {
        var length = 0
        var end = 0
    }

    /// Longest stalls without and with an upstream fault.
    private(set) var longestWithoutFault = Stall()
    private(set) var longestWithFault = Stall()
    private var grewAt: Int?
    /// Duration of the last segments published together, and their start time.
    private var burst = (start: 0, duration: 0)

    /// Time after which a fault has no effect: its segments are no longer listed.
    static let aftermath = SoakUpstream.window + 5000

    /// Records a published segment.
    /// - Returns: a finding if the stall before it was too long.
    mutating func record(duration: Int, _ script: SoakScript, at time: Int) -> String? {
        defer {
            burst = time - burst.start <= Self.target / 2 ? (burst.start, burst.duration + duration) : (time, duration)
            grewAt = time
        }
        guard let grewAt, time > grewAt else { return nil }
        let stall = Stall(length: time - grewAt, end: time)
        let hasFault = script.fault(from: grewAt - Self.aftermath, to: time) != nil
        if hasFault {
            if stall.length > longestWithFault.length { longestWithFault = stall }
        } else if stall.length > longestWithoutFault.length {
            longestWithoutFault = stall
        }
        let limit = hasFault ? limitWithFault(script, at: time) : Self.target * 3 / 2
        return stall.length > limit ? "the live edge stalled for \(stall.length) ms, the limit is \(limit)" : nil
    }

    private static let target = SoakScript.targetDuration * 1000

    /// Longest accepted stall with a fault.
    ///
    /// Gap segments are published after three and a half target durations, counted from the end of the last burst. After an
    /// ENDLIST they are published once the channel has restarted.
    private func limitWithFault(_ script: SoakScript, at time: Int) -> Int {
        let limit = Self.target * 7 / 2 + max(0, burst.duration - Self.target) + 500
        return script.era(at: time).followsEnd ? limit + Self.target : limit
    }
}
