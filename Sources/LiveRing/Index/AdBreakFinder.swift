import Playlist
package import Support

/// A part of the timeline that the upstream signals as an ad break, or that was spliced into the channel's program.
package struct AdBreak: Equatable, Sendable {
    package enum Evidence: String, Sendable {
        /// Signalled by SCTE-35, a cue tag or a date range.
        case signalled
        /// Recognized by parameters other than the program's, between discontinuities.
        case spliced
        /// Guessed: a short period with the program's parameters and a splice on both sides.
        case guessed
    }

    package let evidence: Evidence
    /// The ID of the date range that signals the break; nil if none does.
    package let id: String?
    /// The date of the break's first frame, or the signalled date.
    package let start: ProgramDateTime
    /// nil while the break lasts.
    package let end: ProgramDateTime?
    /// The start dates of the ads in the break, as far as splices show them.
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
/// The init section that is presented longest is the program's. Each backup's program has an init section of its own.
/// Where media is missing, or the slate fills an outage, nothing is concluded. The discontinuity with which a process
/// begins is not a splice by itself.
///
/// A period with the program's parameters can only be guessed to be an ad by its length. If the program there is next
/// to a pod with other parameters, the shortest ad of the pod is the measure. Otherwise parts of the program that are
/// shorter than a minute would join all pods to one break.
struct AdBreakFinder {
    /// The longest ad that is guessed.
    private static let longestGuess = PlaylistTicks.ticksPerSecond * 60
    /// The longest pod, guessed or not. Whatever lasts longer is a part of the program.
    private static let longestPod = PlaylistTicks.ticksPerSecond * 600
    /// The difference within which two ads have the same length.
    private static let lengthTolerance = PlaylistTicks.ticksPerSecond / 2

    /// The longest pause between two processes, in milliseconds, that does not count as missing media: dates are
    /// rounded, and frames may be dropped.
    private static let longestPause: Int64 = 1000

    /// Consecutive segments without a splice between them.
    private struct Period {
        let source: Int
        let initialization: String
        let start: ProgramDateTime
        var end: ProgramDateTime
        var ticks: Int64 = 0
        /// Whether no media is missing between the preceding period and this one.
        let follows: Bool
        var evidence: AdBreak.Evidence?
    }

    private var periods: [Period] = []
    private var isContinued = false
    private var ranges: [String: DateRange] = [:]
    private let canGoOn: Bool

    /// - Parameters:
    ///   - entries: consecutive ones.
    ///   - canGoOn: whether a break that reaches the end of the last entry may continue after it.
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

    /// Decides for each period whether it is part of a break.
    private mutating func judge() {
        var ticks: [Int: [String: Int64]] = [:]
        for period in periods { ticks[period.source, default: [:]][period.initialization, default: 0] += period.ticks }
        let programs = ticks.mapValues { $0.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key }
        for index in periods.indices where programs[periods[index].source] != periods[index].initialization {
            periods[index].evidence = .spliced
        }
        for run in runs(by: RunKey.init) where periods[run.lowerBound].evidence == nil { guessAds(in: run) }
        for pod in pods where isTooLong(pod) {
            for index in pod where periods[index].evidence == .guessed { periods[index].evidence = nil }
        }
        for pod in pods where isTooLong(pod) { for index in pod { periods[index].evidence = nil } }
    }

    /// The properties that the periods of a run share.
    private struct RunKey: Equatable {
        let source: Int
        let isSpliced: Bool

        init(_ period: Period) { (source, isSpliced) = (period.source, period.evidence == .spliced) }
    }

    /// Consecutive periods with the same key, without missing media between them.
    private func runs(by key: (Period) -> some Equatable) -> [Range<Int>] {
        var runs: [Range<Int>] = []
        for index in periods.indices {
            if let last = runs.last, periods[index].follows, key(periods[index - 1]) == key(periods[index]) {
                runs[runs.count - 1] = last.lowerBound..<index + 1
            } else {
                runs.append(index..<index + 1)
            }
        }
        return runs
    }

    /// Consecutive periods of breaks.
    private var pods: [Range<Int>] { runs { $0.evidence != nil }.filter { periods[$0.lowerBound].evidence != nil } }

    private func isTooLong(_ pod: Range<Int>) -> Bool { periods[pod].reduce(0) { $0 + $1.ticks } > Self.longestPod }

    /// Decides which periods of the program's parameters are ads.
    /// - Parameter run: consecutive periods without missing media.
    private mutating func guessAds(in run: Range<Int>) {
        let (before, after) = (shortestAd(endingAt: run.lowerBound), shortestAd(startingAt: run.upperBound))
        let shortestAd = [before, after].compactMap(\.self).min()
        // An ad has a splice on both sides.
        let judged = run.dropFirst(before == nil ? 1 : 0).dropLast(after == nil ? 1 : 0)
        let ads = judged.filter { index in
            guard !isLong(index) else { return false }
            guard let shortestAd else { return isBetweenLonger(index) || isInPod(index, of: run) }
            return isShorter(index, than: shortestAd, in: run)
        }
        for index in ads { periods[index].evidence = .guessed }
    }

    /// The shortest ad of the pod with other parameters that ends before a period; nil without such a pod.
    private func shortestAd(endingAt index: Int) -> Int64? {
        guard index < periods.count, periods[index].follows else { return nil }
        let source = periods[index].source
        return shortest(periods[..<index].reversed().prefix { $0.evidence == .spliced && $0.source == source })
    }

    /// The shortest ad of the pod with other parameters that begins at a period; nil without such a pod.
    private func shortestAd(startingAt index: Int) -> Int64? {
        guard index < periods.count, periods[index].follows else { return nil }
        let source = periods[index - 1].source
        return shortest(periods[index...].prefix { $0.evidence == .spliced && $0.source == source })
    }

    private func shortest(_ ads: some Sequence<Period>) -> Int64? { ads.map(\.ticks).min() }

    /// Whether a period is shorter than each ad of the pods beside its run. A period as long as the shortest ad counts
    /// too if the program is certainly something else: the period is alone in its run, or a period of the run is too
    /// long for an ad.
    private func isShorter(_ index: Int, than shortestAd: Int64, in run: Range<Int>) -> Bool {
        let ticks = periods[index].ticks
        if run.count == 1 || run.contains(where: isLong) { return ticks <= shortestAd + Self.lengthTolerance }
        return ticks < shortestAd && run.contains { periods[$0].ticks > ticks }
    }

    private func isLong(_ index: Int) -> Bool { periods[index].ticks > Self.longestGuess }

    /// Whether the periods on both sides are longer, as far as they are in the window.
    private func isBetweenLonger(_ index: Int) -> Bool {
        [index - 1, index + 1].allSatisfy { periods[$0].ticks > periods[index].ticks }
    }

    /// Whether a period is one of several short periods in a row, between two periods that are too long for an ad.
    private func isInPod(_ index: Int, of run: Range<Int>) -> Bool {
        (run.lowerBound..<index).contains(where: isLong) && (index + 1..<run.upperBound).contains(where: isLong)
    }

    /// The breaks in order of their starts.
    var breaks: [AdBreak] {
        let found = (ranges.values.compactMap(Self.adBreak) + podBreaks)
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

    /// The breaks that no marker signals.
    private var podBreaks: [AdBreak] {
        let newest = periods.last?.end
        return pods.map { pod in
            let pod = periods[pod]
            return AdBreak(
                evidence: pod.contains { $0.evidence == .spliced } ? .spliced : .guessed, id: nil,
                start: pod[pod.startIndex].start,
                end: canGoOn && isContinued && pod.last?.end == newest ? nil : pod.last?.end,
                parts: pod.map(\.start))
        }
    }
}
