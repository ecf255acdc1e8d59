import CCurl

extension FetchError.Reason {
    /// The reason for a libcurl result code.
    ///
    /// - Parameter answered: whether a status line arrived. libcurl has one code for redirects to an unsupported scheme
    ///   and for answers that are not HTTP.
    init(_ code: CURLcode, answered: Bool) {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: self = .unresolvedHost
        case CURLE_COULDNT_CONNECT: self = .refused
        case CURLE_OPERATION_TIMEDOUT: self = .timedOut
        case CURLE_PARTIAL_FILE: self = .shortBody
        case CURLE_FILESIZE_EXCEEDED: self = .tooLarge
        case CURLE_TOO_MANY_REDIRECTS: self = .tooManyRedirects
        case CURLE_UNSUPPORTED_PROTOCOL where answered: self = .unsupportedScheme
        case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM: self = .reset
        case _ where tlsCodes.contains(code.rawValue): self = .tlsFailure
        default: self = .other
        }
    }
}

private let tlsCodes = Set(
    [
        CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
        CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_CRL_BADFILE,
        CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS, CURLE_USE_SSL_FAILED,
    ].map(\.rawValue))
