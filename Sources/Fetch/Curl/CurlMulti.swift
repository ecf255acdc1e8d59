import CCurl

/// Owns the multi handle, with the connections of all channels.
@safe
struct CurlMulti: ~Copyable {
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
    /// - Returns: whether `descriptor` is readable.
    func wait(for descriptor: Int32, until deadline: ContinuousClock.Instant?) -> Bool {
        let longest = Duration.seconds(10)
        let limit = deadline.map { min(longest, max(.zero, ContinuousClock.now.duration(to: $0))) } ?? longest
        var extra = curl_waitfd(fd: descriptor, events: Int16(CURL_WAIT_POLLIN), revents: 0)
        _ = unsafe curl_multi_poll(raw, &extra, 1, Int32(clamping: limit.wholeMilliseconds), nil)
        return extra.revents != 0
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
