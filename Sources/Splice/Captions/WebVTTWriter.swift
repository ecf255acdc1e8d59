import Media

/// Writes published WebVTT segments.
///
/// Cue times are on the channel's presentation clock, so a cue that overlaps several segments is equal in each.
enum WebVTTWriter {
    /// Writes a segment.
    /// - Parameters:
    ///   - definitions: STYLE and REGION blocks.
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
