package import Fetch
import Support
import Synchronization

/// Requests to one place of an S3 store.
package final class ObjectStore: Sendable {
    package struct Listed: Equatable, Sendable {
        /// Its key after the prefix of the store.
        package let key: String
        package let byteCount: Int
        package let entityTag: String
    }

    /// Requests by their method, as the store counts them for its bill.
    package struct Counts: Equatable, Sendable {
        package internal(set) var puts = 0
        package internal(set) var gets = 0
        package internal(set) var lists = 0
        package internal(set) var deletes = 0
        package internal(set) var failures = 0
    }

    /// The difference of clocks above which it is said: stores refuse 15 minutes.
    private static let smallestSkew: Int64 = 60
    /// The keys of one answer, as S3 limits them.
    private static let listedAtOnce = 1000

    package let url: StoreURL
    private let signature: RequestSignature
    private let fetcher: CurlFetcher
    private let now: @Sendable () -> Int64
    private let state = Mutex(State())

    private struct State {
        var counts = Counts()
        /// Milliseconds by which the store's clock is ahead of this machine's; 0 until the store refuses a date.
        var clockOffset: Int64 = 0
    }

    /// - Parameters:
    ///   - requests: the proxy, the certificates and the limits of requests.
    ///   - now: milliseconds since 1970.
    package init(
        _ url: StoreURL, credentials: StoreCredentials, requests: CurlConfiguration = CurlConfiguration(),
        now: @escaping @Sendable () -> Int64
    ) throws(FetchError) {
        self.url = url
        self.now = now
        signature = RequestSignature(store: url, credentials: credentials)
        fetcher = try CurlFetcher(upstream: url.origin, configuration: requests)
    }

    package var counts: Counts { state.withLock { $0.counts } }

    /// Milliseconds since 1970 by the clock of the store, as far as it is known.
    var date: ProgramDateTime {
        ProgramDateTime(millisecondsSince1970: now() + state.withLock { $0.clockOffset })
    }

    /// The name of an object for people.
    func name(of key: String) -> String { "\(url.bucket)/\(url.prefix)\(key)" }

    /// A URL at which an object can be had without a key for a while.
    package func signedURL(of key: String) -> String { signature.url("GET", url.prefix + key, at: date) }

    package func put(_ key: String, _ bytes: [UInt8], type: String) async throws(StoreError) {
        let url = signature.url("PUT", url.prefix + key, at: date)
        state.withLock { $0.counts.puts += 1 }
        let content = RequestContent(.put, type: type, bytes: bytes)
        _ = try answer(await fetcher.send(content, to: url, limitedAs: .segment), of: key)
    }

    /// Removes an object. One that does not exist is no error.
    package func remove(_ key: String) async throws(StoreError) {
        let url = signature.url("DELETE", url.prefix + key, at: date)
        state.withLock { $0.counts.deletes += 1 }
        let content = RequestContent(.delete, type: "text/plain", bytes: [])
        do throws(StoreError) { _ = try answer(await fetcher.send(content, to: url), of: key) } catch {
            if error.reason != .noObject { throw error }
        }
    }

    package func bytes(of key: String, in range: Range<Int>? = nil) async throws(StoreError) -> [UInt8] {
        state.withLock { $0.counts.gets += 1 }
        let part = range.map { ByteRange(offset: UInt64($0.lowerBound), length: UInt64($0.count)) }
        let request = FetchRequest(.segment, url: signedURL(of: key), byteRange: part)
        let answer = try answer(await fetcher.fetch(request), of: key)
        // A store may send the whole object all the same, or call it the part.
        do throws(ResourcePart.Failure) { return try ResourcePart(of: answer, range: part?.range).bytes } catch {
            let expected = range?.count ?? answer.body.count
            throw StoreError(.shortObject(expected: expected, received: answer.body.count), object: name(of: key))
        }
    }

    /// The objects whose keys begin with `prefix`, in the order of their keys.
    package func list(_ prefix: String, limit: Int = 100_000) async throws(StoreError) -> [Listed] {
        var (found, token): ([Listed], String?) = ([], nil)
        for _ in 0...limit / Self.listedAtOnce {
            var query = [
                ("list-type", "2"), ("max-keys", String(Self.listedAtOnce)), ("prefix", url.prefix + prefix),
            ]
            if let token { query.append(("continuation-token", token)) }
            state.withLock { $0.counts.lists += 1 }
            let request = FetchRequest(.segment, url: signature.url("GET", "", query: query, at: date))
            let page = try ListingPage(
                answer(await fetcher.fetch(request), of: prefix), below: url.prefix, of: name(of: prefix))
            found += page.objects
            token = page.next
            if token == nil || found.count >= limit { break }
        }
        return found
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
    /// - Returns: seconds by which this machine's clock is ahead; nil if the clocks are not why.
    private func learnClock(of answer: FetchAnswer) -> Int64? {
        guard let theirs = answer.header("date").flatMap({ ProgramDateTime(httpDate: $0) }) else { return nil }
        let (ours, signed) = (now(), date.millisecondsSince1970)
        guard abs(signed - theirs.millisecondsSince1970) / 1000 >= Self.smallestSkew else { return nil }
        state.withLock { $0.clockOffset = theirs.millisecondsSince1970 - ours }
        return (ours - theirs.millisecondsSince1970) / 1000
    }
}

/// One answer to a request for a list (ListObjectsV2).
private struct ListingPage {
    let objects: [ObjectStore.Listed]
    /// Names the next page; nil if this is the last.
    let next: String?

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
        next = root.first("IsTruncated")?.text == "true" ? root.first("NextContinuationToken")?.text : nil
    }
}
