import CCurl

/// The cookie jar, the TLS sessions and the connections that the transfers of one channel share. Its connections are
/// closed with it: libcurl cannot close those of one channel in a common pool, and providers count connections as
/// viewers.
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
        // An upstream may count the connections of a channel that ended as its viewers.
        _ = unsafe liverelay_curl_share_data(raw, CURL_LOCK_DATA_CONNECT)
    }

    deinit { _ = unsafe curl_share_cleanup(raw) }
}
