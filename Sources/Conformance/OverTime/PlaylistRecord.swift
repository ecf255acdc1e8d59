package import Playlist
import Support

/// When an answer was asked for and when it had arrived, since the check began.
package struct AnswerTime: Equatable, Sendable {
    package var requested: Duration
    package var received: Duration

    package init(requested: Duration, received: Duration) {
        self.requested = requested
        self.received = received
    }
}

/// The versions of one media playlist over time: judges each against the earlier ones.
package struct PlaylistRecord: Sendable {
    /// A segment that was listed, and when.
    package struct Listed: Sendable {
        package internal(set) var segment: ScannedSegment
        /// When the first answer that listed the segment had arrived.
        package let listedAt: Duration
        /// When the last answer that listed it was asked for: it was not removed earlier. nil while it is listed.
        package internal(set) var removedAt: Duration?
        /// The duration of the longest playlist that listed it.
        package internal(set) var longestPlaylist: Duration
        /// How long has to stay available after its removal (RFC 8216bis §6.2.2).
        package var term: Duration { longestPlaylist + (segment.duration ?? .zero) }
    }

    package let url: String
    package private(set) var current: ScannedPlaylist?
    package private(set) var versions = 0
    /// Every segment that was listed since the numbers last began again, up to a limit.
    package internal(set) var listed: [UInt64: Listed] = [:]
    /// The least number of `listed`.
    private var oldest: UInt64 = 0
    private var knownProblems: Set<String> = []
    private var currentBytes: [UInt8] = []
    /// When the last answer with the current version was asked for.
    private var lastRequest = Duration.zero
    /// The segments that earlier versions listed.
    private var earlier: [Fingerprint] = []
    private var pace: PublicationPace?
    private var dates = DateDrift()
    private var breaks = BreakLength()
    private var ranges: [String: DateRange] = [:]

    private struct Fingerprint: Equatable {
        let start: UInt64
        let end: UInt64
        let identities: [String]
    }

    /// Segments that are remembered beside those that are listed.
    private let mostListed: Int
    private static let mostProblems = 4096
    private static let mostEarlier = 32

    private static let mostRanges = 4096

    /// - Parameter mostListed: segments that are remembered beside those that are listed: a day of 6 s.
    package init(url: String, mostListed: Int = 16_384) { (self.url, self.mostListed) = (url, mostListed) }

    package var hasEnded: Bool { current?.hasEndList == true }

    /// Judges the next version.
    /// - Parameters:
    ///   - bytes: the text as received.
    ///   - age: how old the answer was in a cache.
    /// - Returns: the segments that are listed for the first time.
    package mutating func append(
        _ bytes: [UInt8], imported: [VariableDefinition] = [], finalURL: String, at time: AnswerTime,
        age: Duration = .zero, into log: inout FindingLog
    ) -> [ScannedSegment] {
        // An answer that a newer one has overtaken says nothing.
        guard time.requested >= lastRequest else { return [] }
        versions += 1
        guard current == nil || bytes != currentBytes else {
            lastRequest = time.requested
            pace?.judgeUnchanged(at: time.requested - age, of: url, into: &log)
            if hasEnded { log.recordJudgement(.endIsFinal) }
            return []
        }
        let playlist = PlaylistScanner.scan(bytes, url: finalURL, imported: imported)
        defer { currentBytes = bytes }
        guard let old = current else { return begin(playlist, time, &log) }
        let fingerprint = Self.fingerprint(of: playlist)
        if let reason = staleness(of: playlist, fingerprint, after: old) {
            log.add(
                .caching, "stale-edge", of: url,
                at: FindingPlace(uri: finalURL, sequence: playlist.mediaSequence, moment: time.received), reason)
            return []
        }
        report(playlist, time, &log)
        let result = VersionComparison(old: old, new: playlist, url: url, moment: time.received).judge(into: &log)
        guard result == .continues else {
            listed = [:]
            ranges = [:]
            return begin(playlist, time, &log, isReported: true)
        }
        if playlist.end > old.end || playlist.partsSinceSegment != old.partsSinceSegment || playlist.hasEndList {
            if pace != nil { log.recordJudgement(.publicationPace) }
            pace?.recordGrowth(at: time.received, isOver: playlist.hasEndList || !playlist.isLive)
        } else {
            pace?.judgeUnchanged(at: time.requested - age, of: url, into: &log)
        }
        recordRemovals(until: playlist, at: lastRequest)
        judgeRanges(playlist, time, &log)
        return store(playlist, time, &log)
    }

    /// Reports what the text of one version says.
    private mutating func report(_ playlist: ScannedPlaylist, _ time: AnswerTime, _ log: inout FindingLog) {
        for rule in playlist.judged { log.recordJudgement(rule) }
        for problem in playlist.problems {
            let place = problem.sequence.map { "\($0)" } ?? problem.message
            let key = "\(problem.rule.rawValue)/\(problem.cause)/\(place)"
            if knownProblems.count >= Self.mostProblems { knownProblems = [] }
            guard knownProblems.insert(key).inserted else { continue }
            log.add(
                problem.rule, problem.cause, level: problem.level, of: url,
                at: FindingPlace(
                    uri: playlist.url, sequence: problem.sequence, line: problem.line, moment: time.received),
                problem.message)
        }
    }

    private mutating func begin(
        _ playlist: ScannedPlaylist, _ time: AnswerTime, _ log: inout FindingLog, isReported: Bool = false
    ) -> [ScannedSegment] {
        if !isReported { report(playlist, time, &log) }
        earlier = []
        dates = DateDrift()
        breaks = BreakLength()
        pace = playlist.isLive ? PublicationPace(playlist, since: time.received) : nil
        oldest = playlist.mediaSequence
        judgeRanges(playlist, time, &log)
        return store(playlist, time, &log)
    }

    /// Why a version is older than the current one; nil if it is not.
    private func staleness(
        of playlist: ScannedPlaylist, _ fingerprint: Fingerprint, after old: ScannedPlaylist
    ) -> String? {
        guard !old.hasEndList, playlist.end <= old.end, playlist.mediaSequence <= old.mediaSequence,
            playlist.end < old.end || playlist.mediaSequence < old.mediaSequence
        else { return nil }
        let isKnown = earlier.contains(fingerprint)
        let isOlder =
            playlist.mediaSequence < old.mediaSequence && playlist.mediaSequence >= oldest
            && !playlist.segments.isEmpty
            && playlist.segments.allSatisfy { listed[$0.sequence]?.segment.identity == $0.identity }
        guard isKnown || isOlder else { return nil }
        return "an older version (\(playlist.mediaSequence) to \(playlist.end)) came after a newer one "
            + "(\(old.mediaSequence) to \(old.end))"
    }

    private static func fingerprint(of playlist: ScannedPlaylist) -> Fingerprint {
        Fingerprint(
            start: playlist.mediaSequence, end: playlist.end, identities: playlist.segments.map(\.identity))
    }

    private mutating func recordRemovals(until playlist: ScannedPlaylist, at moment: Duration) {
        guard let old = current else { return }
        for segment in old.segments where segment.sequence < playlist.mediaSequence {
            listed[segment.sequence]?.removedAt = moment
        }
    }

    /// - Returns: the segments that are listed for the first time.
    private mutating func store(
        _ playlist: ScannedPlaylist, _ time: AnswerTime, _ log: inout FindingLog
    ) -> [ScannedSegment] {
        var new: [ScannedSegment] = []
        let duration = playlist.duration
        for segment in playlist.segments {
            if let known = listed[segment.sequence] {
                listed[segment.sequence]?.longestPlaylist = max(known.longestPlaylist, duration)
                // A tag that comes late counts from now on.
                listed[segment.sequence]?.segment.discontinuities = max(
                    known.segment.discontinuities, segment.discontinuities)
                continue
            }
            listed[segment.sequence] = Listed(
                segment: segment, listedAt: time.received, longestPlaylist: duration)
            new.append(segment)
            dates.append(segment, of: url, at: time.received, into: &log)
            breaks.append(segment, of: url, at: time.received, into: &log)
        }
        while listed.count > mostListed + playlist.segments.count {
            listed[oldest] = nil
            oldest += 1
        }
        lastRequest = time.requested
        earlier.append(Self.fingerprint(of: playlist))
        if earlier.count > Self.mostEarlier { earlier.removeFirst() }
        current = playlist
        return new
    }

    /// Rule 17 over time: a range keeps its attributes; new ones may come.
    private mutating func judgeRanges(_ playlist: ScannedPlaylist, _ time: AnswerTime, _ log: inout FindingLog) {
        var isNew: [String: DateRange] = [:]
        for scanned in playlist.dateRanges {
            let id = scanned.range.id
            var merged = scanned.range
            if let before = ranges[id] {
                let names = merged.add(before)
                if let first = names.first {
                    let isReused = names.contains("START-DATE")
                    log.add(
                        .dateRanges, isReused ? "reused" : "changed", of: url,
                        at: FindingPlace(uri: playlist.url, line: scanned.line, moment: time.received),
                        isReused
                            ? "the ID “\(id)” comes again with another START-DATE"
                            : "the range “\(id)” has another \(first) than before")
                    merged = scanned.range
                }
            }
            isNew[id] = merged
        }
        if ranges.count > Self.mostRanges { ranges = [:] }
        ranges.merge(isNew) { _, new in new }
    }
}

/// Rule 11: how long no segment was added, as far as answers prove it.
struct PublicationPace: Sendable {
    private let target: Duration
    private var grewAt: Duration
    private var isReported = false
    private var isOver = false
    private static let tolerance = Duration.milliseconds(500)

    init?(_ playlist: ScannedPlaylist, since moment: Duration) {
        guard let target = playlist.targetDuration, target > 0 else { return nil }
        self.target = .seconds(target)
        grewAt = moment
    }

    /// - Parameter moment: when the answer with the addition had arrived: the addition was not later.
    mutating func recordGrowth(at moment: Duration, isOver: Bool) {
        grewAt = moment
        isReported = false
        self.isOver = isOver
    }

    /// - Parameter moment: when an answer without an addition was asked for: the addition was not earlier.
    mutating func judgeUnchanged(at moment: Duration, of url: String, into log: inout FindingLog) {
        guard !isOver else { return }
        let silence = moment - grewAt
        if silence > target { log.recordJudgement(.publicationPace) }
        guard silence > target * 3 / 2 + Self.tolerance, !isReported else { return }
        isReported = true
        log.add(
            .publicationPace, "silent", of: url, at: FindingPlace(uri: url, moment: moment),
            "no segment was added for at least \(silence.secondsText), and 1.5 target durations are "
                + (target * 3 / 2).secondsText)
    }
}

/// Rule 16 over time: dates against the sum of durations since the last discontinuity.
struct DateDrift: Sendable {
    private var start: (date: ProgramDateTime, discontinuity: UInt64)?
    private var previous: ProgramDateTime?
    private var expectedNext: UInt64?
    /// Durations since `start`, and since `previous`.
    private var elapsed = Duration.zero
    private var sincePrevious = Duration.zero

    mutating func append(
        _ segment: ScannedSegment, of url: String, at moment: Duration, into log: inout FindingLog
    ) {
        let isNext = expectedNext == segment.sequence
        expectedNext = segment.sequence &+ 1
        if !isNext || start?.discontinuity != segment.discontinuitySequence { start = nil }
        if let date = segment.date {
            if let start, let previous {
                let drift = Duration.milliseconds(date.milliseconds(since: start.date)) - elapsed
                let step = Duration.milliseconds(date.milliseconds(since: previous)) - sincePrevious
                if step.magnitude > TextRules.dateTolerance {
                    restart(date, segment)
                } else if drift.magnitude > TextRules.dateTolerance {
                    log.add(
                        .programDateTime, "drift", of: url,
                        at: FindingPlace(
                            uri: segment.uri, sequence: segment.sequence, line: segment.line, moment: moment),
                        "since \(start.date.text) the dates have run \(drift.magnitudeText) away from EXTINF")
                    restart(date, segment)
                }
            } else {
                restart(date, segment)
            }
            previous = date
            sincePrevious = .zero
        }
        elapsed += segment.duration ?? .zero
        sincePrevious += segment.duration ?? .zero
    }

    private mutating func restart(_ date: ProgramDateTime, _ segment: ScannedSegment) {
        start = (date, segment.discontinuitySequence)
        elapsed = .zero
    }
}

/// Rule 18: the announced length of a break against the segments from CUE-OUT to CUE-IN.
struct BreakLength: Sendable {
    private var open: (planned: Duration, start: ScannedSegment)?
    private var length = Duration.zero
    private var expectedNext: UInt64?
    private static let tolerance = Duration.seconds(1)

    mutating func append(
        _ segment: ScannedSegment, of url: String, at moment: Duration, into log: inout FindingLog
    ) {
        // A segment that was never listed may end the break.
        if let expectedNext, expectedNext != segment.sequence { open = nil }
        expectedNext = segment.sequence &+ 1
        for cue in segment.cueTags {
            switch cue.meaning {
            case .out(let duration):
                if open == nil, let duration, duration > .zero { (open, length) = ((duration, segment), .zero) }
            case .in:
                guard let (planned, start) = open else { continue }
                open = nil
                log.recordJudgement(.breakLength)
                guard (length - planned).magnitude > Self.tolerance else { continue }
                log.add(
                    .breakLength, "cue", of: url,
                    at: FindingPlace(uri: start.uri, sequence: start.sequence, line: start.line, moment: moment),
                    "the break is announced with \(planned.secondsText), and its segments have \(length.secondsText)")
            case .continues, .other: continue
            }
        }
        length += segment.duration ?? .zero
    }
}
