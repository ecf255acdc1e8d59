package import Conformance
package import Fetch
import Support

/// The end of a check.
package struct Followed: Sendable {
    package let checker: ChannelChecker
    /// The outcome of the first request.
    package let first: FetchOutcome?
    /// Whether the channel ended while it was followed.
    package let hasEnded: Bool
    /// Segments that were not fetched because the client was too slow.
    package let skippedSegments: Int
}

/// Decides what is fetched next: a value, which a driver with a clock and a fetcher asks.
struct FollowState {
    private struct Reload {
        let stream: Int
        let at: Duration
    }

    private(set) var checker: ChannelChecker
    private let connections: Int
    private let options: Limits
    private var reloads: [Reload] = []
    private var resources: [CheckTarget] = []
    private var segments: [CheckTarget] = []
    /// Removed segments that are asked for again, and when.
    private var probes: [(target: CheckTarget, at: Duration)] = []
    private var probedStreams: Set<Int> = []
    private var joined: Set<Int> = []
    private var first: FetchOutcome?
    private var firstTarget: CheckTarget?
    private var hasFirst = false
    private var skipped = 0
    private var hasEndedLive = false
    private var ended: Set<Int> = []
    var inFlight = 0
    var isOver = false

    struct Limits {
        let firstSegments: Int
        let mostPending: Int
        let isLocal: Bool
    }

    init<C>(url: String, options: ChannelFollower<C>.Options) {
        checker = ChannelChecker(url: url, variants: options.variants, excluded: options.excluded)
        connections = options.connections
        self.options = Limits(
            firstSegments: options.firstSegments, mostPending: options.mostPending, isLocal: options.isLocal)
        firstTarget = CheckTarget(.playlist(-1), url: url)
    }

    var isLive: Bool {
        guard !options.isLocal else { return false }
        return checker.streams.isEmpty || checker.streams.contains { $0.playlist.current?.isLive ?? true }
    }

    /// When the next request is due that waits for a time; nil if nothing is left.
    var wakeTime: Duration? {
        if firstTarget != nil || !resources.isEmpty || !segments.isEmpty { return .zero }
        return reloads.map(\.at).min()
    }

    /// Removes and returns what to fetch now.
    mutating func next(at now: Duration) -> CheckTarget? {
        if let target = firstTarget {
            firstTarget = nil
            return target
        }
        if !isOver,
            let index = reloads.indices.filter({ reloads[$0].at <= now }).min(by: { reloads[$0].at < reloads[$1].at })
        {
            let reload = reloads.remove(at: index)
            return CheckTarget(.playlist(reload.stream), url: checker.streams[reload.stream].url)
        }
        if isOver { return nil }
        if !resources.isEmpty { return resources.removeFirst() }
        if !segments.isEmpty { return segments.removeFirst() }
        guard connections > 1, let index = probes.firstIndex(where: { $0.at <= now }) else { return nil }
        return probes.remove(at: index).target
    }

    mutating func handle(_ target: CheckTarget, _ outcome: FetchOutcome, _ time: AnswerTime) {
        inFlight -= 1
        if !hasFirst {
            hasFirst = true
            first = outcome
        }
        let before = checker.streams.map { $0.playlist.current?.end }
        let found = checker.handle(
            CheckedAnswer(outcome, to: target.resource, at: time, isLocal: options.isLocal))
        for next in found { enqueue(next) }
        switch target.kind {
        case .playlist(-1):
            if checker.master == nil, !checker.streams.isEmpty { planReload(0, time, hasChanged: true) }
        case .playlist(let stream):
            let current = checker.streams[stream].playlist.current
            planReload(stream, time, hasChanged: current != nil && current?.end != before[stream])
        case .map, .key, .asset, .assets, .segment: break
        }
        trim()
    }

    private mutating func enqueue(_ target: CheckTarget) {
        switch target.kind {
        case .playlist(let stream): reloads.append(Reload(stream: stream, at: .zero))
        case .map, .key, .asset, .assets: resources.append(target)
        case .segment: segments.append(target)
        }
    }

    /// RFC 8216bis §6.3.4: a target duration after a change, half of one otherwise.
    private mutating func planReload(_ stream: Int, _ time: AnswerTime, hasChanged: Bool) {
        guard let playlist = checker.streams[stream].playlist.current else {
            // The playlist was not answered: players try again.
            if checker.streams[stream].playlist.versions == 0 {
                reloads.append(Reload(stream: stream, at: time.received + .seconds(2)))
            }
            return
        }
        let target = Duration.seconds(max(1, playlist.targetDuration ?? 6))
        if joined.insert(stream).inserted {
            if playlist.isLive, !options.isLocal { join(stream) }
        } else {
            planProbe(stream, time.received)
        }
        if playlist.hasEndList, checker.streams[stream].playlist.versions > 1, ended.insert(stream).inserted {
            hasEndedLive = true
            // The end has to be final.
            reloads.append(Reload(stream: stream, at: time.received + target))
        }
        guard playlist.isLive, !options.isLocal else { return }
        reloads.append(Reload(stream: stream, at: time.requested + (hasChanged ? target : target / 2)))
    }

    /// Leaves out all but the newest segments of a live playlist.
    private mutating func join(_ stream: Int) {
        let own = segments.indices.filter { segments[$0].stream == stream }
        let excess = own.dropLast(options.firstSegments)
        for index in excess.reversed() { segments.remove(at: index) }
    }

    /// Leaves out the oldest segments of a live channel that is faster than the client.
    private mutating func trim() {
        guard isLive else { return }
        let most = options.mostPending * max(1, checker.streams.count)
        guard segments.count > most else { return }
        skipped += segments.count - most
        segments.removeFirst(segments.count - most)
    }

    /// Plans to ask for one removed segment of each stream before its term ends.
    private mutating func planProbe(_ stream: Int, _ now: Duration) {
        guard connections > 1, !probedStreams.contains(stream) else { return }
        let measured = checker.streams[stream].media.measured
        let removed = checker.streams[stream].playlist.listed.values.filter { $0.removedAt != nil }
            .max { $0.segment.sequence < $1.segment.sequence }
        guard let removed, let at = removed.removedAt, measured[removed.segment.sequence] != nil else { return }
        probedStreams.insert(stream)
        let segment = removed.segment
        probes.append(
            (
                CheckTarget(
                    .segment(stream: stream, sequence: segment.sequence), url: segment.uri,
                    byteRange: segment.byteRange,
                    duration: segment.duration), at + removed.term * 4 / 5
            ))
    }

    consuming func finished() -> Followed {
        if connections == 1 { checker.recordObstacle(.removedSegments, "there is one connection only") }
        checker.finish()
        return Followed(checker: checker, first: first, hasEnded: hasEndedLive, skippedSegments: skipped)
    }
}

extension CheckTarget {
    fileprivate var stream: Int? {
        switch kind {
        case .playlist(let stream), .segment(let stream, _): stream
        default: nil
        }
    }
}
