package import Channel
import Splice
import Support
import Tracker

/// The line below the log on a terminal: how a process is doing, in a person's words.
package enum StatusLine {
    /// `live   newest segment 2 s ago   12 splices   nothing missing`
    package static func text(of status: RelayStatus) -> String {
        let age = status.upstream.secondsSinceNewSegment.map {
            "newest segment \(Duration.seconds(Int64($0)).secondsText) ago"
        }
        return join([status.state.rawValue, age, splices(status), missing(status)])
    }

    /// `58 segments, 114 s, 3 splices, nothing missing`
    package static func summary(of status: RelayStatus) -> String {
        let duration = Duration.milliseconds(Int64(status.output.rewindSeconds * 1000)).secondsText
        return [
            number(status.output.segments, "segment"), duration, splices(status), missing(status),
        ].joined(separator: ", ")
    }

    /// The number of boundaries between periods.
    private static func splices(_ status: RelayStatus) -> String {
        number(max(0, Int(status.splice.counts[.periods]) - 1), "splice")
    }

    /// The number of segments that were not published, for whatever reason.
    static func missing(_ status: RelayStatus) -> String {
        let count = Int(status.upstream.counts.lost) + status.splice.segmentsSkipped + status.splice.segmentsNotWritten
        return count == 0 ? "nothing missing" : "\(number(count, "segment")) missing"
    }

    static func number(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    static func join(_ parts: [String?]) -> String { parts.compactMap(\.self).joined(separator: "   ") }
}

extension Int {
    /// `1.9 MB`: of a million bytes, rounded down.
    var megabytesText: String { "\(self / 1_000_000).\(self / 100_000 % 10) MB" }
}
