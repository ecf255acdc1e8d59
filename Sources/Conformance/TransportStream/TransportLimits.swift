/// The bounds that a transport stream is judged by, in ticks of 27 MHz.
package struct TransportLimits: Equatable, Sendable {
    /// Longest time between two PATs, and between two PMTs of a program (TR 101 290 1.3, 1.5).
    let tableInterval = milliseconds(500)
    /// Longest time without a packet of a listed video or audio PID (TR 101 290 1.6).
    let pidInterval = milliseconds(5000)
    /// Longest time between two PCRs (TR 101 290 2.3; ISO/IEC 13818-1 §2.7.2).
    let clockInterval = milliseconds(100)
    /// A PCR that is ahead by more than this has jumped; a PCR that is ahead by less came late.
    let clockJump = milliseconds(1000)
    /// Longest time between two PTSs (TR 101 290 2.5; ISO/IEC 13818-1 §2.7.4).
    let presentationInterval = milliseconds(700)
    /// Longest time for which scrambled packets may come before the first CAT.
    let conditionalAccessWait = milliseconds(5000)
    /// Longest time from the arrival of an access unit to its decoding (TR 101 290 3.10).
    package var dataDelay: Duration = .seconds(1)
    /// Number of faults of each indicator that are returned; later ones are only counted.
    package var faultsKept = 100

    package init() {}

    var dataDelayTicks: Int64 {
        let (seconds, attoseconds) = dataDelay.components
        return seconds * ClockTicks.second + attoseconds / (1_000_000_000_000_000_000 / ClockTicks.second)
    }

    private static func milliseconds(_ count: Int64) -> Int64 { count * ClockTicks.millisecond }
}

/// Arithmetic on ticks of the 27 MHz system clock (ISO/IEC 13818-1 §2.4.2.1).
enum ClockTicks {
    static let second: Int64 = 27_000_000
    static let millisecond: Int64 = 27_000
    /// Ticks of 27 MHz in one of the 90 kHz in which PTS, DTS and the PCR's base count.
    static let perStamp: Int64 = 300
    /// Where the PCR begins again at 0.
    static let wrap: Int64 = (1 << 33) * perStamp

    /// The difference of two values, each 0 ..< `wrap`, assuming that neither is more than half a wrap ahead.
    static func difference(_ later: Int64, _ earlier: Int64) -> Int64 {
        let ahead = (later - earlier) % wrap
        if ahead > wrap / 2 { return ahead - wrap }
        return ahead <= -wrap / 2 ? ahead + wrap : ahead
    }

    static func inMilliseconds(_ ticks: Int64) -> String {
        let tenths = (abs(ticks) * 10 + millisecond / 2) / millisecond
        return "\(ticks < 0 ? "-" : "")\(tenths / 10).\(tenths % 10) ms"
    }
}
