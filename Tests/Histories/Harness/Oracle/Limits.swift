import PlaylistRules

/// The bounds of the promises, and the known limits. Times are milliseconds.
enum Limits {
    // MARK: - docs/failover.md

    /// Target durations, in eighths, and the shortest silence before missing time is listed as a gap.
    static let gapTolerance = (eighths: 23, atLeast: 5000)
    /// After so many gaps, media whose time was listed is dropped.
    static let gapsBeforeLateMedia = 3

    static func silenceBeforeGap(_ history: History) -> Int {
        max(gapTolerance.eighths * history.targetDuration * 125, gapTolerance.atLeast)
    }

    /// Whether gaps were listed for a segment's time, so many that it comes too late.
    static func isLate(_ segment: Broadcast.Segment, _ oracle: Oracle) -> Bool {
        var gaps: [Int] = []
        for listed in oracle.record.segments {
            guard listed.text.isGap else {
                gaps = []
                continue
            }
            gaps.append(listed.at)
            guard gaps.count >= gapsBeforeLateMedia, let first = gaps.first else { continue }
            let silence = first - silenceBeforeGap(oracle.history) - longestSegment(oracle.history)
            if segment.end > silence, segment.start < listed.at { return true }
        }
        return false
    }

    /// How long a missing segment is waited for while later media is ready: no longer than until a gap would be listed.
    static func patience(_ history: History) -> Int { max(3 * history.targetDuration * 1000, 5000) }

    /// Segments with which a live playlist is joined at its edge.
    static let joinSegments = 3

    /// Published media that may come again where numbers say nothing (decision 13).
    static func repeatable(_ history: History) -> Int { max(60_000, history.targetDuration * 10_000) }

    /// Half an audio frame, ticks.
    static let audioTolerance = 1080

    // MARK: - Bounds of this model

    /// The time after which media that came is published: the next segment has begun, and was loaded.
    static func hold(_ history: History) -> Int {
        // What waits for audio when an outage begins is published with the first gap.
        let flush = history.renditions.isEmpty ? 0 : silenceBeforeGap(history)
        return 2 * longestSegment(history) + 2500 + renditionWait(history) + flush
    }

    /// How long video waits for audio: a channel is published behind its latest audio rendition (docs/tracks.md).
    private static func renditionWait(_ history: History) -> Int {
        history.renditions.isEmpty ? 0 : patience(history)
    }

    static func longestSegment(_ history: History) -> Int {
        history.has(.unevenSegments) ? history.segmentDuration * 2 : history.segmentDuration
    }

    /// Time in peace within which a listed segment is loaded, whatever failed before.
    static func fetchTime(_ history: History) -> Int {
        4000 + (history.has(.slowAnswers) ? 2 * history.segmentDuration : 0)
    }

    /// Time in peace within which a playlist is loaded: the longest pause after failures.
    static func pollTime(_ history: History) -> Int { 2 * history.targetDuration * 1000 + 3000 }

    /// Times at which the relay finds its place without the help of numbers.
    static func rejoins(_ history: History) -> [Int] {
        if history.has(.backup) { return Array(stride(from: 0, to: history.length, by: 10_000)) }
        return history.events.compactMap { event in
            switch event.thing {
            case .encoderRestart, .endedAndRestarted, .renamed, .killed, .killedInPublish, .longKill: event.end
            default: nil
            }
        }
    }

    /// Whether the host still gets one request at a time, so that what it lists may come late.
    static func isSlowed(_ history: History, at time: Int) -> Bool {
        history.all(.rateLimited).contains { $0.at < time && $0.end + 63_000 > time }
    }

    /// The longest time within a range in which nothing is wrong with host, playlist or keys.
    static func peace(from start: Int, until end: Int, _ history: History) -> Int {
        var (longest, from) = (0, start)
        for event in history.events.sorted(by: { $0.at < $1.at }) {
            guard let until = disturbance(event), event.at < end, until > start else { continue }
            longest = max(longest, event.at - from)
            from = max(from, until)
        }
        return max(longest, end == .max ? 0 : end - from)
    }

    /// When a thing that disturbs requests is over; nil: it disturbs none.
    static func disturbance(_ event: Event) -> Int? {
        switch event.thing {
        case .stalePlaylist, .laggingPlaylist, .refusedPlaylist, .pagePlaylist, .cutPlaylist, .slowPlaylist,
            .keyRefused,
            .unreachable, .longOutage, .tokenExpired:
            event.end + 1000
        case .rateLimited: event.end + 63_000  // one request at a time for a minute
        case .silent: event.end + 9000
        case .encoderRestart, .endedAndRestarted, .renumbered, .renamed: event.end + 1000
        default: nil
        }
    }

    /// Whether a segment that was listed is not asked for, because the playlist is joined after it.
    static func skipsAtJoin(_ segment: Int, _ seen: OriginLog.Reload, _ oracle: Oracle) -> Bool {
        let history = oracle.history
        let isFirst = oracle.record.lives.first.map { seen.at - $0.start < 15_000 } ?? true
        if isFirst, segment < seen.listed.upperBound - joinSegments { return true }
        // Another encoder without dates is joined at its edge.
        let isOther = seen.era > 0 && !history.isDated
        return isOther && segment < seen.listed.upperBound - 1
    }

    /// A group longer than the target duration is cut all the same, so that a segment begins without a sync sample.
    static func isExcused(_ rule: String, _ broadcast: Broadcast) -> Bool {
        guard rule.hasPrefix("10:") || rule.hasPrefix("31:") else { return false }
        let longest = broadcast.segments.flatMap(\.parts).map(\.format.groupDuration).max() ?? 0
        return longest > broadcast.history.targetDuration * 90_000
    }

    /// How long a segment of a finished playlist is tried that fails otherwise than by a refusal.
    static let finishedPatience = 60_000

    /// How long after its end a channel has ended: 3.5 target durations (decision 31), from a load that may come late.
    static func endDelay(_ history: History) -> Int {
        7 * history.targetDuration * 500 + pollTime(history)
    }

    /// A live playlist that has ended is believed after 3.5 target durations (decision 31).
    static func mayEnd(_ broadcast: Broadcast, _ log: OriginLog) -> Bool {
        // A page in the place of the first playlist of a process ends it at once.
        if broadcast.history.has(.pagePlaylist), !rejoins(broadcast.history).isEmpty { return true }
        return broadcast.eras.indices.contains { number in
            guard broadcast.eras[number].followsEnd, let ended = log.reloads.first(where: { $0.hasEnded })?.at else {
                return false
            }
            let reopened = log.reloads.first { $0.at > ended && !$0.hasEnded }?.at ?? .max
            return reopened - ended > 7 * broadcast.history.targetDuration * 500 - 1000
        }
    }

    /// Whether a period may begin between two frames of one program that follow each other.
    static func mayBeginPeriod(between one: Oracle.SourceFrame, _ next: Oracle.SourceFrame, _ oracle: Oracle) -> Bool {
        let segment = oracle.broadcast.segments[next.segment]
        guard one.segment != next.segment else { return false }
        if oracle.history.has(.backup) { return true }
        // A new numbering, and a source that was lost from sight, may be another encoder.
        return segment.isAfterPause || oracle.broadcast.eras.contains { abs($0.at - segment.end) < 30_000 && $0.at > 0 }
    }

    /// By how much a date may depart from the media's: gaps and lost media are dated by whole segments.
    static func dateTolerance(_ oracle: Oracle) -> Double {
        let isQuiet = oracle.record.lives.count == 1 && !oracle.record.segments.contains { $0.text.isGap }
        return isQuiet ? 250 : 60_000
    }

    /// The longest time without a new segment.
    static func standstill(from start: Int, to end: Int, _ history: History) -> Int {
        let isDisturbed = history.events.contains { event in
            event.at < end && (event.thing.isOfSegment || event.thing.isOfRendition || event.duration > 0)
                && event.end + 25_000 > start
        }
        let longest = longestSegment(history)
        let slow =
            (history.has(.slowAnswers) ? history.segmentDuration : 0)
            + renditionWait(history)
        if !isDisturbed { return longest + history.targetDuration * 500 + 1000 + slow }
        return silenceBeforeGap(history) + 3 * longest + 2000 + slow
    }

    /// How long after its end a segment is published; nil: it has no bound, because something was wrong.
    static func latency(of segment: Broadcast.Segment, _ history: History) -> Int? {
        let isDisturbed = history.events.contains { event in
            event.at < segment.end + 15_000
                && (event.thing.isOfSegment || event.duration > 0 || event.thing == .tokenExpired)
                && event.end + 25_000 > segment.end
        }
        guard !isDisturbed, segment.end > 0 else { return nil }
        return 2 * longestSegment(history) + history.targetDuration * 1000 + 1500
            + (history.has(.slowAnswers) ? history.segmentDuration : 0)
            + renditionWait(history)
    }
}
