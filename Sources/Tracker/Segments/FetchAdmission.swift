import Fetch

/// Whether requests for media, keys and maps may start at one time.
struct FetchAdmission: Sendable {
    let limiter: HostLimiter
    let pacing: ErrorPacing
    let now: Duration

    func admits(_ url: String) -> Bool { limiter.admits(url, at: now) && pacing.admits(url, at: now) }

    /// Whether the least recent of several requests goes first, instead of the first in playlist order.
    func isSpaced(_ url: String) -> Bool { pacing.isSpaced(url) }
}
