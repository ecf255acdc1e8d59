import Playlist
import Support

/// Rule 35, and what the text of a multivariant playlist says of rules 2 and 34.
enum MultivariantRules {
    private static let groupAttributes = [
        "AUDIO": "AUDIO", "VIDEO": "VIDEO", "SUBTITLES": "SUBTITLES", "CLOSED-CAPTIONS": "CLOSED-CAPTIONS",
    ]

    static func judge(_ playlist: inout ScannedPlaylist) {
        playlist.judged.insert(.groups)
        var problems: [TextProblem] = []
        func add(_ cause: String, _ level: RuleLevel?, _ line: Int, _ message: String) {
            problems.append(TextProblem(rule: .groups, cause: cause, level: level, line: line, message: message))
        }
        judge(playlist, add)
        for variant in playlist.variants where variant.attributes["BANDWIDTH"] != nil {
            if variant.bandwidth ?? 0 <= 0 {
                playlist.add(.tagSyntax, "malformed", line: variant.line, "BANDWIDTH is no number above 0")
            }
        }
        playlist.problems += problems
    }

    private static func judge(_ playlist: ScannedPlaylist, _ add: (String, RuleLevel?, Int, String) -> Void) {
        for variant in playlist.variants {
            for (attribute, type) in groupAttributes.sorted(by: { $0.key < $1.key }) {
                guard let group = variant.attributes[attribute], attribute != "CLOSED-CAPTIONS" || group != "NONE",
                    !playlist.renditions.contains(where: { $0.type == type && $0.group == group })
                else { continue }
                add(
                    "no-group", nil, variant.line,
                    "\(attribute) names the group “\(group)”, which no EXT-X-MEDIA of this TYPE has")
            }
        }
        let groups = Dictionary(grouping: playlist.renditions) { "\($0.type)/\($0.group)" }
        for (_, members) in groups.sorted(by: { ($0.value[0].line, $0.key) < ($1.value[0].line, $1.key) }) {
            judge(group: members, add)
        }
    }

    private static func judge(group: [ScannedRendition], _ add: (String, RuleLevel?, Int, String) -> Void) {
        var names: Set<String> = []
        var defaults = 0
        for member in group {
            if let name = member.attributes["NAME"], !names.insert(name).inserted {
                add("same-name", nil, member.line, "two members of the group “\(member.group)” have one NAME")
            }
            if member.attributes["DEFAULT"] == "YES" {
                defaults += 1
                if member.attributes["AUTOSELECT"] == "NO" {
                    add("autoselect", nil, member.line, "DEFAULT=YES contradicts AUTOSELECT=NO")
                }
            }
            judge(member, add)
        }
        if defaults > 1 {
            add("two-defaults", nil, group[0].line, "the group “\(group[0].group)” has \(defaults) DEFAULT")
        }
    }

    private static func judge(_ member: ScannedRendition, _ add: (String, RuleLevel?, Int, String) -> Void) {
        let attributes = member.attributes
        switch member.type {
        case "AUDIO", "SUBTITLES":
            if attributes["LANGUAGE"] == nil {
                add("no-language", .note, member.line, "the rendition “\(attributes["NAME"] ?? "")” has no LANGUAGE")
            }
            if member.type == "SUBTITLES", member.uri == nil {
                add("no-uri", nil, member.line, "subtitles have no URI")
            }
        case "CLOSED-CAPTIONS":
            if attributes["URI"] != nil { add("captions-uri", nil, member.line, "closed captions have a URI") }
            let instream = attributes["INSTREAM-ID"] ?? ""
            let isKnown =
                ["CC1", "CC2", "CC3", "CC4"].contains(instream)
                || instream.hasPrefix("SERVICE") && (1...63).contains(Int(instream.dropFirst(7)) ?? 0)
            if !isKnown { add("instream-id", nil, member.line, "closed captions have no valid INSTREAM-ID") }
        case "VIDEO": break
        default:
            if !member.type.isEmpty { add("type", nil, member.line, "EXT-X-MEDIA has the TYPE “\(member.type)”") }
        }
        if attributes["FORCED"] != nil, member.type != "SUBTITLES" {
            add("forced", nil, member.line, "FORCED is for subtitles alone")
        }
    }
}
