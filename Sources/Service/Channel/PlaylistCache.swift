import Channel
import Dispatch
import LiveRing
import Playlist
import Support
import Synchronization
import WebServer

/// The playlists of a channel that were rendered at the newest version of its ring.
///
/// Concurrent requests for one playlist wait for one rendering. Renderings run one after the other on a thread of their
/// own, ranges and other playlists on one thread each.
final class PlaylistCache: Sendable {
    /// Renderings of ranges of one client that may be pending at once.
    static let rangesPerClient = 8
    /// Renderings of ranges that may be pending at once.
    static let rangeLimit = 64
    /// The uncompressed bytes that are kept of one version.
    static let byteLimit = 32 << 20

    typealias Publication = ChannelState.Publication

    struct Rendered: Equatable, Sendable {
        let bytes: [UInt8]
        let gzip: LazyGzip

        init(_ bytes: [UInt8]) { (self.bytes, gzip) = (bytes, LazyGzip(bytes)) }
    }

    /// A playlist, and what its URIs carry: what one viewer's token is in reaches no other viewer.
    struct Key: Hashable, Sendable {
        var resource: Route.Playlist
        var form = PlaylistForm.whole
        /// As in `RequestTarget`.
        var folder = ""
        /// As in `Viewer`.
        var query: Secret?
        var ads = AdView.keep

        /// Whether the playlist stays if others have to go: of such there are few.
        fileprivate var isKept: Bool { !resource.isRange && isPlain }

        /// Whether its URIs are written as the ring has them.
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
        /// Pending renderings of ranges by client.
        var pending: [String: Int] = [:]
        var pendingCount = 0
    }

    /// A client has too many renderings of ranges pending, or all clients together have.
    struct Refusal: Error {}

    /// The threads of all channels.
    static let ranges = DispatchQueue(label: "liverelay.ranges")
    /// Reads the indexes of segments, which takes longer than to render a range.
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

    /// Renders the playlist on the calling thread, and keeps it unless it is a range; nil if it lists no segment.
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

    /// The task that renders the playlist; nil if too many are pending.
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

    /// Drops what is older than `publication`. A request that began before may come with an older publication.
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

    /// Records that a client's range is being rendered.
    /// - Returns: whether it may be.
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
    /// Whether the playlist is of a part of the rewind, so that every client may ask for another.
    var isRange: Bool {
        switch self {
        case .live, .rewind(_, .whole), .master(_, nil), .master(_, .whole): false
        case .rewind, .selection, .master: true
        }
    }

    /// The number of segments that are looked at to render the playlist, at most.
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

    /// The number of the variant beside the leading one that the playlist is of; nil if it is of something else.
    var furtherVariant: Int? {
        switch self {
        case .live(.video(let number)), .rewind(.video(let number), _), .selection(.video(let number), _):
            number > 0 ? number : nil
        case .live, .rewind, .selection, .master: nil
        }
    }

    /// The files that the playlist lists whose newest a player may wait for; nil if it may not.
    var awaitedContent: PlaylistContent? {
        switch self {
        case .live(let content), .rewind(let content, .whole), .rewind(let content, .last),
            .rewind(let content, .between(_, end: nil)):
            content
        case .rewind, .selection, .master: nil
        }
    }

    /// The same playlist with its range rounded to segments, so that requests for other moments of the same segments are
    /// answered alike.
    func rounded(in snapshot: RingSnapshot) -> Route.Playlist {
        guard case .rewind(let content, let range) = self else { return self }
        return snapshot.selection(of: range).map { .selection(content, $0) } ?? self
    }
}
