/// How binding a rule is.
package enum RuleLevel: String, CaseIterable, Comparable, Sendable {
    /// The standard forbids the opposite.
    case must
    /// The standard or the HLS Authoring Specification recommends it.
    case should
    /// No standard asks for it, but players or people notice.
    case note

    private var rank: Int {
        switch self {
        case .note: 0
        case .should: 1
        case .must: 2
        }
    }

    package static func < (left: RuleLevel, right: RuleLevel) -> Bool { left.rank < right.rank }

    /// As written in documents: MUST, SHOULD, note.
    package var label: String { self == .note ? rawValue : rawValue.uppercased() }
}

/// The evidence that a rule needs.
package enum RuleEvidence: String, CaseIterable, Sendable {
    /// The text of one playlist.
    case text
    /// Two versions of a live playlist.
    case time
    case media
    /// Two renditions or a multivariant playlist.
    case renditions
    case http

    /// Why a rule was not judged.
    package var absence: String {
        switch self {
        case .text: "no playlist has a tag that the rule is about"
        case .time: "no versions of a live playlist gave evidence"
        case .media: "no media that the rule is about was read"
        case .renditions: "nothing to compare: no second rendition, no declaration, or no common time"
        case .http: "no answer over HTTP that the rule is about"
        }
    }
}
