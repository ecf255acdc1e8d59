/// A breach of a rule, with all of its occurrences that have one cause.
package struct Finding: Equatable, Sendable {
    package let rule: Rule
    package let level: RuleLevel
    /// The part of the rule that is broken, in a word that stays: `bom`, `clock`.
    package let cause: String
    /// The observation at the first place.
    package let message: String
    /// The playlists or other resources that the finding is about; without secrets. The first ones.
    package internal(set) var subjects: [String]
    package internal(set) var count = 1
    /// The first occurrences.
    package internal(set) var places: [FindingPlace]

    package static let mostPlaces = 8

    /// The word by which a finding can be found again: `26/clock`.
    package var identifier: String { "\(rule.rawValue)/\(cause)" }
}

/// Where something was found. Unknown parts are nil.
package struct FindingPlace: Equatable, Sendable {
    /// Without secrets.
    package var uri: String?
    /// The playlist or other resource; without secrets.
    package internal(set) var subject = ""
    package var sequence: UInt64?
    /// 1-based line of the playlist.
    package var line: Int?
    /// Byte offset in the resource.
    package var byte: Int?
    /// Time since the check began.
    package var moment: Duration?
    /// Media time in seconds, as the timestamps say.
    package var mediaTime: Duration?

    package init(
        uri: String? = nil, sequence: UInt64? = nil, line: Int? = nil, byte: Int? = nil, moment: Duration? = nil,
        mediaTime: Duration? = nil
    ) {
        self.uri = uri
        self.sequence = sequence
        self.line = line
        self.byte = byte
        self.moment = moment
        self.mediaTime = mediaTime
    }
}
