import Conformance
import Support

/// How `liverelay check` writes what it found in a channel.
enum ReportText {
    /// - Parameters:
    ///   - name: the input, without secrets.
    ///   - failing: the lowest level that makes the check fail.
    static func write(_ report: CheckReport, of name: String, as format: CheckFormat, failing: RuleLevel) -> String {
        switch format {
        case .text: text(report)
        case .json: json(report, of: name)
        case .junit: junit(report, of: name, failing: failing)
        case .sarif: sarif(report)
        }
    }

    // MARK: - Text

    private static func text(_ report: CheckReport) -> String {
        var text = report.findings.map { "\(paragraph($0))\n" }.joined()
        let levels = RuleLevel.allCases.compactMap { level in
            let count = report.count(level)
            return count == 0 ? nil : "\(count) \(level.label)"
        }
        let sum = levels.isEmpty ? "" : ": " + levels.joined(separator: ", ")
        text += "\(CheckFormat.count(report.findings.count, "finding"))\(sum)\n"
        text += "judged: \(CheckFormat.count(report.streams, "playlist")), "
        text += "\(CheckFormat.count(report.versions, "version")), "
        text += "\(CheckFormat.count(report.segments, "segment")), \(report.bytes) bytes\n"
        let reasons = Dictionary(grouping: report.unjudged, by: \.reason)
        for (reason, rules) in reasons.sorted(by: { $0.value[0].rule < $1.value[0].rule }) {
            text += "not judged: \(rules.map { "\($0.rule.rawValue)" }.joined(separator: " ")) (\(reason))\n"
        }
        return text
    }

    private static func paragraph(_ finding: Finding) -> String {
        let rule = finding.rule
        var lines = ["\(rule.rawValue) \(rule.name), \(finding.level.label): \(finding.message)"]
        let times = finding.count == 1 ? "once" : "\(finding.count) times"
        let places = finding.places.map(place).filter { !$0.isEmpty }
        let more = finding.count > finding.places.count ? ", …" : ""
        let subject = finding.subjects.first.map { " in \($0)" } ?? ""
        let others = finding.subjects.count > 1 ? " and \(finding.subjects.count - 1) more" : ""
        lines.append(
            "\(times)\(subject)\(others)" + (places.isEmpty ? "" : ": \(places.joined(separator: ", "))\(more)"))
        if let known = rule.knownAs { lines.append("known as: \(known)") }
        if let players = rule.players { lines.append("players: \(players)") }
        lines.append("\(rule.row.clause). \(rule.row.remedy)")
        return lines.joined(separator: "\n    ")
    }

    /// `segment 7 line 12 at 3.2 s`.
    private static func place(_ place: FindingPlace) -> String {
        var parts: [String] = []
        if let sequence = place.sequence { parts.append("segment \(sequence)") }
        if let line = place.line { parts.append("line \(line)") }
        if let byte = place.byte { parts.append("byte \(byte)") }
        if let time = place.mediaTime { parts.append("media \(time.secondsText)") }
        if let moment = place.moment { parts.append("at \(moment.secondsText)") }
        return parts.joined(separator: " ")
    }

    // MARK: - JSON, an object per line

    private static func json(_ report: CheckReport, of name: String) -> String {
        // Lists have an object per line; texts have no line feed.
        var lines = report.findings.map { JSONObject($0).text.replacing("\n", with: "") }
        var summary = JSONObject()
        summary.add("input", name)
        summary.add("findings", report.findings.count)
        for level in RuleLevel.allCases { summary.add(level.rawValue, report.count(level)) }
        summary.add("playlists", report.streams)
        summary.add("versions", report.versions)
        summary.add("segments", report.segments)
        summary.add("bytes", report.bytes)
        var judged = JSONObject()
        for (rule, count) in report.judged.sorted(by: { $0.key < $1.key }) { judged.add("\(rule.rawValue)", count) }
        summary.add("judged", judged)
        var unjudged = JSONObject()
        for (rule, reason) in report.unjudged { unjudged.add("\(rule.rawValue)", reason) }
        summary.add("notJudged", unjudged)
        lines.append(summary.text)
        return lines.joined(separator: "\n") + "\n"
    }

    // MARK: - JUnit

    private static func junit(_ report: CheckReport, of name: String, failing: RuleLevel) -> String {
        let byRule = Dictionary(grouping: report.findings, by: \.rule)
        let skipped = Dictionary(report.unjudged.map { ($0.rule, $0.reason) }, uniquingKeysWith: { first, _ in first })
        var (cases, failures) = ("", 0)
        for rule in Rule.allCases {
            let findings = byRule[rule] ?? []
            guard !findings.isEmpty || report.judged[rule] != nil || skipped[rule] != nil else { continue }
            var body = ""
            for finding in findings {
                let text = DocumentText.xml(paragraph(finding))
                if finding.level >= failing {
                    failures += 1
                    body += "<failure message=\"\(DocumentText.xml(finding.message))\">\(text)</failure>"
                } else {
                    body += "<system-out>\(text)</system-out>"
                }
            }
            if let reason = skipped[rule] { body += "<skipped message=\"\(DocumentText.xml(reason))\"/>" }
            cases += "  <testcase classname=\"hls\" name=\"\(rule.rawValue) \(rule.name)\">\(body)</testcase>\n"
        }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuite name="\(DocumentText.xml(name))" tests="\(Rule.allCases.count)" failures="\(failures)" \
            skipped="\(skipped.count)">
            \(cases)</testsuite>

            """
    }

    // MARK: - SARIF 2.1.0

    private static func sarif(_ report: CheckReport) -> String {
        var driver = JSONObject()
        driver.add("name", "liverelay check")
        driver.add("version", ProgramVersion.text)
        driver.add(
            "rules",
            list: Rule.allCases.map { rule in
                var row = JSONObject()
                row.add("id", "\(rule.rawValue)")
                row.add("name", rule.name)
                row.add("shortDescription", JSONObject(["text": rule.row.demand]))
                row.add("help", JSONObject(["text": rule.row.remedy]))
                return row
            })
        var tool = JSONObject()
        tool.add("driver", driver)
        var run = JSONObject()
        run.add("tool", tool)
        run.add("results", list: report.findings.map(sarifResult))
        var document = JSONObject()
        document.add("$schema", "https://json.schemastore.org/sarif-2.1.0.json")
        document.add("version", "2.1.0")
        document.add("runs", list: [run])
        return document.text + "\n"
    }

    private static func sarifResult(_ finding: Finding) -> JSONObject {
        var result = JSONObject()
        result.add("ruleId", "\(finding.rule.rawValue)")
        let levels: [RuleLevel: String] = [.must: "error", .should: "warning", .note: "note"]
        result.add("level", levels[finding.level])
        result.add("message", JSONObject(["text": finding.message]))
        result.add("occurrenceCount", finding.count)
        result.add(
            "locations",
            list: finding.places.map { place in
                var physical = JSONObject()
                physical.add(
                    "artifactLocation",
                    JSONObject(["uri": place.line == nil ? place.uri ?? place.subject : place.subject]))
                if let line = place.line {
                    var region = JSONObject()
                    region.add("startLine", line)
                    physical.add("region", region)
                }
                var location = JSONObject()
                location.add("physicalLocation", physical)
                return location
            })
        return result
    }
}

extension JSONObject {
    /// A finding. The names of members are in alphabetical order.
    fileprivate init(_ finding: Finding) {
        self.init()
        add("cause", finding.cause)
        add("clause", finding.rule.row.clause)
        add("count", finding.count)
        add("level", finding.level.rawValue)
        add("message", finding.message)
        add("name", finding.rule.name)
        add("places", list: finding.places.map { JSONObject($0) })
        add("players", finding.rule.players)
        add("remedy", finding.rule.row.remedy)
        add("rule", finding.rule.rawValue)
        add("subjects", texts: finding.subjects)
    }

    fileprivate init(_ place: FindingPlace) {
        self.init()
        add("byte", place.byte)
        add("line", place.line)
        add("media", seconds: place.mediaTime?.inSeconds)
        add("moment", seconds: place.moment?.inSeconds)
        add("sequence", place.sequence)
        add("subject", place.subject)
        add("uri", place.uri)
    }
}
