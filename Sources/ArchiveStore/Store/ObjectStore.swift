package import Fetch
import Support
import Synchronization

/// Requests to one place of an S3 store.
package final class ObjectStore: Sendable {
    package struct Listed: Equatable, Sendable {
        /// The object's key, relative to the prefix of the store.
        package let key: String
        package let byteCount: Int
        package let entityTag: String
    }

    /// Counts of requests by method, as the store bills them.
    package struct Counts: Equatable, Sendable {
        package internal(set) var puts = 0
        package internal(set) var gets = 0
        package internal(set) var lists = 0
        package internal(set) var deletes = 0
        package internal(set) var failures = 0
        /// Objects that were read and do not match their names or indexes.
        package internal(set) var damaged = 0
    }

    /// The least difference of clocks, in seconds, that is reported. Stores refuse 15 minutes.
    private static let smallestSkew: Int64 = 60
    /// The most keys in one answer: the limit of S3.
    static let listedAtOnce = 1000
    /// The largest answer to a list request, in bytes: a key has 1 KiB at most, and the rest of its entry as much
    /// again.
    private static let listBytes = 4 << 20
    /// The most bytes of an object that one request reads. A longer range is read by several requests.
    private static let bytesAtOnce = 4 << 20
    /// The largest object that is read without a range: an index, or an init section.
    static let wholeBytes = 16 << 20

    package let url: StoreURL
    private let signature: RequestSignature
    private let fetcher: CurlFetcher
    private let now: @Sendable () -> Int64
    private let reportDamage: @Sendable (StoreError) -> Void
    private let state = Mutex(State())

    private struct State {
        var counts = Counts()
        /// Milliseconds by which the store's clock is ahead of this machine's; 0 until the store refuses a date.
        var clockOffset: Int64 = 0
        /// Milliseconds by which the Date of the newest answer is ahead of this machine's clock; nil until an answer
        /// has a date.
        var lastOffset: Int64?
    }

    /// - Parameters:
    ///   - requests: the proxy and the certificates of requests. The sizes of answers are limited here.
    ///   - timeLimit: of one request; nil: that of segments.
    ///   - now: milliseconds since 1970.
    ///   - reportDamage: called with the reason why the bytes of an object are not used.
    package init(
        _ url: StoreURL, credentials: StoreCredentials, requests: CurlConfiguration = CurlConfiguration(),
        timeLimit: Duration? = nil, now: @escaping @Sendable () -> Int64,
        reportDamage: @escaping @Sendable (StoreError) -> Void = { _ in }
    ) throws(FetchError) {
        self.url = url
        self.now = now
        self.reportDamage = reportDamage
        signature = RequestSignature(store: url, credentials: credentials)
        var requests = requests
        requests.segmentLimits.bodyBytes = Self.wholeBytes
        if let timeLimit { (requests.segmentLimits.idle, requests.segmentLimits.total) = (timeLimit, timeLimit) }
        fetcher = try CurlFetcher(upstream: url.origin, configuration: requests)
    }

    package var counts: Counts { state.withLock { $0.counts } }

    /// The present date by this machine's clock, which decides what is kept and which range is requested.
    var date: ProgramDateTime { ProgramDateTime(millisecondsSince1970: now()) }

    /// The date that requests are signed with: by the store's clock if the store refused this machine's date.
    private var signingDate: ProgramDateTime {
        ProgramDateTime(millisecondsSince1970: now() + state.withLock { $0.clockOffset })
    }

    /// The time by which the store's clock is ahead of this machine's, by the newest answer with a date; nil without
    /// one.
    var clockDifference: Duration? { state.withLock { $0.lastOffset }.map { .milliseconds($0) } }

    /// Counts and reports an object whose bytes are not used.
    func recordDamage(_ error: StoreError) {
        state.withLock { $0.counts.damaged += 1 }
        reportDamage(error)
    }

    /// The name of an object for people.
    func name(of key: String) -> String { "\(url.bucket)/\(url.prefix)\(key)" }

    /// A URL that gives access to an object without a key, for a limited time.
    package func signedURL(of key: String) -> String { signature.url("GET", url.prefix + key, at: signingDate) }

    /// - Parameter isNew: whether the object is put only if there is none of that key. A store that honors this answers
    ///   412 if there is one.
    package func put(_ key: String, _ bytes: [UInt8], type: String, isNew: Bool = false) async throws(StoreError) {
        let url = signature.url("PUT", url.prefix + key, at: signingDate)
        state.withLock { $0.counts.puts += 1 }
        let fields = isNew ? [FetchAnswer.Header(name: "If-None-Match", value: "*")] : []
        let content = RequestContent(.put, type: type, bytes: bytes, fields: fields)
        _ = try answer(await fetcher.send(content, to: url, limitedAs: .segment), of: key)
    }

    /// Removes an object. A missing object is not an error.
    package func remove(_ key: String) async throws(StoreError) {
        let url = signature.url("DELETE", url.prefix + key, at: signingDate)
        state.withLock { $0.counts.deletes += 1 }
        let content = RequestContent(.delete, type: "text/plain", bytes: [])
        do throws(StoreError) { _ = try answer(await fetcher.send(content, to: url), of: key) } catch {
            if error.reason != .noObject { throw error }
        }
    }

    /// The whole body of a small object.
    package func bytes(of key: String) async throws(StoreError) -> [UInt8] {
        try await get(FetchRequest(.segment, url: signedURL(of: key)), key).body
    }

    /// The complete bytes of a range of an object. A long range is read by several requests.
    package func bytes(of key: String, in range: Range<Int>) async throws(StoreError) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(range.count)
        while bytes.count < range.count {
            let start = range.lowerBound + bytes.count
            let end = min(range.upperBound, start + Self.bytesAtOnce)
            bytes += try await part(of: key, start..<end)
        }
        return bytes
    }

    private func part(of key: String, _ range: Range<Int>) async throws(StoreError) -> ArraySlice<UInt8> {
        let part = ByteRange(offset: UInt64(range.lowerBound), length: UInt64(range.count))
        let answer = try await get(FetchRequest(.segment, url: signedURL(of: key), byteRange: part), key)
        // A store may send the whole object, or call it the part.
        do throws(ResourcePart.Failure) { return try ResourcePart(of: answer, range: part.range).bytes[...] } catch {
            throw StoreError(.shortObject(expected: range.count, received: answer.body.count), object: name(of: key))
        }
    }

    private func get(_ request: FetchRequest, _ key: String) async throws(StoreError) -> FetchAnswer {
        state.withLock { $0.counts.gets += 1 }
        return try answer(await fetcher.fetch(request), of: key)
    }

    /// The objects of one answer whose keys begin with `prefix`, in the order of their keys.
    /// - Parameters:
    ///   - key: the list begins after this key, whether or not such an object exists; nil: at the first object.
    ///   - limit: 1...1000.
    package func page(
        _ prefix: String, after key: String? = nil, limit: Int = ObjectStore.listedAtOnce
    ) async throws(StoreError) -> Page {
        var query = [("list-type", "2"), ("max-keys", String(limit)), ("prefix", url.prefix + prefix)]
        if let key { query.append(("start-after", url.prefix + key)) }
        state.withLock { $0.counts.lists += 1 }
        var request = FetchRequest(.segment, url: signature.url("GET", "", query: query, at: signingDate))
        request.byteLimit = Self.listBytes
        let answer = try answer(await fetcher.fetch(request), of: prefix)
        let listed = try ListingPage(answer, below: url.prefix, of: name(of: prefix))
        // Neither objects that were listed before nor objects outside the prefix.
        let objects = listed.objects.filter { object in
            object.key.hasPrefix(prefix)
                && (key.map { $0.utf8.lexicographicallyPrecedes(object.key.utf8) } ?? true)
        }
        return Page(objects: Array(objects.prefix(Self.listedAtOnce)), isLast: !listed.hasMore || objects.isEmpty)
    }

    /// The objects of one answer to a request for a list.
    package struct Page: Equatable, Sendable {
        package let objects: [Listed]
        /// Whether no object follows.
        package let isLast: Bool
    }

    /// Passes the objects whose keys begin with `prefix` to `body`, page by page, in the order of their keys.
    /// - Parameter body: returns true to get the next page.
    package func forEachPage(
        _ prefix: String, after key: String? = nil, _ body: ([Listed]) -> Bool
    ) async throws(StoreError) {
        var last = key
        while true {
            let page = try await page(prefix, after: last)
            guard body(page.objects), !page.isLast, let next = page.objects.last?.key else { return }
            last = next
        }
    }

    private func answer(_ outcome: FetchOutcome, of key: String) throws(StoreError) -> FetchAnswer {
        do throws(StoreError) { return try checked(outcome, name(of: key)) } catch {
            state.withLock { $0.counts.failures += 1 }
            throw error
        }
    }

    private func checked(_ outcome: FetchOutcome, _ object: String) throws(StoreError) -> FetchAnswer {
        let answer: FetchAnswer
        switch outcome {
        case .success(let found): answer = found
        case .failure(let error):
            throw StoreError(.unreachable(error.reason, message: error.message), object: object)
        }
        learnOffset(of: answer)
        guard !answer.isSuccess else { return answer }
        let code = (try? XMLElement.parse(answer.body, limit: 64))?.first("Code")?.text ?? ""
        if answer.status == 404, code != "NoSuchBucket" { throw StoreError(.noObject, object: object) }
        if answer.status == 403, let skew = learnClock(of: answer) {
            throw StoreError(.clockSkew(seconds: skew), object: object)
        }
        throw StoreError(
            .refused(status: answer.status, code: String(code.prefix(64))), object: object,
            retryAfter: answer.retryAfter)
    }

    /// Learns the clock of the store from an answer that refuses the signature.
    /// - Returns: seconds by which this machine's clock is ahead; nil if the clocks are not the reason.
    private func learnClock(of answer: FetchAnswer) -> Int64? {
        guard let offset = Self.offset(of: answer, now()) else { return nil }
        return state.withLock { state -> Int64? in
            guard abs(offset - state.clockOffset) / 1000 >= Self.smallestSkew else { return nil }
            state.clockOffset = offset
            return -offset / 1000
        }
    }

    private func learnOffset(of answer: FetchAnswer) {
        guard let offset = Self.offset(of: answer, now()) else { return }
        state.withLock { $0.lastOffset = offset }
    }

    /// Milliseconds by which the clock that dated an answer is ahead of this machine's; nil without a date.
    private static func offset(of answer: FetchAnswer, _ now: Int64) -> Int64? {
        answer.header("date").flatMap { ProgramDateTime(httpDate: $0) }.map { $0.millisecondsSince1970 - now }
    }
}

/// One answer to a request for a list (ListObjectsV2).
private struct ListingPage {
    let objects: [ObjectStore.Listed]
    /// Whether other keys follow.
    let hasMore: Bool

    /// - Parameter prefix: keys without it are left out.
    init(_ answer: FetchAnswer, below prefix: String, of name: String) throws(StoreError) {
        guard let root = try? XMLElement.parse(answer.body, limit: 20_000), root.name == "ListBucketResult" else {
            throw StoreError(.badListing, object: name)
        }
        objects = root.all("Contents").compactMap { element in
            guard let key = element.first("Key")?.text, key.hasPrefix(prefix),
                let size = element.first("Size").flatMap({ Int($0.text) })
            else { return nil }
            return ObjectStore.Listed(
                key: String(key.dropFirst(prefix.count)), byteCount: size, entityTag: element.first("ETag")?.text ?? "")
        }
        hasMore = root.first("IsTruncated")?.text == "true"
    }
}
