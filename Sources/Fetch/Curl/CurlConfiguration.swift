package import Support

/// The options of one channel's requests.
package struct CurlConfiguration: Equatable, Sendable {
    /// Limits of one transfer, including all redirects.
    package struct Limits: Equatable, Sendable {
        /// The limit for the body after decompression.
        package var bodyBytes: Int
        /// The longest time below `minBytesPerSecond`, rounded up to whole seconds.
        package var idle: Duration
        package var total: Duration
        /// The lowest speed, averaged over some seconds. A slower transfer counts as stalled.
        package var minBytesPerSecond: Int

        package init(bodyBytes: Int, idle: Duration, total: Duration, minBytesPerSecond: Int = 1) {
            self.bodyBytes = bodyBytes
            self.idle = idle
            self.total = total
            self.minBytesPerSecond = minBytesPerSecond
        }
    }

    /// Headers of every request, on all hosts and after redirects.
    ///
    /// A tokenized upstream refuses requests without them. Headers with the name of a credential are sent to the
    /// upstream's own origin only.
    package var headers: [RequestHeader] = []
    package var userAgent = "liverelay"
    /// The first cookies of the channel's cookie jar: `name=value` pairs separated by `;`.
    package var cookie: Secret?
    /// URL of an HTTP or SOCKS proxy; nil: as in the environment (http_proxy and similar variables).
    package var proxy: Secret?
    /// Hosts reached without a proxy, separated by commas; "*": all hosts; nil: as in the environment.
    package var noProxy: String?
    /// Path of a PEM file of certificate authorities that are trusted in addition to the system's directory; nil: the
    /// authorities of the environment or the system.
    package var certificateAuthorities: String?
    /// Whether the certificates of servers are verified.
    package var verifiesCertificates = true
    /// The time limit for name resolution, connection and TLS handshake together.
    package var connectLimit = Duration.seconds(5)
    package var playlistLimits = Limits(
        bodyBytes: MemoryBudget().playlistBytes, idle: .seconds(8), total: .seconds(10), minBytesPerSecond: 64)
    package var keyLimits = Limits(bodyBytes: 64 << 10, idle: .seconds(8), total: .seconds(10))
    /// Segments and EXT-X-MAP sections.
    package var segmentLimits = Limits(
        bodyBytes: MemoryBudget().segmentBytes, idle: .seconds(8), total: .seconds(30), minBytesPerSecond: 512)
    /// Whether connections are made only to public IP addresses (`IPAddress.isPublic`), whatever name or redirect led
    /// there.
    ///
    /// This is for services that accept upstreams from others. No proxy is used then, because a proxy resolves names
    /// itself.
    package var deniesPrivate = false
    /// Private IP addresses that are permitted nevertheless.
    package var permittedIPAddresses: Set<IPAddress> = []
    /// Name of the interface at which multicast groups are joined; nil: as the routes say.
    package var multicastInterface: String?

    package init() {}

    /// The time limit of a long segment as a multiple of its duration, and the maximum of that limit.
    private static let (durationFactor, longestTotal) = (4, Duration.seconds(600))

    /// The largest EXT-X-MAP section, or whole file if the section is a byte range of it, in bytes. Real sections have
    /// some kilobytes.
    private static let largestMap = 2 << 20
    /// The largest byte range of a media file that is requested as an EXT-X-MAP section, in bytes: the sample tables of
    /// a day of media.
    private static let largestIndex = 16 << 20

    package mutating func apply(_ memory: MemoryBudget) {
        segmentLimits.bodyBytes = memory.segmentBytes
        playlistLimits.bodyBytes = memory.playlistBytes
    }

    func limits(for request: FetchRequest) -> Limits {
        switch request.purpose {
        case .multivariantPlaylist, .mediaPlaylist:
            var limits = playlistLimits
            limits.total += request.duration ?? .zero
            limits.idle += request.duration ?? .zero
            limits.bodyBytes = min(limits.bodyBytes, request.byteLimit ?? .max)
            return limits
        case .key: return keyLimits
        case .segment, .map:
            var limits = segmentLimits
            let part = min(Int(clamping: request.byteRange?.length ?? 0), Self.largestIndex)
            let largest = request.purpose == .map ? max(part, Self.largestMap) : Int.max
            limits.bodyBytes = min(limits.bodyBytes, largest, request.byteLimit ?? .max)
            let duration = min(request.duration ?? .zero, Self.longestTotal)
            limits.total = max(limits.total, min(duration * Self.durationFactor, Self.longestTotal))
            return limits
        }
    }
}
