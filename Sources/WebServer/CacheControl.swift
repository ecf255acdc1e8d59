/// How long a cache may store a response (RFC 9111 §5.2.2).
package enum CacheControl: Equatable, Sendable {
    /// Never stored: the response describes the current moment.
    case noStore
    /// Fresh for that many seconds.
    case maxAge(seconds: Int)
    /// Fresh for that many seconds. A cache may show it for `stale` seconds more while it asks again, and for `ifError`
    /// seconds more while the server is away (RFC 5861). Without bounds, nginx shows the first viewer after a pause an
    /// old playlist.
    case renewed(seconds: Int, stale: Int, ifError: Int)
    /// Fresh for a year without revalidation (RFC 8246): the name never has other content.
    case immutable

    var fieldValue: String {
        switch self {
        case .noStore: "no-store"
        case .maxAge(let seconds): "max-age=\(seconds)"
        case .renewed(let seconds, let stale, let ifError):
            "max-age=\(seconds), stale-while-revalidate=\(stale), stale-if-error=\(ifError)"
        case .immutable: "max-age=31536000, immutable"
        }
    }
}

extension CacheControl {
    /// How long a playlist that changes may be stored: half a target duration (draft-pantos-hls-rfc8216bis, Appendix B),
    /// whose last second is there for one request to renew the stored copy while the others still get it. While the server
    /// is away, it may be shown as long as a live window is: a restart takes less.
    package static func playlist(targetDuration: Int) -> CacheControl {
        .renewed(seconds: max(1, targetDuration / 2 - 1), stale: 1, ifError: 30)
    }

    /// The value of the field for a response that no shared cache may store (RFC 9111 §5.2.2.7).
    var privateFieldValue: String { self == .noStore ? fieldValue : "private, " + fieldValue }
}
