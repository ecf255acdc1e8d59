import CCurl
import Glibc

/// The loop of the curl thread. It is created on another thread and then used by the curl thread alone.
final class CurlEventLoop {
    private let commandQueue: CurlCommandQueue
    private let multi: CurlMulti
    private var running: [CurlCommandQueue.TransferID: CurlTransfer] = [:]
    private var shares: [CurlCommandQueue.ChannelID: CurlShare] = [:]
    private var sleeps = SleepQueue()
    /// The commands that are handled now.
    private var commands: [CurlCommandQueue.CurlCommand] = []
    /// The earliest time at which a transfer times out, other than by libcurl's own limits.
    private var deadline: ContinuousClock.Instant?
    /// Whether a transfer began or has room again since libcurl worked last.
    private var hasNews = false

    /// Microseconds to wait so that more of a long body arrives. Without this the thread would wake for each packet.
    private static let gatheringTime: UInt32 = 2000

    /// Returns nil if memory is exhausted.
    init?(_ commandQueue: CurlCommandQueue) {
        guard let multi = CurlMulti() else { return nil }
        self.commandQueue = commandQueue
        self.multi = multi
    }

    /// Returns after `.stop`.
    func run() {
        var isWoken = true
        while handleCommands(isWoken: isWoken) {
            isWoken = false
            if hasNews { advanceTransfers() }
            endLateTransfers()
            sleeps.resumeDue()
            guard commandQueue.beginWaiting() else { continue }
            if running.values.contains(where: \.expectsMuch) { usleep(Self.gatheringTime) }
            let limit = sleeps.next.map { min($0, deadline ?? $0) } ?? deadline
            (isWoken, hasNews) = multi.wait(for: commandQueue.wakeDescriptor, until: limit)
        }
        for id in running.keys { cancel(id) }
        sleeps.resumeAll()
    }

    private func advanceTransfers() {
        hasNews = false
        multi.perform()
        while let (transfer, code) = multi.nextFinished() {
            remove(transfer)
            transfer.finish(code)
        }
    }

    /// Handles all posted commands. Returns false after `.stop`.
    private func handleCommands(isWoken: Bool) -> Bool {
        commandQueue.drain(into: &commands, isWoken: isWoken)
        defer { commands.removeAll(keepingCapacity: true) }
        for command in commands {
            switch command {
            case .start(let id, let channel, let job, let continuation): start(id, channel, job, continuation)
            case .cancel(let id): cancel(id)
            case .resume(let id):
                running[id]?.resume()
                hasNews = true
            case .close(let channel): shares[channel] = nil
            case .sleep(let id, let end, let continuation): sleeps.insert(id, until: end, continuation)
            case .endSleep(let id): sleeps.end(id)
            case .run(let job): unsafe job.runSynchronously(on: commandQueue.asUnownedTaskExecutor())
            case .stop: return false
            }
        }
        return true
    }

    private func start(
        _ id: CurlCommandQueue.TransferID, _ channel: CurlCommandQueue.ChannelID, _ job: CurlJob,
        _ continuation: CurlTransfer.Continuation
    ) {
        guard let handle = handle(for: job, of: channel) else {
            let error = FetchError(.other, url: job.request.url, message: "out of memory")
            return continuation.resume(returning: .failure(error))
        }
        let transfer = CurlTransfer(id, job, handle, continuation)
        guard transfer.handle.firstError == CURLE_OK else { return transfer.fail(.other, transfer.handle.firstError) }
        guard multi.add(transfer.handle) else { return transfer.fail(.other, CURLE_FAILED_INIT) }
        running[id] = transfer
        hasNews = true
        if let deadline = transfer.deadline { self.deadline = min(self.deadline ?? deadline, deadline) }
    }

    /// Ends the transfers that received nothing, or no recognizable answer, within their limit.
    private func endLateTransfers() {
        guard let deadline, deadline <= .now else { return }
        let now = ContinuousClock.now
        for transfer in running.values.filter({ $0.deadline.map { $0 <= now } ?? false }) {
            remove(transfer)
            transfer.fail(.timedOut, CURLE_OPERATION_TIMEDOUT)
        }
        self.deadline = running.values.compactMap(\.deadline).min()
    }

    /// Returns a new handle. The first one of a channel creates its cookie jar and fills it.
    private func handle(for job: CurlJob, of channel: CurlCommandQueue.ChannelID) -> CurlHandle? {
        if let share = shares[channel] { return CurlHandle(share: share) }
        guard let share = CurlShare(), var handle = CurlHandle(share: share) else { return nil }
        shares[channel] = share
        for line in job.headers.cookieLines { handle.set(CURLOPT_COOKIELIST, line) }
        return handle
    }

    private func cancel(_ id: CurlCommandQueue.TransferID) {
        guard let transfer = running[id] else { return }
        remove(transfer)
        transfer.fail(.canceled, CURLE_ABORTED_BY_CALLBACK)
    }

    private func remove(_ transfer: CurlTransfer) {
        multi.remove(transfer.handle)
        running[transfer.id] = nil
    }
}

/// Owns the multi handle, with the connections of all channels.
@safe
private struct CurlMulti: ~Copyable {
    /// Idle connections kept for later requests.
    static let idleConnections = 128
    /// Connections of all channels to one host. A CDN may serve dozens of channels with five requests each.
    static let connectionsPerHost = 64
    static let connections = 512

    private let raw: UnsafeMutableRawPointer

    /// Returns nil if memory is exhausted.
    init?() {
        guard curlIsReady, let raw = unsafe curl_multi_init() else { return nil }
        unsafe self.raw = raw
        _ = unsafe liverelay_curl_multi_set_long(raw, CURLMOPT_MAXCONNECTS, Self.idleConnections)
        _ = unsafe liverelay_curl_multi_set_long(raw, CURLMOPT_MAX_HOST_CONNECTIONS, Self.connectionsPerHost)
        _ = unsafe liverelay_curl_multi_set_long(raw, CURLMOPT_MAX_TOTAL_CONNECTIONS, Self.connections)
    }

    deinit { _ = unsafe curl_multi_cleanup(raw) }

    func add(_ handle: borrowing CurlHandle) -> Bool { unsafe curl_multi_add_handle(raw, handle.raw) == CURLM_OK }

    func remove(_ handle: borrowing CurlHandle) { _ = unsafe curl_multi_remove_handle(raw, handle.raw) }

    /// Advances every transfer as far as possible without waiting.
    func perform() {
        var running: Int32 = 0
        _ = unsafe curl_multi_perform(raw, &running)
    }

    /// Waits for a socket, for libcurl's timers, for the deadline, or until `descriptor` is readable.
    /// - Returns: whether `descriptor` is readable, and whether libcurl has something to do.
    func wait(for descriptor: Int32, until deadline: ContinuousClock.Instant?) -> (isWoken: Bool, hasNews: Bool) {
        let longest = Duration.seconds(10)
        let limit = deadline.map { min(longest, max(.zero, ContinuousClock.now.duration(to: $0))) } ?? longest
        var extra = curl_waitfd(fd: descriptor, events: Int16(CURL_WAIT_POLLIN), revents: 0)
        var ready: Int32 = 0
        _ = unsafe curl_multi_poll(raw, &extra, 1, Int32(clamping: limit.wholeMilliseconds), &ready)
        let isWoken = extra.revents != 0
        var timeout = -1
        _ = unsafe curl_multi_timeout(raw, &timeout)
        return (isWoken, ready > (isWoken ? 1 : 0) || timeout == 0)
    }

    /// Returns the next transfer that ended, with its result code; nil if there is none.
    func nextFinished() -> (CurlTransfer, CURLcode)? {
        var remaining: Int32 = 0
        while let message = unsafe curl_multi_info_read(raw, &remaining) {
            guard unsafe message.pointee.msg == CURLMSG_DONE, let easy = unsafe message.pointee.easy_handle else {
                continue
            }
            // Copied here, because removing the handle frees the message.
            let code = unsafe message.pointee.data.result
            if let transfer = unsafe CurlTransfer.of(easy: easy) { return (transfer, code) }
        }
        return nil
    }
}

private let curlIsReady = curl_global_init(liverelay_curl_global_all) == CURLE_OK
