import Channel
import Dispatch
import Export
import HTTP
import LiveRing
import Playlist
import Support
import Synchronization

/// The playlists of a channel, rendered from the newest version of its ring.
///
/// Concurrent requests for one playlist wait for one rendering. Renderings run one after the other on a thread of their
/// own, ranges and other playlists on one thread each.
final class PlaylistCache: Sendable {
    /// The most pending renderings of ranges of one client.
    static let rangesPerClient = 8
    /// The most pending renderings of ranges.
    static let rangeLimit = 64
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
        /// The number of pending renderings of ranges, by client.
        var pending: [String: Int] = [:]
        var pendingCount = 0
    }

    /// Too many renderings of ranges are pending, for the client or for all clients together.
    struct Refusal: Error {}

    /// The threads of all channels.
    static let ranges = DispatchQueue(label: "liverelay.ranges")
    /// For reading the indexes of segments, which takes longer than rendering a range.
    static let clips = DispatchQueue(label: "liverelay.clips")
    private static let playlists = DispatchQueue(label: "liverelay.playlists")

    private let state = Mutex(State())
    private let rangeQueue: DispatchQueue

    init(ranges: DispatchQueue = PlaylistCache.ranges) { rangeQueue = ranges }

    var pendingRanges: Int { state.withLock { $0.pendingCount } }

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
    ) async throws(Refusal) -> Rendered? {
        guard let task = state.withLock({ task(for: key, of: publication, client, &$0) }) else { throw Refusal() }
        let rendered = await task.value
        if compressed, let rendered, !rendered.gzip.isFinished {
            await Self.perform(on: queue(of: key.resource)) { _ = rendered.gzip.member }
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
        guard !key.resource.isRange || state.begin(client) else { return nil }
        let task = Task { [self] in
            let rendered = await Self.perform(on: queue(of: key.resource)) { self.render(key, of: publication) }
            self.state.withLock { $0.finish(key, rendered, of: publication, client) }
            return rendered
        }
        if state.isAt(publication) { state.entries[key] = .pending(task) }
        return task
    }

    private func queue(of resource: Route.Playlist) -> DispatchQueue {
        resource.isRange ? rangeQueue : Self.playlists
    }

    /// Performs the work within the limits of ranges.
    func perform<Result: Sendable>(
        for client: String?, _ work: @escaping @Sendable () -> Result
    ) async throws(Refusal) -> Result {
        guard state.withLock({ $0.begin(client) }) else { throw Refusal() }
        let result = await Self.perform(on: rangeQueue, work)
        state.withLock { $0.end(client) }
        return result
    }

    /// Performs work that reads files of a ring within the limits of ranges. No thread waits for remote files.
    func perform<Result: Sendable>(
        for client: String?, on queue: DispatchQueue, reading snapshot: RingSnapshot,
        _ work: @escaping @Sendable (RingSnapshot) -> Result
    ) async throws(Refusal) -> Result {
        guard state.withLock({ $0.begin(client) }) else { throw Refusal() }
        let result = await snapshot.reading {
            await Self.perform(on: queue, $0)
        } _: {
            work($0)
        }
        state.withLock { $0.end(client) }
        return result
    }

    private static func perform<Result: Sendable>(
        on queue: DispatchQueue, _ work: @escaping @Sendable () -> Result
    ) async -> Result {
        await withCheckedContinuation { continuation in queue.async { continuation.resume(returning: work()) } }
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

    /// Records that rendering a range for a client begins.
    /// - Returns: false if the limits do not permit it.
    fileprivate mutating func begin(_ client: String?) -> Bool {
        guard pendingCount < PlaylistCache.rangeLimit else { return false }
        if let client {
            guard pending[client, default: 0] < PlaylistCache.rangesPerClient else { return false }
            pending[client, default: 0] += 1
        }
        pendingCount += 1
        return true
    }

    fileprivate mutating func end(_ client: String?) {
        pendingCount -= 1
        if let client { pending[client] = pending[client].flatMap { $0 > 1 ? $0 - 1 : nil } }
    }

    fileprivate mutating func finish(
        _ key: PlaylistCache.Key, _ rendered: PlaylistCache.Rendered?, of publication: PlaylistCache.Publication,
        _ client: String?
    ) {
        if key.resource.isRange { end(client) }
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
