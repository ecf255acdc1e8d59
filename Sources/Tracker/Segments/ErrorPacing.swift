import Fetch
import Playlist
import Support

/// Spaces the requests for media, keys and maps to hosts where all of them fail.
///
/// Every missing segment of the window is tried again each second. Such a host gets four such requests a second
/// in all, and one a second if that has not helped for a minute: first for what was requested least recently, so that new
/// segments are not kept waiting by old ones. Its playlists are not delayed.
struct ErrorPacing: Equatable, Sendable {
    /// Failed requests of a host since the last success, and the start of the last request.
    private struct Streak: Equatable, Sendable {
        var failures = 0
        var lastStart: Duration

        /// The host gets no request before this time; nil if too few failed.
        var pauseEnd: Duration? {
            guard failures >= ErrorPacing.tolerated else { return nil }
            return lastStart + (failures < ErrorPacing.hopeful ? ErrorPacing.interval : ErrorPacing.longInterval)
        }
    }

    /// The number of failures in a row from which on requests are spaced.
    private static let tolerated = 3
    /// The number of failures in a row from which on requests are rare: those of a minute.
    private static let hopeful = 240
    /// The time between two requests to such a host.
    private static let interval = Duration.milliseconds(250)
    private static let longInterval = Duration.seconds(1)

    /// By host. Only hosts with failures are in it.
    private var streaks: [String: Streak] = [:]

    func admits(_ url: String, at now: Duration) -> Bool {
        guard !streaks.isEmpty, let pauseEnd = streaks[Self.host(of: url)]?.pauseEnd else { return true }
        return pauseEnd <= now
    }

    func isSpaced(_ url: String) -> Bool {
        !streaks.isEmpty && streaks[Self.host(of: url)]?.pauseEnd != nil
    }

    mutating func began(_ url: String, at now: Duration) {
        if !streaks.isEmpty { streaks[Self.host(of: url)]?.lastStart = now }
    }

    mutating func succeeded(_ url: String) {
        if !streaks.isEmpty { streaks[Self.host(of: url)] = nil }
    }

    mutating func failed(_ url: String, at now: Duration) {
        let host = Self.host(of: url)
        if streaks.count >= HostLimiter.maxRememberedHosts, streaks[host] == nil { streaks = [:] }
        streaks[host, default: Streak(lastStart: now)].failures += 1
    }

    /// The next time at which such a host may get a request.
    func nextDeadline(after now: Duration) -> Duration? {
        streaks.values.compactMap(\.pauseEnd).filter { $0 > now }.min()
    }

    private static func host(of url: String) -> String { URIReference.host(of: url) ?? "" }
}

/// Whether requests for media, keys and maps may start at one time.
struct FetchAdmission: Sendable {
    let limiter: HostLimiter
    let pacing: ErrorPacing
    let now: Duration

    func admits(_ url: String) -> Bool { limiter.admits(url, at: now) && pacing.admits(url, at: now) }

    /// Whether the least recent of several requests goes first, instead of the first in playlist order.
    func isSpaced(_ url: String) -> Bool { pacing.isSpaced(url) }
}
