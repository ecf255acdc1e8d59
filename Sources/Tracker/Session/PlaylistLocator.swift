import Fetch
package import Media
package import Playlist
import Support

/// The URLs of the channel's playlists, and the state of the multivariant playlist that names them.
struct PlaylistLocator: Sendable {
    enum ReloadState: Equatable, Sendable {
        case idle
        case due(at: Duration)
        case loading(FetchID)
    }

    struct URLs: Equatable, Sendable {
        let main: String
        let audio: String?
        /// One element for each of `PlaylistLocator.furtherAudio`, as for the subtitles.
        var furtherAudio: [String?] = []
        /// One element for each of `PlaylistLocator.furtherVideo`.
        var furtherVideo: [String?] = []
        /// One element for each of `PlaylistLocator.subtitles`; nil if the playlist loaded last does not list it.
        let subtitles: [String?]

        /// The URL for a role; nil if the playlist loaded last has none.
        subscript(role: RenditionRole) -> String? {
            switch role {
            case .main: main
            case .audio: audio
            case .furtherAudio(let index): furtherAudio.indices.contains(index) ? furtherAudio[index] : nil
            case .furtherVideo(let index): furtherVideo.indices.contains(index) ? furtherVideo[index] : nil
            case .subtitles(let index): subtitles.indices.contains(index) ? subtitles[index] : nil
            }
        }
    }

    let upstream: String
    /// The URL of the multivariant playlist in use: the upstream, or one that the upstream's multivariant playlist names in
    /// place of a media playlist.
    private(set) var master: String
    /// How many multivariant playlists led to the one in use.
    private var nesting = 0
    private static let deepestNesting = 2
    private let policy: UpstreamSession.Policy
    /// nil: the upstream is a media playlist, or was not loaded yet.
    private var multivariant: (playlist: MultivariantPlaylist, base: String)?
    /// The multivariant playlist with all of its variants; nil likewise.
    private var listed: MultivariantPlaylist?
    /// The chosen variant, then those redundant to it (RFC 8216 §6.2.4).
    private var variants: [Variant] = []
    /// Index in `variants` of the one in use.
    private var current = 0
    private(set) var audio: Rendition?
    /// Whether the playlist of the audio rendition cannot be had, so that the audio in the variant's segments takes its place.
    private var isAudioDead = false
    /// The audio renditions that are followed beside `audio`: those of the first playlist.
    private(set) var furtherAudio: [Rendition] = []
    /// How many more the first playlist had than may be followed.
    private(set) var omittedAudioCount = 0
    /// The variants that are followed beside the leading one: those of the first playlist. A later one has others in their
    /// places, the nearest ones.
    private(set) var furtherVideo: [Variant] = []
    /// Variants beyond `VideoTrackIdentity.limit`.
    private(set) var droppedVariants = 0
    /// The URLs in use; nil before a variant was chosen.
    private(set) var urls: URLs?
    /// The audio of the variant, with a URI or in its own segments; nil if the playlist does not name it.
    var leadingAudio: Rendition? { audio ?? variant.flatMap { multivariant?.playlist.multiplexedAudio(of: $0) } }
    /// The subtitle renditions that are followed: those of the first playlist, since a later one may not renumber them.
    private(set) var subtitles: [Rendition] = []
    /// The closed captions that are declared for the variant in use.
    var captions: [Rendition] {
        guard let variant, let multivariant else { return [] }
        return multivariant.playlist.closedCaptions(of: variant)
    }
    /// Whether another variant can be followed if the video of the one in use is foreign.
    private(set) var hasAlternative = false
    /// Whether media of the variant in use was published, so that its video is not foreign.
    private var isConfirmed = false
    private(set) var loadCount = 0
    private(set) var reloadState = ReloadState.idle
    private var failures = FailureReport()
    private var backoff = Backoff()
    private var earliestReload = Duration.zero
    private static let searchPause = Duration.seconds(60)
    /// When a reload may be requested that is not urgent.
    private var nextSearch = Duration.zero

    init(upstream: String, _ policy: UpstreamSession.Policy) {
        (self.upstream, master, self.policy) = (upstream, upstream, policy)
    }

    var variant: Variant? { variants.isEmpty ? nil : variants[current] }

    /// The events that say what is followed.
    var selection: [UpstreamEvent] {
        guard let variant else { return [] }
        var events: [UpstreamEvent] = []
        if !furtherAudio.isEmpty {
            events.append(.audioTracksSelected(furtherAudio, leading: leadingAudio, omitted: omittedAudioCount))
        }
        if !furtherVideo.isEmpty { events.append(.variantsSelected(furtherVideo, dropped: droppedVariants)) }
        return events + [.variantSelected(variant: variant, audio: audio, subtitles: subtitles, captions: captions)]
    }

    var hasMultivariant: Bool { multivariant != nil }

    /// The renditions that are followed beside the leading one.
    var tracks: ChosenTracks {
        ChosenTracks(
            audio: furtherAudio, omittedAudioCount: omittedAudioCount, video: furtherVideo,
            droppedVariants: droppedVariants, subtitles: subtitles)
    }

    /// Whether the playlist lists a variant that is equivalent to none of `excluded`.
    func hasVariant(otherThan excluded: [Variant]) -> Bool { listed?.hasVariant(otherThan: excluded) ?? false }

    /// The number of other URLs of the variant.
    var redundantVariantCount: Int { max(0, variants.count - 1) }

    /// The variables that EXT-X-DEFINE:IMPORT of a media playlist may name.
    var variables: [VariableDefinition] { multivariant?.playlist.variables ?? [] }

    /// Chooses from a multivariant playlist that was just loaded. A redundant variant in use stays in use.
    mutating func update(from listed: MultivariantPlaylist, base: String) throws(TrackerError) -> URLs {
        loadCount += 1
        failures.clear()
        let playlist = listed.excluding(policy.refusedVariants)
        let chosen = policy.ladder.leading(policy.variant, of: playlist)
        guard let variant = chosen.first else {
            throw TrackerError(.noVariant, url: master, section: "4.3.4.2")
        }
        (multivariant, self.listed) = ((playlist, base), listed)
        if let known = variants.first, known.bandwidth != variant.bandwidth { isConfirmed = false }
        variants = chosen
        hasAlternative = !isConfirmed && listed.hasVariant(otherThan: policy.refusedVariants + [variant])
        if loadCount == 1, let known = policy.tracks {
            (furtherAudio, omittedAudioCount) = (known.audio, known.omittedAudioCount)
            (furtherVideo, droppedVariants, subtitles) = (known.video, known.droppedVariants, known.subtitles)
        } else if loadCount == 1 {
            subtitles = Array(playlist.subtitles(of: variant).prefix(policy.maxSubtitles))
            let further = furtherAudio(of: variant, in: playlist)
            furtherAudio = Array(further.prefix(AudioTrackChoice.limit))
            omittedAudioCount = further.count - furtherAudio.count
            let others = policy.ladder.further(than: chosen, in: playlist)
            furtherVideo = Array(others.prefix(VideoTrackIdentity.limit))
            droppedVariants = others.count - furtherVideo.count
        }
        return select(min(current, variants.count - 1), of: playlist, base: base)
    }

    /// Follows the audio in the variant's own segments in place of a rendition of which no playlist can be had.
    mutating func abandonAudio() {
        isAudioDead = true
        audio?.uri = nil
    }

    /// Chooses from a multivariant playlist that the one in use named as a media playlist.
    /// - Parameter url: its URL.
    /// - Throws: `unexpectedPlaylistKind` if it is too deep, as where two of them name each other.
    mutating func descend(
        into playlist: MultivariantPlaylist, at url: String, base: String
    ) throws(TrackerError) -> URLs {
        guard nesting < Self.deepestNesting else { throw TrackerError(.unexpectedPlaylistKind, url: url) }
        (nesting, master, loadCount, current, variants) = (nesting + 1, url, 0, 0, [])
        return try update(from: playlist, base: base)
    }

    /// Records that media of the variant in use was published.
    mutating func confirmVariant() { (isConfirmed, hasAlternative) = (true, false) }

    /// Selects the next redundant variant, and the first one after the last. Returns nil if there is only one.
    mutating func selectNextRedundantVariant() -> URLs? {
        guard let multivariant, variants.count > 1 else { return nil }
        return select((current + 1) % variants.count, of: multivariant.playlist, base: multivariant.base)
    }

    private mutating func select(_ index: Int, of playlist: MultivariantPlaylist, base: String) -> URLs {
        current = index
        audio = policy.followsAudio ? companion(of: variants[index], in: playlist) : nil
        let main = URIReference.resolve(variants[index].uri, against: base)
        // A rendition at the variant's own URL is the audio in its segments.
        if let uri = audio?.uri, isAudioDead || URIReference.resolve(uri, against: base) == main { audio?.uri = nil }
        let companion = audio?.uri.map { URIReference.resolve($0, against: base) }
        let find = { (known: [Rendition], listed: [Rendition]) in
            known.map { rendition in
                rendition.match(in: listed, of: known)?.uri.map { URIReference.resolve($0, against: base) }
            }
        }
        let urls = URLs(
            main: main, audio: companion,
            furtherAudio: find(furtherAudio, playlist.audioRenditions(of: variants[index])),
            furtherVideo: furtherURLs(in: playlist, base: base),
            subtitles: find(subtitles, playlist.subtitles(of: variants[index])))
        self.urls = urls
        return urls
    }

    /// The URLs of the variants of a playlist that are nearest to those of the first one.
    private func furtherURLs(in playlist: MultivariantPlaylist, base: String) -> [String?] {
        let listed = policy.ladder.further(than: variants, in: playlist)
        let nearest = VideoTrackIdentity.nearest(
            to: furtherVideo.map(\.trackIdentity), among: listed.map(\.trackIdentity))
        return nearest.map { $0.map { URIReference.resolve(listed[$0].uri, against: base) } }
    }

    /// The audio rendition of a variant that leads: the language that is asked for, else the default.
    private func companion(of variant: Variant, in playlist: MultivariantPlaylist) -> Rendition? {
        let wanted = policy.audioTracks.leading(of: playlist.audioRenditions(of: variant), language: \.languageTag)
        guard let wanted else { return playlist.audio(of: variant) }
        return wanted.uri == nil ? nil : wanted
    }

    private func furtherAudio(of variant: Variant, in playlist: MultivariantPlaylist) -> [Rendition] {
        guard policy.followsAudio else { return [] }
        var uris = Set([variant.uri, companion(of: variant, in: playlist)?.uri].compactMap(\.self))
        return playlist.audioRenditions(of: variant).filter { rendition in
            guard let uri = rendition.uri, policy.audioTracks.admits(rendition.languageTag) else { return false }
            return uris.insert(uri).inserted
        }
    }
}

/// The renditions that a session follows beside the leading one, by the indices of their roles.
struct ChosenTracks: Equatable, Sendable {
    var audio: [Rendition] = []
    var omittedAudioCount = 0
    var video: [Variant] = []
    var droppedVariants = 0
    var subtitles: [Rendition] = []
}

extension Variant {
    /// The place in the ladder of a channel that the variant fills.
    package var trackIdentity: VideoTrackIdentity {
        VideoTrackIdentity(height: resolution?.height ?? 0, bandwidth: bandwidth)
    }
}

extension Rendition {
    /// The language; unknown if the playlist does not name one.
    package var languageTag: LanguageTag { language.flatMap { LanguageTag($0) } ?? .unknown }

    /// Whether the renditions have the same name and language.
    ///
    /// Names are unique within a group (RFC 8216 §4.3.4.1.1). The group's name may differ between redundant variants.
    private func isSame(as other: Rendition) -> Bool { name == other.name && language == other.language }

    /// Finds the rendition in a later playlist: under its name, else the only one that may be the same under another.
    fileprivate func match(in listed: [Rendition], of known: [Rendition]) -> Rendition? {
        if let same = listed.first(where: { $0.isSame(as: self) }) { return same }
        let isNew = { (rendition: Rendition) in !known.contains { $0.isSame(as: rendition) } }
        let renamed = listed.filter { isNew($0) && $0.isLike(self) }
        let missing = known.filter { old in !listed.contains { $0.isSame(as: old) } && old.isLike(self) }
        return renamed.count == 1 && missing.count == 1 ? renamed[0] : nil
    }

    private func isLike(_ other: Rendition) -> Bool {
        languageTag == other.languageTag
            && ["CHARACTERISTICS", "FORCED"].allSatisfy { attributes[$0] == other.attributes[$0] }
    }
}

// MARK: - Reload of the multivariant playlist

extension PlaylistLocator {
    /// Requests fresh URLs: at once, unless they were requested a moment ago.
    /// - Parameter isUrgent: false for the failure of a rendition that the channel can do without, which lasts: it may come
    ///   back under another name, and is looked for each minute.
    mutating func requestReload(isUrgent: Bool = true, at now: Duration) {
        guard multivariant != nil, reloadState == .idle, isUrgent || now >= nextSearch else { return }
        nextSearch = now + Self.searchPause
        reloadState = .due(at: max(now, earliestReload))
    }

    mutating func startReload(as id: FetchID, at now: Duration) -> FetchRequest? {
        guard case .due(let at) = reloadState, at <= now else { return nil }
        reloadState = .loading(id)
        earliestReload = now + backoff.next()
        return FetchRequest(.multivariantPlaylist, url: master)
    }

    mutating func finishReload() { reloadState = .idle }

    mutating func reloadFailed(_ error: TrackerError) -> Bool { failures.record(error) }

    /// Shortens the pause before the next reload, because the channel is healthy.
    mutating func resetBackoff() { backoff.reset() }

    var nextDeadline: Duration? {
        if case .due(let at) = reloadState { at } else { nil }
    }
}
