import CCurl

/// Owner of one easy handle, of the lists and buffers it points into, and of its channel's share.
@safe
struct CurlHandle: ~Copyable {
    let raw: UnsafeMutableRawPointer
    private let message: UnsafeMutablePointer<CChar>
    private var headers: UnsafeMutablePointer<curl_slist>?
    /// Released after `deinit`'s body: a share must outlive the handles in it.
    private let share: CurlShare
    /// The first option libcurl would not take; CURLE_OK if it took all.
    private(set) var firstError = CURLE_OK

    /// nil when memory is out.
    init?(share: CurlShare) {
        guard let raw = unsafe curl_easy_init() else { return nil }
        unsafe self.raw = raw
        unsafe message = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe message.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        unsafe headers = nil
        self.share = share
        unsafe recordResult(liverelay_curl_set_pointer(raw, CURLOPT_ERRORBUFFER, message))
        unsafe recordResult(liverelay_curl_set_pointer(raw, CURLOPT_SHARE, share.raw))
    }

    deinit {
        unsafe curl_easy_cleanup(raw)
        unsafe curl_slist_free_all(headers)
        unsafe message.deallocate()
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

    /// - Parameter lines: `Name: value` each, or `Name;` for one without a value.
    mutating func setHeaders(_ lines: [String]) {
        for line in lines {
            guard let longer = unsafe curl_slist_append(headers, line) else { return recordResult(CURLE_OUT_OF_MEMORY) }
            unsafe headers = longer
        }
        unsafe recordResult(liverelay_curl_set_headers(raw, headers))
    }

    /// - Parameter context: what both callbacks and `CURLINFO_PRIVATE` hand back; not retained.
    mutating func setReceiver(
        _ context: UnsafeMutableRawPointer, body: curl_write_callback, header: curl_write_callback
    ) {
        unsafe recordResult(liverelay_curl_set_body_callback(raw, body, context))
        unsafe recordResult(liverelay_curl_set_header_callback(raw, header, context))
        unsafe recordResult(liverelay_curl_set_pointer(raw, CURLOPT_PRIVATE, context))
    }

    /// - Parameter context: what the callback is handed for each connection to be made; not retained.
    mutating func setSocketOpener(_ context: UnsafeMutableRawPointer, _ open: curl_opensocket_callback) {
        unsafe recordResult(liverelay_curl_set_socket_callback(raw, open, context))
    }

    /// 0 until a status line came.
    var status: Int {
        var value = 0
        return unsafe liverelay_curl_get_long(raw, CURLINFO_RESPONSE_CODE, &value) == CURLE_OK ? value : 0
    }

    /// The address after redirects.
    var effectiveURL: String? {
        var value: UnsafeMutablePointer<CChar>?
        guard unsafe liverelay_curl_get_string(raw, CURLINFO_EFFECTIVE_URL, &value) == CURLE_OK,
            let text = unsafe value
        else { return nil }
        return unsafe String(cString: text)
    }

    /// Content-Length of the answer being received, before decompression.
    var announcedBytes: Int? {
        var value: curl_off_t = -1
        guard unsafe liverelay_curl_get_offset(raw, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &value) == CURLE_OK else {
            return nil
        }
        return value < 0 ? nil : Int(value)
    }

    /// HTTP/1.0 or 1.1, where the end of a body may be the end of its connection; HTTP/2 says where a body ends.
    var isHTTP1: Bool {
        var value = 0
        guard unsafe liverelay_curl_get_long(raw, CURLINFO_HTTP_VERSION, &value) == CURLE_OK else { return false }
        return [CURL_HTTP_VERSION_1_0, CURL_HTTP_VERSION_1_1].contains { $0 == value }
    }

    /// What libcurl says about the failure, in words.
    func explanation(of code: CURLcode) -> String {
        let detail = unsafe String(cString: message)
        return unsafe detail.isEmpty ? String(cString: curl_easy_strerror(code)) : detail
    }

    private mutating func recordResult(_ code: CURLcode) {
        if firstError == CURLE_OK { firstError = code }
    }
}
