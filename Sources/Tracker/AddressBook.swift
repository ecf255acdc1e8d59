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
    private(set) var variant: Variant?
    private(set) var audio: Rendition?
    private(set) var reads = 0
    private(set) var reread = Reread.idle
    private var backoff = Backoff()
    private var earliest = Duration.zero

    init(upstream: String, choice: VariantChoice) {
        self.upstream = upstream
        self.choice = choice
    }

    /// Chooses from a multivariant playlist that was just read.
    mutating func read(_ playlist: MultivariantPlaylist, base: String) throws(TrackerError) -> Addresses {
        reads += 1
        guard let chosen = choice.choose(from: playlist) else { throw TrackerError(.noVariant, url: upstream) }
        multivariant = (playlist, base)
        return take(chosen.variant, chosen.audio, base)
    }

    /// Takes the next variant that differs from the one in use by its address only (RFC 8216 §4.3.4.2); nil when
    /// there is none.
    mutating func takeRedundantVariant() -> Addresses? {
        guard let multivariant, let variant else { return nil }
        let variants = multivariant.playlist.variants
        guard let current = variants.firstIndex(of: variant) else { return nil }
        let others = variants[(current + 1)...] + variants[..<current]
        guard let other = others.first(where: { $0.isRedundant(to: variant) }) else { return nil }
        let renditions = multivariant.playlist.renditions.filter { $0.type == .audio && $0.groupID == other.audio }
        let sameAudio = audio.flatMap { audio in renditions.first { $0.name == audio.name } }
        return take(other, sameAudio ?? audio, multivariant.base)
    }

    private mutating func take(_ variant: Variant, _ audio: Rendition?, _ base: String) -> Addresses {
        self.variant = variant
        self.audio = audio
        let main = URIReference.resolve(variant.uri, against: base)
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

    /// The channel lives: the next trouble is a new one.
    mutating func calm() { backoff.reset() }

    var nextDeadline: Duration? {
        if case .due(let at) = reread { at } else { nil }
    }
}

extension Variant {
    fileprivate func isRedundant(to other: Variant) -> Bool {
        uri != other.uri && bandwidth == other.bandwidth && codecs == other.codecs && resolution == other.resolution
            && frameRate == other.frameRate
    }
}
