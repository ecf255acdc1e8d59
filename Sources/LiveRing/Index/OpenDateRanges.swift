package import Playlist
import Support

/// The date ranges of segments that left the playlist and that may reach into the playlist.
///
/// A range stays in every playlist that lists a segment of it (draft-pantos-hls-rfc8216bis §6.2.1). The latest state of
/// each range is kept, in the order in which the ranges were first published.
package struct OpenDateRanges: Equatable, Sendable {
    package private(set) var ranges: [DateRange] = []

    init(_ ranges: [DateRange] = []) { self.ranges = ranges }

    /// Adds a range, or the new attributes of a known range.
    mutating func merge(_ tag: DateRange) {
        if let index = ranges.firstIndex(where: { $0.id == tag.id }) {
            ranges[index].add(tag)
        } else {
            ranges.append(tag)
            if ranges.count > AdMarkerLimits.openDateRanges { ranges.removeFirst() }
        }
    }

    mutating func merge(dateRangesOf entries: some Sequence<RingEntry>) {
        for entry in entries {
            for tag in entry.adMarkers.dateRanges { merge(tag) }
        }
    }

    /// Removes the ranges that end before a playlist whose first segment begins at `date`.
    mutating func removeAll(endingBefore date: ProgramDateTime) {
        guard !ranges.isEmpty else { return }
        ranges = ranges.filter { reaches($0, date) }
    }

    /// Whether `date` is in a signalled break.
    func hasBreak(at date: ProgramDateTime) -> Bool {
        ranges.contains { range in
            guard range.isAdBreak, let start = range.startDate, start <= date else { return false }
            return date < range.breakEnd ?? start.advanced(by: AdMarkerLimits.breakWithoutEnd)
        }
    }

    private func reaches(_ range: DateRange, _ date: ProgramDateTime) -> Bool {
        guard let start = range.startDate else { return false }
        if start >= date { return true }
        if range.isInterstitial, let end = range.interstitialEnd, end > date { return true }
        if let end = range.end { return end > date }
        if range.isEndOnNext { return !isFollowed(range, from: start, by: date) }
        // Without a duration, an end or SCTE35-OUT the range is a single point in time.
        guard range.plannedDuration != nil || range[splice: .out] != nil else { return false }
        let planned = range.plannedDuration ?? .zero
        // A command that is not an ad break ends as planned, because no tag announces its end.
        let mayOverrun = range[splice: .command] == nil
        return start.advanced(by: mayOverrun ? max(AdMarkerLimits.breakWithoutEnd, planned) : planned) > date
    }

    /// Whether a later range of the same class ends `range` before `date` (END-ON-NEXT).
    private func isFollowed(_ range: DateRange, from start: ProgramDateTime, by date: ProgramDateTime) -> Bool {
        ranges.contains { other in
            guard other.className == range.className, let next = other.startDate else { return false }
            return next > start && next <= date
        }
    }
}

extension AdMarkerTimeline {
    /// A timeline that continues after the entries of `index`.
    /// - Parameters:
    ///   - index: the entries that an earlier process published.
    ///   - autoReturn: whether the ad break of a splice_info_section ends by itself after its duration.
    package init(resuming index: RingIndex, autoReturn: ([UInt8]) -> Bool = { _ in false }) {
        var ranges = index.openDateRanges
        ranges.merge(dateRangesOf: index.indicesWithDateRanges.lazy.map { index.listed[$0] })
        self.init(
            publishedRanges: ranges.ranges.filter { !$0.isFoundBreak },
            channelStart: index.listed.first?.programDateTime, autoReturn: autoReturn)
    }
}
