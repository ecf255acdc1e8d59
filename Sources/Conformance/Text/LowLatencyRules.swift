import Playlist
import Support

/// Rule 42: the tags of low latency, by their text alone.
enum LowLatencyRules {
    private static let tags: Set<PlaylistTag> = [
        .partInf, .serverControl, .part, .preloadHint, .renditionReport, .skip,
    ]

    static func judge(_ playlist: inout ScannedPlaylist) {
        guard playlist.attributeTags.contains(where: { tags.contains($0.tag) }) else { return }
        playlist.judged.insert(.lowLatency)
        var problems: [TextProblem] = []
        func add(_ cause: String, _ level: RuleLevel?, _ line: Int, _ message: String) {
            problems.append(TextProblem(rule: .lowLatency, cause: cause, level: level, line: line, message: message))
        }
        judge(playlist, add)
        playlist.problems += problems
    }

    private static func judge(_ playlist: ScannedPlaylist, _ add: (String, RuleLevel?, Int, String) -> Void) {
        let target = seconds("PART-TARGET", of: playlist[.partInf])
        let parts = playlist.attributeTags.filter { $0.tag == .part }
        if let first = parts.first, playlist[.partInf] == nil {
            add("no-part-inf", nil, first.line, "there are EXT-X-PART, but no EXT-X-PART-INF")
        }
        for part in parts {
            guard let target, let duration = seconds("DURATION", of: part), duration > target else { continue }
            add(
                "long-part", nil, part.line,
                "a part has \(duration.magnitudeText), but PART-TARGET is \(target.magnitudeText)")
        }
        judgeServerControl(playlist, target, hasParts: !parts.isEmpty, add)
        for hint in playlist.attributeTags where hint.tag == .preloadHint {
            if !["PART", "MAP"].contains(hint.attributes["TYPE"]) {
                add("hint-type", nil, hint.line, "EXT-X-PRELOAD-HINT has a TYPE other than PART and MAP")
            }
        }
        if let skip = playlist[.skip], skip.attributes["SKIPPED-SEGMENTS"].flatMap({ Int($0) }) == nil {
            add("skip", nil, skip.line, "EXT-X-SKIP does not say how many segments")
        }
    }

    private static func judgeServerControl(
        _ playlist: ScannedPlaylist, _ partTarget: Duration?, hasParts: Bool,
        _ add: (String, RuleLevel?, Int, String) -> Void
    ) {
        let control = playlist[.serverControl]
        let target = playlist.targetDuration.map { Duration.seconds($0) }
        if hasParts, let partTarget {
            if let holdBack = seconds("PART-HOLD-BACK", of: control), let line = control?.line {
                if holdBack < partTarget * 2 {
                    add("part-hold-back", nil, line, "PART-HOLD-BACK is less than two part targets")
                } else if holdBack < partTarget * 3 {
                    add("part-hold-back-short", .note, line, "PART-HOLD-BACK is less than three part targets")
                }
            } else {
                add(
                    "no-part-hold-back", nil, control?.line ?? playlist[.partInf]?.line ?? 1,
                    "there are parts, but no PART-HOLD-BACK")
            }
        }
        guard let control, let target else { return }
        if let holdBack = seconds("HOLD-BACK", of: control), holdBack < target * 3 {
            add("hold-back", nil, control.line, "HOLD-BACK is less than three target durations")
        }
        if let skip = seconds("CAN-SKIP-UNTIL", of: control), skip < target * 6 {
            add("skip-until", nil, control.line, "CAN-SKIP-UNTIL is less than six target durations")
        }
        if control.attributes["CAN-SKIP-DATERANGES"] != nil, control.attributes["CAN-SKIP-UNTIL"] == nil {
            add("skip-dateranges", nil, control.line, "CAN-SKIP-DATERANGES needs CAN-SKIP-UNTIL")
        }
    }

    private static func seconds(_ name: String, of tag: ScannedPlaylist.AttributeTag?) -> Duration? {
        tag?.attributes[name].flatMap { DecimalSeconds.duration($0) }
    }
}
