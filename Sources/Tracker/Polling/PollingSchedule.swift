/// Decides when a media playlist is loaded again, in the mode that the session asks for.
struct PollingSchedule: Equatable, Sendable {
    /// What a whole playlist tells about the next load.
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

    /// Returns the URL of the next load.
    func directed(_ url: String) -> String { blocking?.directed(url) ?? url }

    mutating func began(at now: Duration) {
        began = now
        standard.began(at: now)
    }

    /// Returns when the playlist may be loaded before the next scheduled load.
    func earliest(at now: Duration) -> Duration { standard.earliest(at: now) }

    /// Returns when to load again after a failure.
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
