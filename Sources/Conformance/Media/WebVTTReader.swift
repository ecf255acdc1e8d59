import Media
import Support

/// Reads the timestamp map and the times of the cues of a WebVTT segment (RFC 8216bis §3.1.4).
enum WebVTTReader {
    /// nil for bytes that are no WebVTT.
    static func read(_ bytes: [UInt8]) -> SubtitleFacts? {
        let body = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]
        guard body.starts(with: "WEBVTT".utf8) else { return nil }
        var map: (media: Ticks, local: Int64)?
        var cues: (start: Ticks, end: Ticks)?
        for line in body.split(whereSeparator: { $0 == 10 || $0 == 13 }) {
            if line.starts(with: "X-TIMESTAMP-MAP=".utf8) {
                map = readMap(String(decoding: line.dropFirst(16), as: UTF8.self)) ?? map
            } else if line.contains(UInt8(ascii: ">")), let times = times(String(decoding: line, as: UTF8.self)) {
                let base = map ?? (.zero, 0)
                let start = base.media + .milliseconds(times.start - base.local)
                let end = base.media + .milliseconds(times.end - base.local)
                cues = (min(cues?.start ?? start, start), max(cues?.end ?? end, end))
            }
        }
        return SubtitleFacts(hasTimestampMap: map != nil, cues: cues)
    }

    private static func readMap(_ text: String) -> (media: Ticks, local: Int64)? {
        var (media, local): (Int64?, Int64?)
        for part in text.split(separator: ",") {
            if part.hasPrefix("MPEGTS:") { media = Int64(part.dropFirst(7)) }
            if part.hasPrefix("LOCAL:") { local = milliseconds(part.dropFirst(6)) }
        }
        guard let media, let local else { return nil }
        return (Ticks(media), local)
    }

    private static func times(_ line: String) -> (start: Int64, end: Int64)? {
        let parts = line.split(separator: " ").map(String.init)
        guard let arrow = parts.firstIndex(of: "-->"), arrow > 0, arrow + 1 < parts.count,
            let start = milliseconds(parts[arrow - 1][...]), let end = milliseconds(parts[arrow + 1][...])
        else { return nil }
        return (start, end)
    }

    /// `hh:mm:ss.mmm` or `mm:ss.mmm`.
    private static func milliseconds(_ text: Substring) -> Int64? {
        let parts = text.split(separator: ":")
        guard (2...3).contains(parts.count), let seconds = DecimalSeconds.duration(String(parts[parts.count - 1]))
        else {
            return nil
        }
        var minutes: Int64 = 0
        for part in parts.dropLast() {
            guard let number = Int64(part), number < 1_000_000 else { return nil }
            minutes = minutes * 60 + number
        }
        return minutes * 60_000 + seconds.wholeMilliseconds
    }
}
