import Demux
import Media
import Mux
import Transcode

/// Writes the WebVTT segments that viewers get. Cue times count on the channel's own presentation clock, so a cue that
/// overlaps several segments says the same in each.
enum WebVTTWriter {
    /// - Parameters:
    ///   - definitions: STYLE and REGION blocks.
    ///   - cues: times are milliseconds of the channel's presentation time.
    ///   - start: presentation time at which the segment begins. The map names a moment near it, because players resolve
    ///     the 33 bits of the media time to what is nearest to the media they hold.
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
