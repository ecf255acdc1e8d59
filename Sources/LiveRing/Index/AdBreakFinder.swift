import Playlist
package import Support

/// A part of the timeline that the upstream calls an ad break, or that was spliced into the channel's program.
package struct AdBreak: Equatable, Sendable {
    package enum Evidence: String, Sendable {
        /// SCTE-35, a cue tag or a date range says so.
        case signalled
        /// Other parameters than the program's, between discontinuities.
        case spliced
        /// The program's parameters, but a splice on both sides, and short.
        case guessed
    }

    package let evidence: Evidence
    /// The ID of the date range that signals it; nil if none does.
    package let id: String?
    /// The date of its first frame, or as it is signalled.
    package let start: ProgramDateTime
    /// nil while it lasts.
    package let end: ProgramDateTime?
    /// The beginnings of the ads in it, as far as they are spliced.
    package let parts: [ProgramDateTime]

    package init(
        evidence: Evidence, id: String?, start: ProgramDateTime, end: ProgramDateTime?, parts: [ProgramDateTime]
    ) {
        (self.evidence, self.id) = (evidence, id)
        (self.start, self.end, self.parts) = (start, end, parts)
    }
}

/// Finds the ad breaks of listed entries.
///
/// The program has the init section that is presented longest. Backups have one of their own. Where media is missing, or
/// the slate stands in, nothing is concluded. The discontinuity with which a process begins is no splice by itself.
struct AdBreakFinder {
    /// The longest ad, and programme between two ads, that is taken for an ad although it has the program's parameters.
    private static let longestGuess = PlaylistTicks.ticksPerSecond * 60
    /// The longest pod of such ads.
    private static let longestPod = PlaylistTicks.ticksPerSecond * 600

    /// Milliseconds between two processes that are not missing media: dates are rounded, and frames may be dropped.
    private static let longestPause: Int64 = 1000

    /// Consecutive segments without a splice between them.
    private struct Period {
        let source: Int
        let initialization: String
        let start: ProgramDateTime
        var end: ProgramDateTime
        var ticks: Int64 = 0
        /// Whether it follows the period before without missing media.
        let follows: Bool
        var evidence: AdBreak.Evidence?
    }

    private var periods: [Period] = []
    private var isContinued = false
    private var ranges: [String: DateRange] = [:]
    private let canGoOn: Bool

    /// - Parameters:
    ///   - entries: consecutive ones.
    ///   - canGoOn: whether a break that reaches the end of the last may last on.
    init(_ entries: some Sequence<RingEntry>, canGoOn: Bool) {
        self.canGoOn = canGoOn
        for entry in entries { append(entry) }
        judge()
    }

    private mutating func append(_ entry: RingEntry) {
        for range in entry.adMarkers.dateRanges where range.isAdBreak {
            if ranges[range.id]?.add(range) == nil { ranges[range.id] = range }
        }
        guard !entry.isGap, let source = entry.resumePoint.upstream?.sourceIndex else {
            isContinued = false
            return
        }
        if entry.isAfterInterruption { isContinued = isContinued && isUninterrupted(entry) }
        let isSplice =
            entry.isDiscontinuous && !entry.isAfterInterruption
            || periods.last?.initialization != entry.initialization.name || periods.last?.source != source
        if !isContinued || isSplice {
            periods.append(
                Period(
                    source: source, initialization: entry.initialization.name, start: entry.programDateTime,
                    end: entry.programDateTime, follows: isContinued))
        }
        periods[periods.count - 1].ticks += entry.duration
        periods[periods.count - 1].end = entry.programDateTimeEnd
        isContinued = true
    }

    /// Whether no media is missing before the first segment of a process.
    private func isUninterrupted(_ entry: RingEntry) -> Bool {
        periods.last.map { entry.programDateTime <= $0.end.advanced(byMilliseconds: Self.longestPause) } ?? false
    }

    /// Decides of each period whether it is a part of a break.
    private mutating func judge() {
        var ticks: [Int: [String: Int64]] = [:]
        for period in periods { ticks[period.source, default: [:]][period.initialization, default: 0] += period.ticks }
        let programs = ticks.mapValues { $0.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key }
        for index in periods.indices where programs[periods[index].source] != periods[index].initialization {
            periods[index].evidence = .spliced
        }
        for index in periods.indices.dropFirst().dropLast() where isGuess(index) || isInPod(index) {
            periods[index].evidence = .guessed
        }
    }

    /// Whether a period is one of several short ones in a row, without missing media, between two that are none.
    private func isInPod(_ index: Int) -> Bool {
        let source = periods[index].source
        var (ticks, first, last): (Int64, Int, Int) = (0, index, index + 1)
        while isShort(first) {
            ticks += periods[first].ticks
            guard first > 0, ticks <= Self.longestPod, periods[first].follows, periods[first].source == source else {
                return false
            }
            first -= 1
        }
        while last < periods.count, periods[last].follows, isShort(last), ticks <= Self.longestPod {
            ticks += periods[last].ticks
            last += 1
        }
        return first < index && last < periods.count && periods[last].follows && !isShort(last)
            && ticks <= Self.longestPod && [first, last].allSatisfy { periods[$0].source == source }
    }

    private func isShort(_ index: Int) -> Bool {
        periods[index].evidence != .spliced && periods[index].ticks <= Self.longestGuess
    }

    /// Whether a period of the program's parameters has a splice on both sides as an ad has.
    private func isGuess(_ index: Int) -> Bool {
        let (before, period, after) = (periods[index - 1], periods[index], periods[index + 1])
        guard period.evidence == nil, period.ticks <= Self.longestGuess, period.follows, after.follows else {
            return false
        }
        // The program is longer, as far as it is in the window.
        return [before, after].allSatisfy { $0.evidence == .spliced || $0.ticks > period.ticks }
    }

    /// The breaks in order of their starts.
    var breaks: [AdBreak] {
        let found = (ranges.values.compactMap(Self.adBreak) + pods)
            .sorted { ($0.start, $0.id ?? "") < ($1.start, $1.id ?? "") }
        var breaks: [AdBreak] = []
        var longest: AdBreak?
        for next in found {
            if next.evidence == .signalled {
                if let pod = breaks.last, pod.evidence != .signalled, Self.overlaps(pod, next) { breaks.removeLast() }
                longest = longest.map { Self.lasts($0, longerThan: next) ? $0 : next } ?? next
            } else if let longest, Self.overlaps(longest, next) {
                continue
            }
            breaks.append(next)
        }
        return breaks
    }

    private static func lasts(_ left: AdBreak, longerThan right: AdBreak) -> Bool {
        guard let end = left.end else { return true }
        return right.end.map { $0 < end } ?? false
    }

    private static func adBreak(_ range: DateRange) -> AdBreak? {
        guard let start = range.startDate else { return nil }
        return AdBreak(evidence: .signalled, id: range.id, start: start, end: range.breakEnd, parts: [])
    }

    private static func overlaps(_ left: AdBreak, _ right: AdBreak) -> Bool {
        (right.end.map { left.start < $0 } ?? true) && (left.end.map { right.start < $0 } ?? true)
    }

    /// Consecutive periods of breaks.
    private var pods: [AdBreak] {
        var pods: [[Period]] = []
        for (index, period) in periods.enumerated() where period.evidence != nil {
            if index > 0, period.follows, periods[index - 1].evidence != nil {
                pods[pods.count - 1].append(period)
            } else {
                pods.append([period])
            }
        }
        let newest = periods.last?.end
        return pods.map { pod in
            AdBreak(
                evidence: pod.contains { $0.evidence == .spliced } ? .spliced : .guessed, id: nil, start: pod[0].start,
                end: canGoOn && isContinued && pod.last?.end == newest ? nil : pod.last?.end, parts: pod.map(\.start))
        }
    }
}
