import Playlist

/// Where the channel's playlists are, and when the multivariant playlist that says so is read again.
struct PlaylistLocator: Sendable {
    enum ReloadState: Equatable, Sendable {
        case idle
        case due(at: Duration)
        case reading(FetchID)
    }

    struct URLs: Equatable, Sendable {
        let main: String
        let audio: String?
        /// Of each of `PlaylistLocator.subtitles`; nil where the playlist read last does not list it.
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
    private let maxSubtitles: Int
    private let followsAudio: Bool
    private(set) var reads = 0
    private(set) var reloadState = ReloadState.idle
    private var lastFailure: TrackerError?
    private var backoff = Backoff()
    private var earliestReload = Duration.zero

    init(upstream: String, choice: VariantChoice, mostSubtitles: Int, followsAudio: Bool) {
        self.followsAudio = followsAudio
        self.upstream = upstream
        self.choice = choice
        self.maxSubtitles = mostSubtitles
    }

    /// nil as long as none was chosen.
    var variant: Variant? { variants.isEmpty ? nil : variants[current] }

    /// There is something to read again.
    var hasMultivariant: Bool { multivariant != nil }

    /// What EXT-X-DEFINE:IMPORT of a media playlist may name.
    var variables: [VariableDefinition] { multivariant?.playlist.variables ?? [] }

    /// Chooses from a multivariant playlist that was just read. A redundant variant in use stays in use.
    mutating func update(from playlist: MultivariantPlaylist, base: String) throws(TrackerError) -> URLs {
        reads += 1
        lastFailure = nil
        guard let chosen = choice.choose(from: playlist) else {
            throw TrackerError(.noVariant, url: upstream, section: "4.3.4.2")
        }
        multivariant = (playlist, base)
        variants = [chosen.variant] + chosen.alternates
        if reads == 1 { subtitles = Array(playlist.subtitles(of: chosen.variant).prefix(maxSubtitles)) }
        return select(min(current, variants.count - 1), of: playlist, base: base)
    }

    /// Goes on to the next redundant variant, after the last one to the first; nil when there is none.
    mutating func selectNextRedundantVariant() -> URLs? {
        guard let multivariant, variants.count > 1 else { return nil }
        return select((current + 1) % variants.count, of: multivariant.playlist, base: multivariant.base)
    }

    private mutating func select(_ index: Int, of playlist: MultivariantPlaylist, base: String) -> URLs {
        current = index
        audio = followsAudio ? playlist.audio(of: variants[index]) : nil
        let main = URIReference.resolve(variants[index].uri, against: base)
        let companion = audio?.uri.map { URIReference.resolve($0, against: base) }
        let listed = playlist.subtitles(of: variants[index])
        let captions = subtitles.map { known in
            listed.first { $0.isSame(as: known) }?.uri.map { URIReference.resolve($0, against: base) }
        }
        return URLs(main: main, audio: companion == main ? nil : companion, subtitles: captions)
    }
}

extension Rendition {
    /// Within a group a name stands once (RFC 8216 §4.3.4.1.1); the group's own name may differ between redundant
    /// variants.
    fileprivate func isSame(as other: Rendition) -> Bool { name == other.name && language == other.language }
}

// MARK: - Reading again

extension PlaylistLocator {
    /// Fresh addresses are wanted: at once, unless they were asked for a moment ago.
    mutating func requestReload(at now: Duration) {
        guard multivariant != nil, reloadState == .idle else { return }
        reloadState = .due(at: max(now, earliestReload))
    }

    mutating func startReload(as id: FetchID, at now: Duration) -> FetchRequest? {
        guard case .due(let at) = reloadState, at <= now else { return nil }
        reloadState = .reading(id)
        earliestReload = now + backoff.next()
        return FetchRequest(.multivariantPlaylist, url: upstream)
    }

    mutating func finishReload() { reloadState = .idle }

    /// Returns whether the trouble is another one than before.
    mutating func reloadFailed(_ error: TrackerError) -> Bool {
        defer { lastFailure = error }
        return !(lastFailure?.isEquivalent(to: error) ?? false)
    }

    /// The channel lives: the next trouble is a new one.
    mutating func resetBackoff() { backoff.reset() }

    var nextDeadline: Duration? {
        if case .due(let at) = reloadState { at } else { nil }
    }
}
