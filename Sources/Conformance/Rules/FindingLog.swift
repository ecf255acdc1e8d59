import Support

/// The findings so far, one for each rule and cause, and the number of times that each rule was judged.
package struct FindingLog: Sendable {
    private struct Key: Hashable {
        let rule: Rule
        let cause: String
    }

    private var index: [Key: Int] = [:]
    private var findings: [Finding] = []
    /// How often a rule had its evidence; rules that are missing were not judged.
    package private(set) var judged: [Rule: Int] = [:]
    /// Why rules were not judged, where there is a reason beyond missing evidence.
    package private(set) var obstacles: [Rule: String] = [:]
    /// Rules that are not judged at all.
    private let excluded: Set<Rule>

    package init(excluded: Set<Rule> = []) { self.excluded = excluded }

    package mutating func recordJudgement(_ rule: Rule, count: Int = 1) {
        guard !excluded.contains(rule) else { return }
        judged[rule, default: 0] += count
    }

    package mutating func recordObstacle(_ rule: Rule, _ reason: String) { obstacles[rule] = obstacles[rule] ?? reason }

    package mutating func add(
        _ rule: Rule, _ cause: String, level: RuleLevel? = nil, of subject: String, at place: FindingPlace,
        _ message: @autoclosure () -> String
    ) {
        guard !excluded.contains(rule) else { return }
        if judged[rule] == nil { judged[rule] = 1 }
        var place = place
        place.uri = place.uri.map { URIReference.redacted($0) }
        place.subject = URIReference.redacted(subject)
        let key = Key(rule: rule, cause: cause)
        if let known = index[key] {
            findings[known].append(place)
            return
        }
        index[key] = findings.count
        findings.append(
            Finding(
                rule: rule, level: level ?? rule.level, cause: cause, message: message(), subjects: [place.subject],
                places: [place]))
    }

    /// Takes back one occurrence that another finding explains.
    mutating func withdraw(_ rule: Rule, of subject: String, sequence: UInt64) {
        let subject = URIReference.redacted(subject)
        for position in findings.indices where findings[position].rule == rule {
            let places = findings[position].places
            guard let place = places.firstIndex(where: { $0.sequence == sequence && $0.subject == subject }) else {
                continue
            }
            findings[position].places.remove(at: place)
            findings[position].count -= 1
        }
    }

    package func isExcluded(_ rule: Rule) -> Bool { excluded.contains(rule) }

    /// In the order of rules; of one rule, in the order in which they were found.
    package var sorted: [Finding] {
        findings.enumerated().filter { $0.element.count > 0 }.sorted {
            ($0.element.rule, $0.offset) < ($1.element.rule, $1.offset)
        }.map(\.element)
    }
}

extension Finding {
    fileprivate mutating func append(_ place: FindingPlace) {
        count += 1
        if places.count < Self.mostPlaces { places.append(place) }
        if !subjects.contains(place.subject), subjects.count < Self.mostPlaces { subjects.append(place.subject) }
    }
}
