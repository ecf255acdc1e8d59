import Dispatch
package import Support
import Synchronization

/// Documents about many channels, made on a thread of their own and shared by all readers.
///
/// A document of the list is made once for each version of the list. A document of the moment is made for all requests
/// that arrived before its making began. However many requests there are, the thread makes one document after the
/// other.
package final class DocumentCache: Sendable {
    /// The most different documents about all channels that requests may wait for at once.
    static let pendingLimit = 32
    static let countLimit = 64
    /// The most bytes that are kept, compressed and uncompressed. At least one document is kept.
    static let byteLimit = 32 << 20
    /// The most bytes of documents that are kept or being sent. If slow clients hold more, no document is made.
    static let heldLimit = 128 << 20

    /// The subject, the form and the audience of a document. A document that contains one viewer's token reaches no
    /// other viewer.
    package struct Key: Hashable, Sendable {
        let name: String
        var baseURL = ""
        var reach = Viewer.Reach.everything
        /// As in `Viewer`.
        var query: Secret?

        package init(
            name: String, baseURL: String = "", reach: Viewer.Reach = Viewer.Reach.everything, query: Secret? = nil
        ) {
            self.name = name
            self.baseURL = baseURL
            self.reach = reach
            self.query = query
        }
    }

    /// A document, with its compressed form after a client has asked for that.
    final class Document: Sendable {
        let held: HeldBytes
        let gzip: LazyGzip
        let etag: String

        fileprivate init(_ held: HeldBytes) {
            (self.held, gzip, etag) = (held, LazyGzip(held.bytes), EntityTag.ofContent(held.bytes))
        }
    }

    /// Too many documents are pending, or clients hold too many bytes of documents.
    struct Refusal: Error {}

    fileprivate struct Entry {
        let document: Document
        /// The version of the list; nil: the document describes the moment.
        let version: UInt64?
        /// The number of the last request that arrived before the document was begun.
        let request: UInt64
        var lastUse: UInt64
    }

    fileprivate struct State {
        var entries: [Key: Entry] = [:]
        var requestCount: UInt64 = 0
        /// The number of requests that wait for each document.
        var pending: [Key: Int] = [:]
        var madeCount = 0
    }

    private let queue: DispatchQueue
    private let budget: ByteBudget
    private let pendingLimit: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - label: the name of the thread.
    ///   - pendingLimit: the most different documents that requests may wait for at once.
    package init(
        label: String, heldLimit: Int = DocumentCache.heldLimit, pendingLimit: Int = DocumentCache.pendingLimit
    ) {
        queue = DispatchQueue(label: label)
        budget = ByteBudget(limit: heldLimit)
        self.pendingLimit = pendingLimit
    }

    /// The number of requests that wait for a document.
    var pendingCount: Int { state.withLock { $0.pending.values.reduce(0, +) } }

    var madeCount: Int { state.withLock { $0.madeCount } }

    /// Bytes of documents that are kept or being sent; each document counts once.
    var heldBytes: Int { budget.heldBytes }

    /// Returns the document. If it is not cached, `make` makes it on the thread of documents.
    /// - Parameters:
    ///   - version: the version of the list, if the document depends on the list alone; nil: it describes the moment.
    ///   - compressed: whether the client accepts the compressed form.
    func document(
        _ key: Key, version: UInt64?, compressed: Bool, make: @escaping @Sendable () -> [UInt8]
    ) async throws(Refusal) -> Document {
        if let known = state.withLock({ $0.known(key, version, after: nil) }), !compressed || known.gzip.isFinished {
            return known
        }
        guard let request = state.withLock({ $0.begin(key, limit: pendingLimit) }) else { throw Refusal() }
        defer { state.withLock { $0.end(key) } }
        let document = await perform { [self] in
            let known = state.withLock { $0.known(key, version, after: request) }
            guard let document = known ?? insert(make, as: key, version) else { return nil as Document? }
            if compressed { _ = document.gzip.member }
            return document
        }
        guard let document else { throw Refusal() }
        return document
    }

    /// Performs work of similar length on the thread of documents.
    package func perform<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in queue.async { continuation.resume(returning: work()) } }
    }

    /// - Returns: nil if clients hold too much.
    private func insert(_ make: () -> [UInt8], as key: Key, _ version: UInt64?) -> Document? {
        guard budget.heldBytes < budget.limit else { return nil }
        let request = state.withLock { $0.requestCount }
        let document = Document(budget.hold(make()))
        state.withLock { $0.insert(document, as: key, version, request) }
        return document
    }

    /// The answer with a document. A document of the list can be revalidated.
    package func response(
        _ key: Key, _ type: MimeType, version: UInt64?, to target: RequestTarget,
        make: @escaping @Sendable () -> [UInt8]
    ) async -> Response {
        let compressed = target.fields.allowsGzip
        do throws(Refusal) {
            let document = try await document(key, version: version, compressed: compressed, make: make)
            return Response(
                contentType: type, cacheControl: version == nil ? .noStore : .maxAge(seconds: 0),
                etag: version == nil ? nil : document.etag, body: .bytes(document.held.bytes, gzip: document.gzip),
                held: document.held)
        } catch {
            return .unavailable("Too many documents are being made. Ask again.")
        }
    }
}

extension DocumentCache.State {
    /// The cached document, if it belongs to this version of the list or was begun after the request.
    fileprivate mutating func known(
        _ key: DocumentCache.Key, _ version: UInt64?, after request: UInt64?
    ) -> DocumentCache.Document? {
        guard let entry = entries[key] else { return nil }
        let isCurrent = if let version, let made = entry.version { made >= version } else { false }
        guard isCurrent || request.map({ entry.request >= $0 }) ?? false else { return nil }
        entries[key]?.lastUse = requestCount
        return entry.document
    }

    /// - Returns: the number of the request; nil: too many documents are pending.
    fileprivate mutating func begin(_ key: DocumentCache.Key, limit: Int) -> UInt64? {
        guard pending[key] != nil || pending.count < limit else { return nil }
        pending[key, default: 0] += 1
        requestCount += 1
        return requestCount
    }

    fileprivate mutating func end(_ key: DocumentCache.Key) {
        pending[key] = pending[key].flatMap { $0 > 1 ? $0 - 1 : nil }
    }

    fileprivate mutating func insert(
        _ document: DocumentCache.Document, as key: DocumentCache.Key, _ version: UInt64?, _ request: UInt64
    ) {
        madeCount += 1
        entries[key] = .init(document: document, version: version, request: request, lastUse: requestCount)
        var byteCount = entries.values.reduce(0) { $0 + $1.document.held.bytes.count }
        for (other, entry) in entries.sorted(by: { $0.value.lastUse < $1.value.lastUse }) where other != key {
            guard byteCount > DocumentCache.byteLimit || entries.count > DocumentCache.countLimit else { break }
            byteCount -= entry.document.held.bytes.count
            entries[other] = nil
        }
    }
}
