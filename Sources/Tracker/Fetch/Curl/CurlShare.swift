import CCurl

/// The cookie jar and the TLS sessions that the transfers of one channel share.
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
    }

    deinit { _ = unsafe curl_share_cleanup(raw) }
}
