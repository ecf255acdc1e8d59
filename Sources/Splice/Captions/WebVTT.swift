import Media
import Support

/// A parsed WebVTT segment (W3C WebVTT §4, RFC 8216 §3.5).
struct WebVTT: Equatable, Sendable {
    /// Mapping of cue times to media time (`X-TIMESTAMP-MAP`).
    struct TimestampMap: Equatable, Sendable {
        /// Cue time, milliseconds.
        var local: Int64
        /// Low 33 bits of the media time at `local`.
        var media: Ticks

        /// Mapping of a segment without the header (RFC 8216 §3.5).
        static let absent = TimestampMap(local: 0, media: .zero)

        /// Returns the media time of a cue time in milliseconds, not reduced to 33 bits.
        func media(at time: Int64) -> Ticks { media + .milliseconds(time - local) }
    }

    struct Cue: Hashable, Sendable {
        var identifier: String?
        /// Milliseconds on the file's own clock. `start` is not after `end`.
        var start: Int64
        var end: Int64
        var settings: String
        var payload: String
    }

    var map: TimestampMap?
    /// STYLE and REGION blocks before the first cue, verbatim. They apply to all cues.
    var definitions: [String] = []
    var cues: [Cue] = []
    /// Number of cues with malformed times, or an end before the start.
    var malformed = 0
    /// Number of cues and definitions beyond the limits. Dropped lines count once.
    var dropped = 0
}

/// Reads and writes cue times, `hh:mm:ss.ttt` with any number of hour digits (W3C WebVTT §4.4).
package enum WebVTTTime {
    /// Largest accepted hour, a hundred years.
    private static let maxHours: Int64 = 876_000

    /// Parses a cue time. Hours are optional, and a comma is accepted instead of the point.
    /// - Returns: milliseconds; nil for malformed times.
    static func parse(_ text: some StringProtocol) -> Int64? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2 || parts.count == 3, let last = parts.last else { return nil }
        let seconds = last.split(whereSeparator: { $0 == "." || $0 == "," })
        guard seconds.count == 2, seconds[1].utf8.count == 3, let second = number(seconds[0]), second < 60,
            let millisecond = number(seconds[1]), let minute = number(parts[parts.count - 2]), minute < 60
        else { return nil }
        guard let hour = parts.count == 3 ? number(parts[0]) : 0, hour <= maxHours else { return nil }
        return ((hour * 60 + minute) * 60 + second) * 1000 + millisecond
    }

    /// - Parameter time: milliseconds, not negative.
    package static func text(_ time: Int64) -> String {
        let second = time / 1000
        let clock = [second / 3600, second / 60 % 60, second % 60].map { padded($0, 2) }.joined(separator: ":")
        return "\(clock).\(padded(time % 1000, 3))"
    }

    private static func number(_ digits: some StringProtocol) -> Int64? {
        guard (1...9).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int64(digits)
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        DecimalSeconds.padded(UInt64(number.magnitude), to: width)
    }
}

/// Writes published WebVTT segments.
///
/// Cue times are on the channel's presentation clock, so a cue that overlaps several segments is equal in each.
enum WebVTTWriter {
    /// - Parameters:
    ///   - cues: cues with times in milliseconds of the channel's presentation time.
    ///   - start: presentation time at which the segment begins. The map refers to a time near it, because players resolve
    ///     the 33-bit media time to the value nearest to their buffered media.
    static func write(definitions: [String], cues: [WebVTT.Cue], from start: Ticks) -> [UInt8] {
        let local = max(0, start.count) * 1000 / Ticks.perSecond
        let media = Ticks.milliseconds(local).wire.count
        var text = "WEBVTT\nX-TIMESTAMP-MAP=LOCAL:\(WebVTTTime.text(local)),MPEGTS:\(media)\n"
        for block in definitions { text += "\n\(block)\n" }
        for cue in cues { text += "\n\(block(cue))\n" }
        return Array(text.utf8)
    }

    private static func block(_ cue: WebVTT.Cue) -> String {
        var lines: [String] = []
        if let identifier = cue.identifier { lines.append(identifier) }
        let settings = cue.settings.isEmpty ? "" : " \(cue.settings)"
        lines.append("\(WebVTTTime.text(cue.start)) --> \(WebVTTTime.text(cue.end))\(settings)")
        if !cue.payload.isEmpty { lines.append(cue.payload) }
        return lines.joined(separator: "\n")
    }
}
