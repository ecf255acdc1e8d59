import CCurl
import Playlist
import Synchronization

/// One channel's upstream over HTTP: its headers, its cookies, its limits.
package final class CurlFetcher: Fetcher {
    private let thread: CurlThread
    private let channel: CurlCommandQueue.ChannelID
    private let headers: RequestHeaders
    private let configuration: CurlConfiguration
    /// Their bodies are not encoded as they claim.
    private let mislabeledOrigins = Mutex<Set<HTTPURL.Origin>>([])
    /// Such origins that are remembered; an upstream may name any number of them.
    private static let maxMislabeledOrigins = 64

    /// - Parameters:
    ///   - upstream: absolute address of the channel; its origin is whom credentials and cookies are for.
    ///   - backups: absolute addresses that stand in for it; user information in them is for their origins.
    ///   - thread: the process's own unless given.
    /// - Throws: `.unsupportedScheme` or `.other` for an address, a header or a cookie that cannot be sent, and for a
    ///   proxy where private addresses are denied.
    package init(
        upstream: String, backups: [String] = [], configuration: CurlConfiguration = CurlConfiguration(),
        thread: CurlThread? = nil
    ) throws(FetchError) {
        if configuration.deniesPrivate, configuration.proxy != nil {
            throw FetchError(.other, url: upstream, message: "behind a proxy no private address can be denied")
        }
        // A backup that cannot be asked says so when it is.
        let standIns = backups.compactMap { try? HTTPURL($0) }
        self.headers = try RequestHeaders(configuration, for: HTTPURL(upstream), backups: standIns)
        self.configuration = configuration
        self.thread =
            if let thread { thread } else { try CurlThread.shared(deniesPrivate: configuration.deniesPrivate) }
        self.channel = self.thread.commandQueue.makeID()
    }

    deinit { thread.commandQueue.post(.close(channel)) }

    /// One GET, redirects followed. An answer of any status is a success here. A body that is not encoded as it claims,
    /// or in a way that nobody knows, is asked for once more and taken as it comes.
    package func fetch(_ request: FetchRequest) async -> FetchOutcome {
        do throws(FetchError) {
            let address = try HTTPURL(request.url)
            let isPlain = mislabeledOrigins.withLock { $0.contains(address.origin) }
            let outcome = try await followRedirects(request, from: address, usesIdentityEncoding: isPlain)
            guard case .failure(let error) = outcome, error.isOfEncoding else { return outcome }
            mislabeledOrigins.withLock { if $0.count < Self.maxMislabeledOrigins { $0.insert(address.origin) } }
            return try await followRedirects(request, from: address, usesIdentityEncoding: true)
        } catch {
            return .failure(error)
        }
    }

    /// Follows the redirects that libcurl was not to.
    private func followRedirects(
        _ request: FetchRequest, from first: HTTPURL, usesIdentityEncoding: Bool
    ) async throws(FetchError) -> FetchOutcome {
        var address = first
        for _ in 0...CurlJob.maxRedirects {
            let job = try CurlJob(
                request, to: address, headers: headers, configuration: configuration, isPlain: usesIdentityEncoding)
            let outcome = await run(job)
            guard !job.followsRedirects, let next = try? outcome.get().redirection else { return outcome }
            address = try HTTPURL(next)
        }
        throw FetchError(.tooManyRedirects, url: request.url)
    }

    private func run(_ job: CurlJob) async -> FetchOutcome {
        let inbox = thread.commandQueue
        let id = inbox.makeID()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                inbox.post(.start(id, channel, job, continuation))
                // The handler below may have run before there was anything to cancel.
                if Task.isCancelled { inbox.post(.cancel(id)) }
            }
        } onCancel: {
            inbox.post(.cancel(id))
        }
    }
}

extension FetchError {
    /// The body did not decode as its Content-Encoding says.
    fileprivate var isOfEncoding: Bool { code == Int32(bitPattern: CURLE_BAD_CONTENT_ENCODING.rawValue) }
}

extension FetchAnswer {
    /// The absolute address that it leads to (RFC 9110 §15.4); nil when it does not.
    fileprivate var redirection: String? {
        guard [301, 302, 303, 307, 308].contains(status), let location = header("location") else { return nil }
        return URIReference.resolve(location, against: finalURL)
    }
}
