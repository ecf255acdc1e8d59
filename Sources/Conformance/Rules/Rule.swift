/// The rules by which HLS is judged, by their numbers, which never change. `row` has all that is said of a rule:
/// `--list-rules` and docs/rules.md are made from it.
package enum Rule: Int, CaseIterable, Comparable, Sendable {
    case playlistHeader = 1
    case tagSyntax, version, segmentDuration, constantTargetDuration, sequenceNeverBack, sequenceGrowth
    case constantSegment, discontinuityRemoval, constantDiscontinuity, publicationPace, headAndTail, windowLength
    case removedSegments, endIsFinal, programDateTime, dateRanges, breakLength, interstitials, gapInAll, keys
    case initSection, initFits, decodeTimes, timestampOrder, untaggedSplice, idleTag, measuredDuration
    case independentSegments, keyFrames, avOffset, declaredMedia, declaredBandwidth, captions, groups
    case alignedRenditions, timestampMap, mimeTypes, caching, transfers, refusedNames, lowLatency

    package static func < (left: Rule, right: Rule) -> Bool { left.rawValue < right.rawValue }

    /// Everything that is said of a rule.
    package struct Row: Sendable {
        /// Stays, as the number does: `untagged-splice`.
        package let name: String
        package let level: RuleLevel
        package let evidence: RuleEvidence
        /// The standard and its section; "bis" is draft-pantos-hls-rfc8216bis, "A" the HLS Authoring Specification.
        package let clause: String
        package let demand: String
        /// The accepted deviation; empty: none.
        package let tolerance: String
        package let remedy: String

        init(
            _ name: String, _ level: RuleLevel, _ evidence: RuleEvidence, _ clause: String, _ demand: String,
            tolerance: String = "", _ remedy: String
        ) {
            self.name = name
            self.level = level
            self.evidence = evidence
            self.clause = clause
            self.demand = demand
            self.tolerance = tolerance
            self.remedy = remedy
        }
    }

    package var row: Row { Self.rows[rawValue - 1] }
    package var name: String { row.name }
    package var level: RuleLevel { row.level }

    /// The rule with a number or a name.
    package init?(text: String) {
        let byName = Self.allCases.first { $0.name == text }
        guard let rule = Int(text).flatMap({ Rule(rawValue: $0) }) ?? byName else { return nil }
        self = rule
    }

    /// The name of the message that other validators print for this, where people search for it.
    package var knownAs: String? {
        switch self {
        case .segmentDuration: "Media segment duration exceeds target duration"
        case .measuredDuration: "Measured segment duration differs from EXTINF"
        case .declaredBandwidth: "Measured peak bitrate exceeds the BANDWIDTH attribute"
        case .declaredMedia: "Media does not match the CODECS, RESOLUTION or FRAME-RATE attribute"
        case .keyFrames: "I-frame interval is too long"
        case .mimeTypes: "Unrecognized MIME type"
        case .alignedRenditions: "Different discontinuity sequences in variants"
        case .untaggedSplice: "Discontinuity without EXT-X-DISCONTINUITY"
        default: nil
        }
    }

    /// The behaviour that players showed (docs/players.md, docs/jellyfin-kodi-fast.md); nil if none was run.
    package var players: String? {
        switch self {
        case .untaggedSplice:
            "of 98 s with untagged ad breaks mpv 0.35.1 presented 12 s, and Kodi 20.1 44 s of 78"
        case .idleTag: "VLC 3.0.24 stops at any discontinuity of fragmented MP4"
        case .gapInAll: "GStreamer 1.22 ends at EXT-X-GAP"
        case .initFits: "FFmpeg 5.1 to 9.0 decodes every period with the first audio configuration"
        case .refusedNames: "ffmpeg 5.1.9 and 9.0.2, mpv 0.35.1 and Kodi 20.1 refuse such names"
        default: nil
        }
    }

    /// The rules as Markdown rows of docs/rules.md.
    package static var table: String {
        var text = "| id | name | level | clause | demand | accepted | what to do |\n|---|---|---|---|---|---|---|\n"
        for rule in allCases {
            let row = rule.row
            let cells = [
                "\(rule.rawValue)", "`\(row.name)`", row.level.label, row.clause, row.demand, row.tolerance, row.remedy,
            ]
            text += "| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |\n"
        }
        return text
    }

    /// The rules for a terminal, one a line.
    package static var list: String {
        allCases.map { rule in
            let row = rule.row
            let known = rule.knownAs.map { "\n    known as: \($0)" } ?? ""
            let tolerance = row.tolerance.isEmpty ? "" : "\n    accepted: \(row.tolerance)"
            return """
                \(rule.rawValue) \(row.name) (\(row.level.label); \(row.clause))
                    \(row.demand)\(tolerance)\(known)
                    \(row.remedy)

                """
        }.joined()
    }
}
