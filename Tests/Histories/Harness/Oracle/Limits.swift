/// The bounds of the promises, and the known limits of the model. Times are milliseconds.
struct Limits {
    let history: History

    let silenceBeforeGap, patience, repeatable, endBelieved: Int
    /// What is listed within half a target duration, and on its way then, is one burst.
    let burstWindow: Int
    let longestSegment, trackDelay, slowness, fetchTime, pollTime: Int
    /// Times at which numbers may not tell what is new.
    let rejoins: [Int]
    /// Times in which requests fail or get old answers, in order.
    private let disturbances: [Range<Int>]
    /// Times in which damaged segments are published.
    private let damages: [Range<Int>]
    /// Whether groups of pictures are longer than the target duration.
    private let hasLongGroups: Bool

    /// Segments with which a live playlist is joined at its edge.
    static let joinSegments = 3
    /// After so many gaps, media whose time was listed is dropped.
    static let gapsBeforeLateMedia = 3
    /// How long a segment of a finished playlist is tried that fails otherwise than by a refusal.
    static let finishedPatience = 60_000
    /// Things after which the relay finds its place without the help of numbers.
    private static let hidingPlace: Set<Thing> = [
        .encoderRestart, .endedAndRestarted, .renamed, .killed, .killedInPublish, .longKill,
    ]
    /// Half an audio frame and a little, ticks.
    static func audioTolerance(_ format: MediaFormat) -> Int { format.audioFrameDuration / 2 + 120 }

    init(_ broadcast: Broadcast) {
        history = broadcast.history
        let target = history.targetDuration * 1000
        // The silence before missing time is listed as a gap (docs/failover.md).
        silenceBeforeGap = max(target * 23 / 8, 5000)
        burstWindow = target / 2 + 600
        // How long a missing segment is waited for while later media is ready (docs/failover.md).
        patience = max(target * 3, 5000)
        // Published media that may come again where numbers say nothing (decision 13).
        repeatable = max(target * 10, 60_000)
        // How long a live channel goes on after EXT-X-ENDLIST (decision 31).
        endBelieved = target * 7 / 2
        let nominal = history.segmentDuration * (history.has(.unevenSegments) ? 2 : 1)
        // The program before an ad inside a segment makes that one longer.
        let longer = history.has(.insideBreak) ? broadcast.segments.map(\.duration).max() ?? 0 : 0
        longestSegment = history.has(.rawStream) ? Self.longestStreamSegment : max(nominal, longer)
        // A channel is published behind its latest audio rendition (docs/tracks.md).
        trackDelay = history.renditions.isEmpty ? 0 : patience
        slowness = history.has(.slowAnswers) ? history.segmentDuration : 0
        // The time in peace within which a listed segment is loaded, whatever failed before.
        fetchTime = 4000 + 2 * slowness
        // The time in peace within which a playlist is loaded: the longest pause after failures.
        pollTime = 2 * target + 3000
        rejoins =
            history.has(.backup)
            ? Array(stride(from: 0, to: history.length, by: 10_000))
            : history.events.filter { Self.hidingPlace.contains($0.thing) }.map(\.end)
        disturbances = history.events.compactMap { [history] in $0.disturbance(history) }
            .sorted { $0.lowerBound < $1.lowerBound }
        let longest = longestSegment
        damages = broadcast.segments.filter { $0.fault?.thing == .damagedSegment }.map {
            $0.start - longest..<$0.end + 3 * longest + 15_000
        }
        hasLongGroups = broadcast.segments.contains {
            $0.parts.contains { $0.format.groupDuration > broadcast.history.targetDuration * 90_000 }
        }
    }

    /// How many segments from the end a playlist is joined at most. The clock of a manifest's server says what there is, and is
    /// told in whole seconds.
    var longestJoin: Int {
        let lag = history.has(.clockDrift) ? max(0, 1000 - history.clockLead) : 0
        return Self.joinSegments + 1 + (lag + history.segmentDuration - 1) / history.segmentDuration
    }

    /// Whether the host still gets one request at a time, so slowly that what it lists may come late.
    func isSlowed(at time: Int) -> Bool {
        history.all(.rateLimited).contains { $0.at < time && time < $0.slowedUntil(history) }
    }

    /// The longest time within a range in which nothing is wrong with host, playlist or keys.
    func peace(from start: Int, until end: Int) -> Int {
        var (longest, from) = (0, start)
        for disturbed in disturbances where disturbed.lowerBound < end && disturbed.upperBound > start {
            longest = max(longest, disturbed.lowerBound - from)
            from = max(from, disturbed.upperBound)
        }
        return max(longest, end - from)
    }

    /// A group longer than the target duration is cut all the same, so that a segment begins without a sync sample. So does
    /// one whose key frame is damaged.
    func excuses(_ rule: String) -> Bool {
        (hasLongGroups || !damages.isEmpty) && (rule.hasPrefix("promise independence") || rule.hasPrefix("31:"))
    }

    /// The longest time without a new segment.
    func standstill(from start: Int, to end: Int) -> Int {
        if history.has(.rawStream) { return streamStandstill(from: start, to: end) + asleep(from: start, to: end) }
        let isDisturbed = isDisturbed(from: start, to: end) { $0.thing != .tokenExpired }
        let peaceful = longestSegment + history.targetDuration * 500 + 1000
        return (isDisturbed ? silenceBeforeGap + 3 * longestSegment + 2000 : peaceful) + slowness + trackDelay
            + asleep(from: start, to: end)
    }

    /// How long after its end a segment is published; nil: it has no bound, because something was wrong.
    func latency(of segment: Broadcast.Segment) -> Int? {
        let isDisturbed = isDisturbed(from: segment.end, to: segment.end + 15_000) { !$0.thing.isOfRendition }
        guard !isDisturbed, segment.end > 0, !history.has(.rawStream) else { return nil }
        return 2 * longestSegment + history.targetDuration * 1000 + 1500 + slowness + trackDelay
    }

    /// Whether nothing tells that a body without a length was cut: the clear bytes of an encrypted one are published
    /// (docs/upstreams.md).
    func hidesCuts(of segment: Broadcast.Segment) -> Bool { segment.key != nil }

    /// How long media waits before a time, without the time in which it is loaded.
    ///
    /// It is published after the next segment has begun. In peace, renditions come with it. Where something is wrong, it
    /// waits for them as long as the patience (docs/tracks.md), and what waits for audio when an outage begins is published
    /// with the first gap.
    func hold(before end: Int) -> Int {
        let own = 2 * longestSegment + 2500
        let isLate = [.laggingLanguage, .languageComes, .languageEnds].contains(where: history.has)
        let waits = !history.renditions.isEmpty && (isLate || !isPeaceful(before: end))
        return time(awake: own + (waits ? trackDelay + silenceBeforeGap : 0), before: end)
    }

    /// Whether what is published at a time may be damaged: times and parameter sets may be others than those of the frames.
    func isDamaged(at time: Int) -> Bool { damages.contains { $0.contains(time) } }

    /// Whether nothing delays media before a time.
    func isPeaceful(before time: Int) -> Bool { !isDisturbed(from: time - 10_000, to: time) { _ in true } }

    /// Whether anything delays media in a range, or did so shortly before.
    private func isDisturbed(from start: Int, to end: Int, where isCounted: (Event) -> Bool) -> Bool {
        history.events.contains { $0.delaysMedia && isCounted($0) && $0.at < end && $0.end + 25_000 > start }
    }
}

extension Event {
    fileprivate var delaysMedia: Bool {
        thing.isOfSegment || thing.isOfRendition || duration > 0 || thing == .tokenExpired
    }

    /// When a host that has refused requests has caught up. It gets one request at a time for a minute
    /// (docs/failover.md), which is enough unless answers take long or are those of several renditions.
    fileprivate func slowedUntil(_ history: History) -> Int {
        let isSlow = history.has(.slowAnswers) || history.has(.dash) || !history.renditions.isEmpty
        return end + (isSlow ? 63_000 : 4000)
    }

    /// The time in which requests fail or get old answers; nil: it disturbs none.
    fileprivate func disturbance(_ history: History) -> Range<Int>? {
        switch thing {
        case .stalePlaylist, .laggingPlaylist, .refusedPlaylist, .pagePlaylist, .cutPlaylist, .slowPlaylist,
            .keyRefused, .unreachable, .longOutage, .tokenExpired, .refusedMap, .edgeMoves, .variantVanishes,
            .variantRefused, .encoderRestart, .endedAndRestarted, .renumbered, .renamed:
            at..<end + 1000
        case .asleep, .slowDisk, .fullDisk: at..<end + 2000
        case .rateLimited: at..<slowedUntil(history)
        case .silent: at..<end + 9000
        default: nil
        }
    }
}
