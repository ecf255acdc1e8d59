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
    private(set) var reads = 0
    private(set) var reread = Reread.idle
    private var lastFailure: TrackerError?
    private var backoff = Backoff()
    private var earliest = Duration.zero

    init(upstream: String, choice: VariantChoice) {
        self.upstream = upstream
        self.choice = choice
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
        return take(min(current, variants.count - 1), of: playlist, base)
    }

    /// Goes on to the next redundant variant, after the last one to the first; nil when there is none.
    mutating func takeRedundantVariant() -> Addresses? {
        guard let multivariant, variants.count > 1 else { return nil }
        return take((current + 1) % variants.count, of: multivariant.playlist, multivariant.base)
    }

    private mutating func take(_ index: Int, of playlist: MultivariantPlaylist, _ base: String) -> Addresses {
        current = index
        audio = playlist.audio(of: variants[index])
        let main = URIReference.resolve(variants[index].uri, against: base)
        let companion = audio?.uri.map { URIReference.resolve($0, against: base) }
        return Addresses(main: main, audio: companion == main ? nil : companion)
    }
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
        return lastFailure != error
    }

    /// The channel lives: the next trouble is a new one.
    mutating func calm() { backoff.reset() }

    var nextDeadline: Duration? {
        if case .due(let at) = reread { at } else { nil }
    }
}
