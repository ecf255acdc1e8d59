import Playlist

/// Where the channel's playlists are, and when the multivariant playlist that says so is read again.
struct AddressBook: Sendable {
    enum Reread: Equatable, Sendable {
        case idle
        case due(at: Duration)
        case reading(FetchID)
    }

    struct Addresses: Equatable, Sendable {
        let main: String
        let audio: String?
        /// Of each of `AddressBook.subtitles`; nil where the playlist read last does not list it.
        let subtitles: [String?]

        /// nil where the playlist read last has none.
        subscript(role: RenditionRole) -> String? {
            switch role {
            case .main: main
            case .audio: audio
            case .subtitles(let index): subtitles.indices.contains(index) ? subtitles[index] : nil
            }
        }
    }

    let upstream: String
    private let choice: VariantChoice
    /// nil: the upstream is a media playlist, or was not read yet.
    private var multivariant: (playlist: MultivariantPlaylist, base: String)?
    /// The variant chosen, then those redundant to it (RFC 8216 §6.2.4).
    private var variants: [Variant] = []
    /// Index in `variants` of the one in use.
    private var current = 0
    private(set) var audio: Rendition?
    /// The subtitle renditions that are followed: what the first playlist had, since a later one may not renumber them.
    private(set) var subtitles: [Rendition] = []
    private let mostSubtitles: Int
    private let followsAudio: Bool
    private(set) var reads = 0
    private(set) var reread = Reread.idle
    private var lastFailure: TrackerError?
    private var backoff = Backoff()
    private var earliest = Duration.zero

    init(upstream: String, choice: VariantChoice, mostSubtitles: Int, followsAudio: Bool) {
        self.followsAudio = followsAudio
        self.upstream = upstream
        self.choice = choice
        self.mostSubtitles = mostSubtitles
    }

    /// nil as long as none was chosen.
    var variant: Variant? { variants.isEmpty ? nil : variants[current] }

    /// There is something to read again.
    var hasMultivariant: Bool { multivariant != nil }

    /// What EXT-X-DEFINE:IMPORT of a media playlist may name.
    var variables: [VariableDefinition] { multivariant?.playlist.variables ?? [] }

    /// Chooses from a multivariant playlist that was just read. A redundant variant in use stays in use.
    mutating func read(_ playlist: MultivariantPlaylist, base: String) throws(TrackerError) -> Addresses {
        reads += 1
        lastFailure = nil
        guard let chosen = choice.choose(from: playlist) else {
            throw TrackerError(.noVariant, url: upstream, section: "4.3.4.2")
        }
        multivariant = (playlist, base)
        variants = [chosen.variant] + chosen.alternates
        if reads == 1 { subtitles = Array(playlist.subtitles(of: chosen.variant).prefix(mostSubtitles)) }
        return take(min(current, variants.count - 1), of: playlist, base)
    }

    /// Goes on to the next redundant variant, after the last one to the first; nil when there is none.
    mutating func takeRedundantVariant() -> Addresses? {
        guard let multivariant, variants.count > 1 else { return nil }
        return take((current + 1) % variants.count, of: multivariant.playlist, multivariant.base)
    }

    private mutating func take(_ index: Int, of playlist: MultivariantPlaylist, _ base: String) -> Addresses {
        current = index
        audio = followsAudio ? playlist.audio(of: variants[index]) : nil
        let main = URIReference.resolve(variants[index].uri, against: base)
        let companion = audio?.uri.map { URIReference.resolve($0, against: base) }
        let listed = playlist.subtitles(of: variants[index])
        let captions = subtitles.map { known in
            listed.first { $0.isSame(as: known) }?.uri.map { URIReference.resolve($0, against: base) }
        }
        return Addresses(main: main, audio: companion == main ? nil : companion, subtitles: captions)
    }
}

extension Rendition {
    /// Within a group a name stands once (RFC 8216 §4.3.4.1.1); the group's own name may differ between redundant
    /// variants.
    fileprivate func isSame(as other: Rendition) -> Bool { name == other.name && language == other.language }
}

// MARK: - Reading again

extension AddressBook {
    /// Fresh addresses are wanted: at once, unless they were asked for a moment ago.
    mutating func wantReread(at now: Duration) {
        guard multivariant != nil, reread == .idle else { return }
        reread = .due(at: max(now, earliest))
    }

    mutating func startReread(as id: FetchID, at now: Duration) -> FetchRequest? {
        guard case .due(let at) = reread, at <= now else { return nil }
        reread = .reading(id)
        earliest = now + backoff.next()
        return FetchRequest(.multivariantPlaylist, url: upstream)
    }

    mutating func endReread() { reread = .idle }

    /// Returns whether the trouble is another one than before.
    mutating func rereadFailed(_ error: TrackerError) -> Bool {
        defer { lastFailure = error }
        return !(lastFailure?.isSameTrouble(as: error) ?? false)
    }

    /// The channel lives: the next trouble is a new one.
    mutating func calm() { backoff.reset() }

    var nextDeadline: Duration? {
        if case .due(let at) = reread { at } else { nil }
    }
}
