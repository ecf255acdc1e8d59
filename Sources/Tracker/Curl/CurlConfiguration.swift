/// How one channel asks its upstream.
package struct CurlConfiguration: Equatable, Sendable {
    /// What one transfer may cost at most, all redirects together.
    package struct Limits: Equatable, Sendable {
        /// Of the body as handed on, that is after decompression.
        package var bodyBytes: Int
        /// Without a single byte per second; counted in whole seconds, rounded up.
        package var idle: Duration
        package var total: Duration

        package init(bodyBytes: Int, idle: Duration, total: Duration) {
            self.bodyBytes = bodyBytes
            self.idle = idle
            self.total = total
        }
    }

    /// Sent with every playlist, segment and key on whatever host, and after redirects: a tokenized upstream refuses any
    /// request without them. Authorization and Cookie go to the upstream's own origin only.
    package var headers: [FetchAnswer.Header]
    package var userAgent: String
    /// `name=value` pairs separated by `;`, where the channel's cookie jar starts from.
    package var cookie: String?
    /// Address of an HTTP or SOCKS proxy; nil leaves the choice to the environment (http_proxy and the like).
    package var proxy: String?
    /// Hosts reached without a proxy, separated by commas; "*" is all, nil leaves the choice to the environment.
    package var noProxy: String?
    /// Path of a PEM file with the authorities to trust; nil for those of the system.
    package var certificateAuthorities: String?
    /// For the name, the connection and its TLS handshake, together.
    package var connectLimit: Duration
    package var playlistLimits: Limits
    package var keyLimits: Limits
    /// Segments and EXT-X-MAP sections.
    package var segmentLimits: Limits

    package init(
        headers: [FetchAnswer.Header] = [], userAgent: String = "liverelay", cookie: String? = nil,
        proxy: String? = nil, noProxy: String? = nil, certificateAuthorities: String? = nil,
        connectLimit: Duration = .seconds(5),
        playlistLimits: Limits = Limits(bodyBytes: 16 << 20, idle: .seconds(8), total: .seconds(10)),
        keyLimits: Limits = Limits(bodyBytes: 64 << 10, idle: .seconds(8), total: .seconds(10)),
        segmentLimits: Limits = Limits(bodyBytes: 256 << 20, idle: .seconds(8), total: .seconds(30))
    ) {
        self.headers = headers
        self.userAgent = userAgent
        self.cookie = cookie
        self.proxy = proxy
        self.noProxy = noProxy
        self.certificateAuthorities = certificateAuthorities
        self.connectLimit = connectLimit
        self.playlistLimits = playlistLimits
        self.keyLimits = keyLimits
        self.segmentLimits = segmentLimits
    }

    func limits(for purpose: FetchRequest.Purpose) -> Limits {
        switch purpose {
        case .multivariantPlaylist, .mediaPlaylist: playlistLimits
        case .key: keyLimits
        case .segment, .map: segmentLimits
        }
    }
}
