/// The identity of an audio track of a channel. Splices change PIDs, track IDs and the order of tracks, but not the
/// identity.
package struct AudioTrackIdentity: Hashable, Sendable {
    /// audio_type of ISO_639_language_descriptor (ISO/IEC 13818-1 Table 2-60).
    package enum Kind: UInt8, Sendable {
        case main = 0
        case cleanEffects = 1
        case hearingImpaired = 2
        /// Describes the video to people who cannot see it.
        case commentary = 3
    }

    package let language: LanguageTag
    package let kind: Kind
    /// The number of tracks of the same language and kind before this one in its program.
    package let ordinal: Int

    package init(language: LanguageTag, kind: Kind = .main, ordinal: Int = 0) {
        self.language = language
        self.kind = kind
        self.ordinal = ordinal
    }

    /// `de.0.0`: language, kind and ordinal.
    package var text: String { "\(language.text).\(kind.rawValue).\(ordinal)" }

    /// nil if `text` cannot have been written by the `text` property.
    package init?(text: some StringProtocol) {
        let fields = text.split(separator: ".", omittingEmptySubsequences: false)
        guard fields.count == 3, let kind = UInt8(fields[1]).flatMap(Kind.init), let ordinal = Int(fields[2]),
            0...255 ~= ordinal, let language = LanguageTag(written: fields[0])
        else { return nil }
        self.init(language: language, kind: kind, ordinal: ordinal)
    }

    /// Whether the kinds are equal, and the languages are equal or one of them is unknown.
    package func isAlike(_ other: AudioTrackIdentity?) -> Bool {
        guard let other, kind == other.kind else { return false }
        return language == other.language || language == .unknown || other.language == .unknown
    }

    /// Returns the identities of the tracks of a program, in its order.
    package static func all(of tracks: [(language: LanguageTag, kind: Kind)]) -> [AudioTrackIdentity] {
        var counts: [AudioTrackIdentity: Int] = [:]
        return tracks.map { language, kind in
            let first = AudioTrackIdentity(language: language, kind: kind)
            defer { counts[first, default: 0] += 1 }
            return AudioTrackIdentity(language: language, kind: kind, ordinal: counts[first, default: 0])
        }
    }
}

/// The rule that chooses the audio tracks of a program that a channel publishes.
package enum AudioTrackChoice: Hashable, Sendable {
    /// The most tracks beside the leading one.
    package static let limit = 8

    case all
    case leading
    /// The tracks of these languages. The first listed language that the program contains leads.
    case languages([LanguageTag])

    /// `all`, `default`, or languages with commas between them; nil for other text.
    package init?(_ text: String) {
        switch text {
        case "all": self = .all
        case "default": self = .leading
        default:
            let words = text.split(separator: ",", omittingEmptySubsequences: false)
            let languages = words.compactMap { LanguageTag(written: $0) }
            guard languages.count == words.count, !words.isEmpty else { return nil }
            self = .languages(languages)
        }
    }

    package var text: String {
        switch self {
        case .all: "all"
        case .leading: "default"
        case .languages(let languages): languages.map(\.text).joined(separator: ",")
        }
    }

    /// Whether tracks of a language are followed beside the leading one.
    package func admits(_ language: LanguageTag) -> Bool {
        switch self {
        case .all: true
        case .leading: false
        case .languages(let languages): languages.contains(language)
        }
    }

    /// Returns the leading track: the first track with the earliest language of the list; nil if the list names no
    /// language of the tracks.
    package func leading<Track>(of tracks: [Track], language: (Track) -> LanguageTag) -> Track? {
        guard case .languages(let languages) = self else { return nil }
        return languages.compactMap { wanted in tracks.first { language($0) == wanted } }.first
    }
}
