import CCurl

/// What the transfers of one channel have in common: the cookie jar and the TLS sessions. Lives on the curl thread and
/// is used by it alone, so it needs no locks.
@safe
final class CurlShare {
    let raw: UnsafeMutableRawPointer

    /// nil when memory is out.
    init?() {
        guard let raw = unsafe curl_share_init() else { return nil }
        unsafe self.raw = raw
        _ = unsafe liverelay_curl_share_data(raw, CURL_LOCK_DATA_COOKIE)
        _ = unsafe liverelay_curl_share_data(raw, CURL_LOCK_DATA_SSL_SESSION)
    }

    deinit { _ = unsafe curl_share_cleanup(raw) }
}
