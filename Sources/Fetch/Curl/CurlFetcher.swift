import CCurl
import Support
import Synchronization

/// Fetches one channel's resources over HTTP, with the channel's headers, cookies and limits.
package final class CurlFetcher: Fetcher {
    let thread: CurlThread
    private let channel: CurlCommandQueue.ChannelID
    private let headers: RequestHeaders
    private let configuration: CurlConfiguration
    /// Origins whose bodies contradict their Content-Encoding.
    private let mislabeledOrigins = Mutex<Set<HTTPURL.Origin>>([])
    /// Origins that asked for Digest authentication. Each request to them is made twice, first for the nonce.
    private let digestOrigins = Mutex<Set<HTTPURL.Origin>>([])
    /// The maximum number of remembered origins, because an upstream may name any number of them.
    private static let maxOrigins = 64

    /// - Parameters:
    ///   - upstream: absolute URL of the channel. Credentials and cookies are sent to its origin only.
    ///   - backups: absolute URLs of the backups. User information in them is sent to their origins only.
    ///   - thread: nil: the process's shared thread.
    /// - Throws: `.unsupportedScheme` or `.other` for a URL, a header or a cookie that cannot be sent, and for a proxy
    ///   if private IP addresses are denied.
    package init(
        upstream: String, backups: [String] = [], configuration: CurlConfiguration = CurlConfiguration(),
        thread: CurlThread? = nil
    ) throws(FetchError) {
        if configuration.deniesPrivate, configuration.proxy != nil {
            throw FetchError(.other, url: upstream, message: "private addresses cannot be denied behind a proxy")
        }
        // The error of an invalid backup URL is reported when the backup is tried.
        let backupURLs = backups.compactMap { try? HTTPURL($0) }
        self.headers = try RequestHeaders(configuration, for: HTTPURL(upstream), backups: backupURLs)
        self.configuration = configuration
        self.thread =
            if let thread { thread } else { try CurlThread.shared(deniesPrivate: configuration.deniesPrivate) }
        self.channel = self.thread.commandQueue.makeID()
    }

    deinit { thread.commandQueue.post(.close(channel)) }

    /// Makes one GET request and follows redirects. An answer of any status is a success here.
    ///
    /// If the body contradicts its Content-Encoding, or the encoding is unknown, the resource is requested once more
    /// and its body is accepted as it is.
    package func fetch(_ request: FetchRequest) async -> FetchOutcome { await fetch(request, nil) }

    package func fetch(
        _ request: FetchRequest, receive: @escaping @Sendable (StreamPart) async -> Void
    ) async -> FetchOutcome {
        guard request.acceptsStream else { return await fetch(request) }
        let stream = StreamBuffer()
        async let outcome = fetch(request, nil, stream)
        await stream.forward(to: receive)
        return await outcome
    }

    /// Fetches one resource into a file, as `fetch` does into memory. The answer has no body.
    package func fetch(_ download: Download, from url: String) async -> FetchOutcome {
        await fetch(FetchRequest(.multivariantPlaylist, url: url), download)
    }

    /// Makes one GET request with further header fields. No redirect is followed.
    /// - Parameter receive: as in `fetch`, if the request accepts a stream.
    package func get(
        _ request: FetchRequest, fields: [FetchAnswer.Header],
        receive: @escaping @Sendable (StreamPart) async -> Void = { _ in }
    ) async -> FetchOutcome {
        let stream = request.acceptsStream ? StreamBuffer() : nil
        async let outcome = get(request, fields, stream)
        await stream?.forward(to: receive)
        return await outcome
    }

    private func get(
        _ request: FetchRequest, _ fields: [FetchAnswer.Header], _ stream: StreamBuffer?
    ) async -> FetchOutcome {
        defer { stream?.finish() }
        do throws(FetchError) {
            return await run(
                CurlJob(
                    request: request, url: try HTTPURL(request.url), headers: headers, configuration: configuration,
                    fields: fields, stream: stream))
        } catch {
            return .failure(error)
        }
    }

    private func fetch(
        _ request: FetchRequest, _ download: Download?, _ stream: StreamBuffer? = nil
    ) async -> FetchOutcome {
        defer { stream?.finish() }
        do throws(FetchError) {
            let url = try HTTPURL(request.url)
            if let range = request.byteRange, range.firstAndLast == nil {
                throw FetchError(.other, url: request.url, message: "empty byte range")
            }
            let isMislabeled = mislabeledOrigins.withLock { $0.contains(url.origin) }
            let outcome = try await followRedirects(request, from: url, isMislabeled: isMislabeled, download, stream)
            guard case .failure(let error) = outcome, error.isWrongEncoding else { return outcome }
            mislabeledOrigins.withLock { if $0.count < Self.maxOrigins { $0.insert(url.origin) } }
            return try await followRedirects(request, from: url, isMislabeled: true, download, stream)
        } catch {
            return .failure(error)
        }
    }

    /// Makes one request that changes something. No redirect is followed.
    /// - Parameter purpose: the kind of resource whose limits apply to the request and its answer.
    package func send(
        _ content: RequestContent, to url: String, limitedAs purpose: FetchRequest.Purpose = .key
    ) async -> FetchOutcome {
        do throws(FetchError) {
            return await run(
                CurlJob(
                    request: FetchRequest(purpose, url: url), url: try HTTPURL(url), headers: headers,
                    configuration: configuration, content: content))
        } catch {
            return .failure(error)
        }
    }

    /// Runs the request, and follows redirects that libcurl may not follow.
    private func followRedirects(
        _ request: FetchRequest, from first: HTTPURL, isMislabeled: Bool, _ download: Download?,
        _ stream: StreamBuffer?
    ) async throws(FetchError) -> FetchOutcome {
        var url = first
        for _ in 0...CurlJob.maxRedirects {
            // The file may contain the body of an earlier answer in the chain.
            download?.file.clear()
            let origin = url.origin
            var job = CurlJob(
                request: request, url: url, headers: headers, configuration: configuration, isMislabeled: isMislabeled,
                usesDigest: digestOrigins.withLock { $0.contains(origin) }, download: download, stream: stream)
            var outcome = await run(job)
            if !job.usesDigest, headers.userInfo(for: url) != nil, (try? outcome.get().asksForDigest) ?? false {
                digestOrigins.withLock { if $0.count < Self.maxOrigins { $0.insert(origin) } }
                download?.file.clear()
                job.usesDigest = true
                outcome = await run(job)
            }
            guard !job.followsRedirects, let next = try? outcome.get().redirectURL else { return outcome }
            url = try HTTPURL(next)
        }
        throw FetchError(.tooManyRedirects, url: request.url)
    }

    private func run(_ job: CurlJob) async -> FetchOutcome {
        let commandQueue = thread.commandQueue
        let id = commandQueue.makeID()
        job.stream?.onRoom { commandQueue.post(.resume(id)) }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                commandQueue.post(.start(id, channel, job, continuation))
                // The handler below may have run before the transfer started.
                if Task.isCancelled { commandQueue.post(.cancel(id)) }
            }
        } onCancel: {
            commandQueue.post(.cancel(id))
        }
        guard case .success(let answer) = outcome, answer.body.starts(with: Gzip.magic) || answer.isDeflate(for: job)
        else { return outcome }
        // The curl thread may run this task, and all its transfers would wait.
        return await withTaskExecutorPreference(globalConcurrentExecutor) {
            await Task.yield()
            return outcome.decompressed(for: job)
        }
    }
}

extension FetchOutcome {
    /// The outcome with a decompressed body, if the body is gzip without a Content-Encoding or was compressed twice, or is
    /// compressed although no encoding was asked for.
    ///
    /// A key may begin like a gzip member, and a byte range of one cannot be decompressed.
    fileprivate func decompressed(for job: CurlJob) -> FetchOutcome {
        guard case .success(var answer) = self, job.request.purpose != .key, job.range == nil else { return self }
        // The compressed and the decompressed bytes are in memory at once.
        let limit = max(0, job.limits.bodyBytes - answer.body.count)
        switch Gzip.decompress(answer.body, limit: limit, isDeflate: answer.isDeflate(for: job)) {
        case .notGzip: return self
        case .whole(let content):
            answer.body = content
            return .success(answer)
        case .truncated: return .failure(FetchError(.shortBody, CURLE_PARTIAL_FILE, url: job.request.url))
        case .beyondLimit: return .failure(FetchError(.tooLarge, CURLE_FILESIZE_EXCEEDED, url: job.request.url))
        case .canceled: return .failure(FetchError(.canceled, CURLE_ABORTED_BY_CALLBACK, url: job.request.url))
        }
    }
}

extension FetchError {
    fileprivate init(_ reason: Reason, _ code: CURLcode, url: String) {
        self.init(reason, url: url, code: Int32(bitPattern: code.rawValue))
    }

    /// Whether the body contradicts its Content-Encoding.
    fileprivate var isWrongEncoding: Bool { code == Int32(bitPattern: CURLE_BAD_CONTENT_ENCODING.rawValue) }
}

extension FetchAnswer {
    /// Whether the body is compressed with deflate although libcurl asked for no encoding.
    fileprivate func isDeflate(for job: CurlJob) -> Bool {
        job.usesIdentityEncoding && !job.isMislabeled && header("content-encoding")?.lowercased() == "deflate"
    }

    /// Whether user and password are asked for by Digest (RFC 7616) and not by Basic.
    fileprivate var asksForDigest: Bool {
        guard status == 401 else { return false }
        let challenges = headers.filter { $0.name.lowercased() == "www-authenticate" }.map { $0.value.lowercased() }
        let names = { (scheme: String) in
            challenges.contains { challenge in
                challenge.split(separator: ",").contains { $0.trimmingBlanks.hasPrefix(scheme + " ") }
            }
        }
        return names("digest") && !names("basic")
    }

    /// The absolute URL of the redirect (RFC 9110 §15.4); nil if the answer is not a redirect.
    fileprivate var redirectURL: String? {
        guard [301, 302, 303, 307, 308].contains(status), let location = header("location") else { return nil }
        return URIReference.resolve(location, against: finalURL)
    }
}

/// The content of a request other than GET, and its media type.
package struct RequestContent: Equatable, Sendable {
    package enum Method: String, Equatable, Sendable {
        case post = "POST"
        case put = "PUT"
        case patch = "PATCH"
        case delete = "DELETE"
    }

    let method: Method
    let type: String
    let bytes: [UInt8]
    /// Further header fields, which no log shows.
    let fields: [FetchAnswer.Header]

    package init(_ method: Method = .post, type: String, bytes: [UInt8], fields: [FetchAnswer.Header] = []) {
        self.method = method
        self.type = type
        self.bytes = bytes
        self.fields = fields
    }
}
