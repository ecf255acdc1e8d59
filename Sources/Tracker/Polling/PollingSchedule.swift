/// Decides when a media playlist is loaded again, in the mode that the session asks for.
struct PollingSchedule: Equatable, Sendable {
    /// The content of a whole playlist that the time of the next load depends on.
    struct Reading: Equatable, Sendable {
        var outcome: ReloadSchedule.Load
        var targetDuration: Duration
        /// As in `EdgeSchedule.Load`.
        var newSegments: [Duration] = []
        var freshness = CacheFreshness()
        var datedEnd: Duration?
        /// Whether media before the new segments is missing, so that their media time is unknown.
        var isDisconnected = false
        /// The media sequence number that a blocking reload waits for; nil if the upstream offers none.
        var blockingNext: UInt64?
    }

    private(set) var standard = ReloadSchedule()
    private var edge: EdgeSchedule?
    private var blocking: BlockingReload?
    private var began = Duration.zero

    init(_ mode: PollingMode) {
        edge = mode == .standard ? nil : EdgeSchedule()
        blocking = mode == .blocking ? BlockingReload() : nil
    }

    var state: PollingState {
        if isBlocking { return .blocking }
        guard let edge, !edge.isExhausted else { return .standard }
        return edge.isHolding ? .holding : .learning
    }

    /// Whether the server may hold back its answer to the next load.
    var isBlocking: Bool { blocking?.mediaSequence != nil }

    func directed(_ url: String) -> String { blocking?.directed(url) ?? url }

    mutating func began(at now: Duration) {
        began = now
        standard.began(at: now)
    }

    /// Returns when the playlist may be loaded before the next scheduled load.
    func earliest(at now: Duration) -> Duration { standard.earliest(at: now) }

    mutating func next(afterFailureAt now: Duration, targetDuration: Duration) -> Duration? {
        blocking?.failed(at: now)
        return standard.next(after: .failed, targetDuration: targetDuration, at: now)
    }

    /// Returns when to load again after a playlist was read; nil after the end.
    mutating func next(after reading: Reading, at now: Duration) -> Duration? {
        guard let standard = standard.next(after: reading.outcome, targetDuration: reading.targetDuration, at: now)
        else { return nil }
        if reading.isDisconnected { edge?.restart() }
        // An answer that was held back came at the moment of publication.
        let load = EdgeSchedule.Load(
            began: isBlocking ? now : began, ended: now, newSegments: reading.newSegments,
            targetDuration: reading.targetDuration, freshness: reading.freshness, datedEnd: reading.datedEnd,
            standard: standard)
        let next = edge?.next(after: load) ?? standard
        blocking?.loaded(next: reading.blockingNext, grew: !reading.newSegments.isEmpty, at: now)
        return isBlocking ? max(now, began + EdgeSchedule.shortestWait(segmentDuration: reading.targetDuration)) : next
    }
}

/// How the reloads of a live media playlist are timed.
package enum PollingMode: String, CaseIterable, Sendable {
    /// By the standard's schedule (RFC 8216 §6.3.4).
    case standard
    /// Just after the upstream publishes a segment (`EdgeSchedule`).
    case edge
    /// As `edge`, but with blocking reloads where the upstream offers them (`BlockingReload`).
    case blocking
}

/// The rule for the next load of a playlist at present.
package enum PollingState: String, Equatable, Sendable {
    /// The standard's schedule.
    case standard
    /// The moment of publication, which is being searched for.
    case learning
    /// The moment of publication, which is known.
    case holding
    /// The upstream, which holds back its answer until there is a new segment.
    case blocking
}

/// Blocking reloads: the server holds back its answer until the playlist lists a segment (draft-pantos-hls-rfc8216bis
/// §6.2.5.2).
///
/// Only a playlist with CAN-BLOCK-RELOAD is loaded so. After a blocking load that fails or lists nothing new, loads are
/// ordinary for a while, because the server may not do what it offers.
struct BlockingReload: Equatable, Sendable {
    static let pause = Duration.seconds(600)
    /// How long a server may hold back its answer, in target durations, and at most.
    static let targetDurationsHeld = 3
    static let longestHold = Duration.seconds(60)

    /// The media sequence number that the next load waits for; nil: an ordinary load.
    private(set) var mediaSequence: UInt64?
    private var pausedUntil = Duration.zero

    /// - Parameters:
    ///   - next: the first media sequence number that is not listed yet; nil if the playlist offers no blocking reload.
    ///   - grew: whether the load listed something new.
    mutating func loaded(next: UInt64?, grew: Bool, at now: Duration) {
        if mediaSequence != nil, !grew { pausedUntil = now + Self.pause }
        mediaSequence = now >= pausedUntil ? next : nil
    }

    mutating func failed(at now: Duration) {
        if mediaSequence != nil { pausedUntil = now + Self.pause }
        mediaSequence = nil
    }

    func directed(_ url: String) -> String {
        guard let mediaSequence else { return url }
        let address = url.prefix { $0 != "#" }
        return "\(address)\(address.contains("?") ? "&" : "?")_HLS_msn=\(mediaSequence)"
    }
}
