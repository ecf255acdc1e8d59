/// How one channel asks its upstream.
package struct CurlConfiguration: Equatable, Sendable {
    /// What one transfer may cost at most, all redirects together.
    package struct Limits: Equatable, Sendable {
        /// Of the body as handed on, that is after decompression.
        package var bodyBytes: Int
        /// At less than `slowest`; counted in whole seconds, rounded up.
        package var idle: Duration
        package var total: Duration
        /// Bytes per second, over some seconds: a body that trickles is as good as one that hangs.
        package var slowest: Int

        package init(bodyBytes: Int, idle: Duration, total: Duration, slowest: Int = 1) {
            self.bodyBytes = bodyBytes
            self.idle = idle
            self.total = total
            self.slowest = slowest
        }
    }

    /// Sent with every playlist, segment and key on whatever host, and after redirects: a tokenized upstream refuses any
    /// request without them. What bears a credential's name goes to the upstream's own origin only.
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
    /// No connection is made but to addresses of the public Internet (`IPAddress.isPublic`), whatever name or
    /// redirect led there: for a service that takes upstreams from others. No proxy is used then, because a proxy
    /// looks names up itself.
    package var deniesPrivate: Bool
    /// Connections are made to these all the same.
    package var permittedIPAddresses: Set<IPAddress>

    package init(
        headers: [FetchAnswer.Header] = [], userAgent: String = "liverelay", cookie: String? = nil,
        proxy: String? = nil, noProxy: String? = nil, certificateAuthorities: String? = nil,
        connectLimit: Duration = .seconds(5),
        playlistLimits: Limits = Limits(
            bodyBytes: 16 << 20, idle: .seconds(8), total: .seconds(10), slowest: 64),
        keyLimits: Limits = Limits(bodyBytes: 64 << 10, idle: .seconds(8), total: .seconds(10)),
        segmentLimits: Limits = Limits(
            bodyBytes: 256 << 20, idle: .seconds(8), total: .seconds(30), slowest: 512),
        deniesPrivate: Bool = false, permittedAddresses: Set<IPAddress> = []
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
        self.deniesPrivate = deniesPrivate
        self.permittedIPAddresses = permittedAddresses
    }

    /// A long segment may take long; one that lasts for hours is no segment.
    private static let (timesItsDuration, longestTotal) = (4, Duration.seconds(600))

    func limits(for request: FetchRequest) -> Limits {
        switch request.purpose {
        case .multivariantPlaylist, .mediaPlaylist: return playlistLimits
        case .key: return keyLimits
        case .segment, .map:
            var limits = segmentLimits
            let duration = min(request.duration ?? .zero, Self.longestTotal)
            limits.total = max(limits.total, min(duration * Self.timesItsDuration, Self.longestTotal))
            return limits
        }
    }
}
