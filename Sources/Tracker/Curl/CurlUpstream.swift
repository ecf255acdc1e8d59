/// One channel's upstream over HTTP: its headers, its cookies, its limits.
package final class CurlUpstream: Upstream {
    private let thread: CurlThread
    private let channel: CurlInbox.ChannelID
    private let headers: ChannelHeaders
    private let configuration: CurlConfiguration

    /// - Parameters:
    ///   - upstream: absolute address of the channel; its origin is whom credentials and cookies are for.
    ///   - thread: the process's own unless given.
    /// - Throws: `.unsupportedScheme` or `.other` for an address, a header or a cookie that cannot be sent, and for a
    ///   proxy where private addresses are denied.
    package init(
        upstream: String, configuration: CurlConfiguration = CurlConfiguration(), thread: CurlThread? = nil
    ) throws(FetchError) {
        if configuration.deniesPrivate, configuration.proxy != nil {
            throw FetchError(.other, url: upstream, message: "behind a proxy no private address can be denied")
        }
        self.headers = try ChannelHeaders(configuration, for: HTTPAddress(upstream))
        self.configuration = configuration
        self.thread =
            if let thread { thread } else { try CurlThread.shared(deniesPrivate: configuration.deniesPrivate) }
        self.channel = self.thread.inbox.makeID()
    }

    deinit { thread.inbox.post(.close(channel)) }

    /// One GET, redirects followed. An answer of any status is a success here.
    package func fetch(_ request: FetchRequest) async -> FetchOutcome {
        do throws(FetchError) {
            let job = try CurlJob(request, headers: headers, configuration: configuration)
            return await run(job)
        } catch {
            return .failure(error)
        }
    }

    private func run(_ job: CurlJob) async -> FetchOutcome {
        let inbox = thread.inbox
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
