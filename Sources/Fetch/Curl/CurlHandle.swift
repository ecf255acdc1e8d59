import CCurl

/// Owns an easy handle, with its lists and buffers, and a reference to its channel's share.
@safe
struct CurlHandle: ~Copyable {
    let raw: UnsafeMutableRawPointer
    private let errorBuffer: UnsafeMutablePointer<CChar>
    private var headers: UnsafeMutablePointer<curl_slist>?
    /// Released after the body of `deinit`, because a share must outlive its handles.
    private let share: CurlShare
    /// The error of the first option that libcurl refused; CURLE_OK if there is none.
    private(set) var firstError = CURLE_OK

    /// Returns nil if memory is exhausted.
    init?(share: CurlShare) {
        guard let raw = unsafe curl_easy_init() else { return nil }
        unsafe self.raw = raw
        unsafe errorBuffer = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe errorBuffer.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        unsafe headers = nil
        self.share = share
        unsafe recordResult(liverelay_curl_set_pointer(raw, CURLOPT_ERRORBUFFER, errorBuffer))
        unsafe recordResult(liverelay_curl_set_pointer(raw, CURLOPT_SHARE, share.raw))
    }

    deinit {
        unsafe curl_easy_cleanup(raw)
        unsafe curl_slist_free_all(headers)
        unsafe errorBuffer.deallocate()
    }

    mutating func set(_ option: CURLoption, _ value: Int) {
        unsafe recordResult(liverelay_curl_set_long(raw, option, value))
    }

    mutating func set(_ option: CURLoption, _ value: String) {
        unsafe recordResult(liverelay_curl_set_string(raw, option, value))
    }

    mutating func set(_ option: CURLoption, bytes: Int) {
        unsafe recordResult(liverelay_curl_set_offset(raw, option, curl_off_t(bytes)))
    }

    /// - Parameter lines: `Name: value`, or `Name;` for a header without a value.
    mutating func setHeaders(_ lines: [String]) {
        for line in lines {
            guard let longer = unsafe curl_slist_append(headers, line) else { return recordResult(CURLE_OUT_OF_MEMORY) }
            unsafe headers = longer
        }
        unsafe recordResult(liverelay_curl_set_headers(raw, headers))
    }

    /// Accepts the status line of a Shoutcast server, so that its answer can be recognized.
    mutating func acceptShoutcastStatus() { unsafe recordResult(liverelay_curl_accept_shoutcast(raw)) }

    /// Sets another method than GET, and a copy of `bytes` as content.
    mutating func setContent(_ bytes: [UInt8], method: String) {
        set(CURLOPT_POST, 1)
        set(CURLOPT_POSTFIELDSIZE_LARGE, bytes: bytes.count)
        var bytes = bytes
        unsafe recordResult(liverelay_curl_set_pointer(raw, CURLOPT_COPYPOSTFIELDS, &bytes))
        set(CURLOPT_CUSTOMREQUEST, method)
    }

    /// - Parameter context: passed to both callbacks and returned for `CURLINFO_PRIVATE`; not retained.
    mutating func setReceiver(
        _ context: UnsafeMutableRawPointer, body: curl_write_callback, header: curl_write_callback
    ) {
        unsafe recordResult(liverelay_curl_set_body_callback(raw, body, context))
        unsafe recordResult(liverelay_curl_set_header_callback(raw, header, context))
        unsafe recordResult(liverelay_curl_set_pointer(raw, CURLOPT_PRIVATE, context))
    }

    /// - Parameter context: passed to the callback for each connection; not retained.
    mutating func setSocketOpener(_ context: UnsafeMutableRawPointer, _ open: curl_opensocket_callback) {
        unsafe recordResult(liverelay_curl_set_socket_callback(raw, open, context))
    }

    /// Continues a transfer whose body callback paused it.
    func resume() { _ = unsafe curl_easy_pause(raw, CURLPAUSE_CONT) }

    /// The HTTP status; 0 before a status line arrived.
    var status: Int { number(CURLINFO_RESPONSE_CODE) }

    /// OpenSSL's reason for not accepting the server's certificate; 0 if the certificate was accepted.
    var verificationResult: Int { number(CURLINFO_SSL_VERIFYRESULT) }

    /// Whether the proxy refused to connect.
    var refusedTunnel: Bool {
        let status = number(CURLINFO_HTTP_CONNECTCODE)
        return status != 0 && !(200..<300).contains(status)
    }

    private func number(_ info: CURLINFO) -> Int {
        var value = 0
        return unsafe liverelay_curl_get_long(raw, info, &value) == CURLE_OK ? value : 0
    }

    /// The URL after redirects.
    var effectiveURL: String? {
        var value: UnsafeMutablePointer<CChar>?
        guard unsafe liverelay_curl_get_string(raw, CURLINFO_EFFECTIVE_URL, &value) == CURLE_OK,
            let text = unsafe value
        else { return nil }
        return unsafe String(cString: text)
    }

    /// The Content-Length of the answer, before decompression; nil if the answer has no such field.
    var contentLength: Int? {
        var value: curl_off_t = -1
        guard unsafe liverelay_curl_get_offset(raw, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &value) == CURLE_OK else {
            return nil
        }
        return value < 0 ? nil : Int(value)
    }

    /// Whether the answer is HTTP/1.0 or 1.1, where the end of the connection may end the body.
    var isHTTP1: Bool {
        var value = 0
        guard unsafe liverelay_curl_get_long(raw, CURLINFO_HTTP_VERSION, &value) == CURLE_OK else { return false }
        return [CURL_HTTP_VERSION_1_0, CURL_HTTP_VERSION_1_1].contains { $0 == value }
    }

    func message(for code: CURLcode) -> String {
        let detail = unsafe String(cString: errorBuffer)
        return unsafe detail.isEmpty ? String(cString: curl_easy_strerror(code)) : detail
    }

    private mutating func recordResult(_ code: CURLcode) {
        if firstError == CURLE_OK { firstError = code }
    }
}

/// The cookie jar, TLS sessions and connections that the transfers of one channel share. The connections are closed
/// with the share: libcurl cannot close the connections of one channel in a common pool, and providers count
/// connections as viewers.
///
/// Only the curl thread uses it, so it needs no locks.
@safe
final class CurlShare {
    let raw: UnsafeMutableRawPointer

    /// Returns nil if memory is exhausted.
    init?() {
        guard let raw = unsafe curl_share_init() else { return nil }
        unsafe self.raw = raw
        _ = unsafe liverelay_curl_share_data(raw, CURL_LOCK_DATA_COOKIE)
        _ = unsafe liverelay_curl_share_data(raw, CURL_LOCK_DATA_SSL_SESSION)
        // An upstream may count the open connections of an ended channel as viewers.
        _ = unsafe liverelay_curl_share_data(raw, CURL_LOCK_DATA_CONNECT)
    }

    deinit { _ = unsafe curl_share_cleanup(raw) }
}
