import Playlist

/// How long the edge of the live list stands still. All times are milliseconds.
struct LiveEdgeMonitor {
    /// A stretch of time in which nothing was added.
    struct Standstill {
        var length = 0
        var end = 0
    }

    /// While the upstream was well, and while it was not.
    private(set) var longestInCalm = Standstill()
    private(set) var longestInTrouble = Standstill()
    private var grewAt: Int?
    /// Media that came together last, and since when.
    private var burst = (start: 0, lasting: 0)

    /// Effects of a fault are over so long after it: what was made then is no longer listed.
    static let aftermath = SoakUpstream.window + 5000

    /// - Returns: what is wrong with how long it took.
    mutating func grew(by duration: Int, _ script: SoakScript, at time: Int) -> String? {
        defer {
            burst = time - burst.start <= Self.target / 2 ? (burst.start, burst.lasting + duration) : (time, duration)
            grewAt = time
        }
        guard let grewAt, time > grewAt else { return nil }
        let stood = Standstill(length: time - grewAt, end: time)
        let isCalm = script.fault(from: grewAt - Self.aftermath, to: time) == nil
        if isCalm {
            if stood.length > longestInCalm.length { longestInCalm = stood }
        } else if stood.length > longestInTrouble.length {
            longestInTrouble = stood
        }
        let limit = isCalm ? Self.target * 3 / 2 : limitInTrouble(script, at: time)
        return stood.length > limit ? "the edge stood still for \(stood.length) ms, \(limit) are allowed" : nil
    }

    private static let target = SoakScript.targetDuration * 1000

    /// Missing time is listed after three and a half target durations, which begin when what came at once has been
    /// played; behind an ENDLIST nothing is missing until a channel that begins again has.
    private func limitInTrouble(_ script: SoakScript, at time: Int) -> Int {
        let limit = Self.target * 7 / 2 + max(0, burst.lasting - Self.target) + 500
        return script.era(at: time).isBehindEnd ? limit + Self.target : limit
    }
}
