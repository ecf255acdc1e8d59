import Channel
import Export
import HTTP
import LiveRing
import Playlist
import Support
import Synchronization

/// The playlists of a channel, rendered from the newest version of its ring.
///
/// Concurrent requests for one playlist wait for one rendering. Ranges and other playlists have a pool each.
final class PlaylistCache: Sendable {
    /// The most uncompressed bytes that are cached of one version.
    static let byteLimit = 32 << 20

    typealias Publication = ChannelState.Publication

    struct Rendered: Equatable, Sendable {
        let bytes: [UInt8]
        let gzip: LazyGzip

        init(_ bytes: [UInt8]) { (self.bytes, gzip) = (bytes, LazyGzip(bytes)) }
    }

    /// A playlist and the query of its URIs. A playlist that contains one viewer's token reaches no other viewer.
    struct Key: Hashable, Sendable {
        var resource: Route.Playlist
        var form = PlaylistForm.whole
        /// As in `RequestTarget`.
        var folder = ""
        /// As in `Viewer`.
        var query: Secret?
        var ads = AdView.keep

        /// Whether the playlist stays cached when others must be removed; only few playlists do.
        fileprivate var isKept: Bool { !resource.isRange && isPlain }

        /// Whether the playlist's URIs are the ring's, unchanged.
        fileprivate var isPlain: Bool { query == nil && folder.isEmpty }
    }

    fileprivate enum Entry: Sendable {
        case pending(Task<Rendered?, Never>)
        case finished(Rendered)
    }

    fileprivate struct State: Sendable {
        var ring = 0
        var version: UInt64 = 0
        var entries: [Key: Entry] = [:]
        var byteCount = 0
    }

    static let ranges = MediaPool("ranges", MediaPool.Limits(pending: 64, ofClient: 8))
    private static let playlists = MediaPool("playlists")

    private let state = Mutex(State())
    private let ranges: MediaPool

    init(ranges: MediaPool = PlaylistCache.ranges) { self.ranges = ranges }

    /// The playlist if it was rendered at this version.
    func rendered(_ key: Key, of publication: Publication) -> Rendered? {
        state.withLock { state in
            guard state.isAt(publication), case .finished(let rendered) = state.entries[key] else { return nil }
            return rendered
        }
    }

    /// Renders the playlist on the calling thread, and caches it unless it is a range; nil if it lists no segment.
    func playlist(_ key: Key, of publication: Publication) -> Rendered? {
        let rendered = render(key, of: publication)
        if let rendered, !key.resource.isRange {
            state.withLock { $0.insert(rendered, as: key, of: publication) }
        }
        return rendered
    }

    private func render(_ key: Key, of publication: Publication) -> Rendered? {
        let plain =
            key.isPlain ? nil : rendered(Key(resource: key.resource, form: key.form, ads: key.ads), of: publication)
        let bytes = plain?.bytes ?? key.resource.render(publication.snapshot, as: key.form, ads: key.ads)
        guard let bytes else { return nil }
        if key.isPlain { return Rendered(bytes) }
        return Rendered(PlaylistWriter.adding(folder: key.folder, query: key.query?.value, toURIsOf: bytes))
    }

    /// Returns the playlist once it is rendered, and compressed if asked for; nil if it lists no segment.
    /// - Parameter client: the address of the client; nil: it has no limit of its own.
    func playlist(
        _ key: Key, of publication: Publication, compressed: Bool, client: String?
    ) async throws(MediaPool.Busy) -> Rendered? {
        guard let task = state.withLock({ task(for: key, of: publication, client, &$0) }) else {
            throw MediaPool.Busy()
        }
        let rendered = await task.value
        if compressed, let rendered, !rendered.gzip.isFinished {
            await pool(of: key).perform { _ = rendered.gzip.member }
        }
        return rendered
    }

    /// The task that renders the playlist; nil if too many renderings are pending.
    private func task(
        for key: Key, of publication: Publication, _ client: String?, _ state: inout State
    ) -> Task<Rendered?, Never>? {
        state.move(to: publication)
        switch state.entries[key] {
        case .finished(let rendered)? where state.isAt(publication): return Task { rendered }
        case .pending(let task)? where state.isAt(publication): return task
        case .finished?, .pending?, nil: break
        }
        let pool = pool(of: key)
        guard pool.begin(for: client) else { return nil }
        let task = Task { [self] in
            let rendered = await pool.perform { self.render(key, of: publication) }
            pool.end(for: client)
            self.state.withLock { $0.finish(key, rendered, of: publication) }
            return rendered
        }
        if state.isAt(publication) { state.entries[key] = .pending(task) }
        return task
    }

    private func pool(of key: Key) -> MediaPool { key.resource.isRange ? ranges : Self.playlists }

    /// Performs the work within the limits of ranges.
    func perform<Result: Sendable>(
        for client: String?, _ work: @escaping @Sendable () -> Result
    ) async throws(MediaPool.Busy) -> Result {
        try await ranges.admit(client) { await ranges.perform(work) }
    }
}

extension PlaylistCache.State {
    fileprivate func isAt(_ publication: PlaylistCache.Publication) -> Bool {
        ring == publication.ring && version == publication.snapshot.version
    }

    /// Removes playlists older than `publication`. A request that began earlier may have an older publication.
    fileprivate mutating func move(to publication: PlaylistCache.Publication) {
        guard (ring, version) < (publication.ring, publication.snapshot.version) else { return }
        (ring, version) = (publication.ring, publication.snapshot.version)
        entries = [:]
        byteCount = 0
    }

    fileprivate mutating func insert(
        _ rendered: PlaylistCache.Rendered, as key: PlaylistCache.Key, of publication: PlaylistCache.Publication
    ) {
        move(to: publication)
        guard isAt(publication) else { return }
        if byteCount + rendered.bytes.count > PlaylistCache.byteLimit {
            entries = entries.filter { if case .pending = $0.value { true } else { $0.key.isKept } }
            byteCount = 0
        }
        byteCount += rendered.bytes.count
        entries[key] = .finished(rendered)
    }

    fileprivate mutating func finish(
        _ key: PlaylistCache.Key, _ rendered: PlaylistCache.Rendered?, of publication: PlaylistCache.Publication
    ) {
        if isAt(publication) { entries[key] = nil }
        if let rendered { insert(rendered, as: key, of: publication) }
    }
}

// MARK: - Playlists

extension Route.Playlist {
    /// Whether the playlist is of a part of the rewind, so that clients may request any number of different ones.
    var isRange: Bool {
        switch self {
        case .live, .rewind(_, .whole), .master(_, nil), .master(_, .whole): false
        case .rewind, .selection, .master: true
        }
    }

    /// The most segments that are examined to render the playlist.
    func segmentCount(in snapshot: RingSnapshot) -> Int {
        switch self {
        case .live: snapshot.liveSegmentCount
        case .rewind, .selection: snapshot.index.listed.count
        case .master: 0
        }
    }

    /// The playlist in UTF-8; nil if it lists no segment.
    func render(_ snapshot: RingSnapshot, as form: PlaylistForm, ads: AdView) -> [UInt8]? {
        switch self {
        case .live(let content): snapshot.livePlaylist(of: content, as: form, ads: ads)
        case .rewind(let content, let range): snapshot.dvrPlaylist(range, of: content, as: form, ads: ads)
        case .selection(let content, let selection):
            snapshot.dvrPlaylist(selection, of: content, as: form, ads: ads)
        case .master(.transportStream, let range):
            snapshot.transportStreamMasterPlaylist(range, format: SegmentFormat.init(transportStreamOf:parameters:))
        case .master(_, let range):
            snapshot.masterPlaylist(range, audio: snapshot.audioRenditions, listsIFrames: true)
        }
    }

    /// The number of the variant beside the leading one whose playlist this is; nil for any other playlist.
    var furtherVariant: Int? {
        switch self {
        case .live(.video(let number)), .rewind(.video(let number), _), .selection(.video(let number), _):
            number > 0 ? number : nil
        case .live, .rewind, .selection, .master: nil
        }
    }

    /// The content whose newest segment a player may wait for in this playlist; nil if it may not wait.
    var awaitedContent: PlaylistContent? {
        switch self {
        case .live(let content), .rewind(let content, .whole), .rewind(let content, .last),
            .rewind(let content, .between(_, end: nil)):
            content
        case .rewind, .selection, .master: nil
        }
    }

    /// The same playlist with its range rounded to segments, so that requests for other moments in the same segments
    /// get the same answer.
    func rounded(in snapshot: RingSnapshot) -> Route.Playlist {
        guard case .rewind(let content, let range) = self else { return self }
        return snapshot.selection(of: range).map { .selection(content, $0) } ?? self
    }
}
