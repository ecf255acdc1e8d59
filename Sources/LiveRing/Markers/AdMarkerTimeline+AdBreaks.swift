import Playlist
import Support

// Ad breaks of cue tags, as date ranges.
extension AdMarkerTimeline {
    /// Applies the cue tags of one segment, which begins at `date`.
    mutating func apply(_ cueTags: [CueTag], at date: ProgramDateTime) {
        // The section may be in a tag of its own beside the tag with the meaning.
        let section = cueTags.lazy.compactMap(\.section).first
        for cueTag in cueTags {
            switch cueTag.meaning {
            case .out(let duration): beginBreak(at: date, planned: duration, section: section)
            case .continues(let elapsed, let duration):
                guard !published.isInBreak(at: date) else { continue }
                let start = date.advanced(byMilliseconds: elapsed.map { -$0.wholeMilliseconds } ?? 0)
                beginBreak(at: start, planned: duration, section: section)
            case .in: endBreak(at: date, section: section)
            case .other: continue
            }
        }
    }

    private mutating func beginBreak(at date: ProgramDateTime, planned: Duration?, section: [UInt8]?) {
        if let index = published.indexOfBreak(startingNear: date) {
            if DateRangeID.isGenerated(published[index].range.id) {
                addDetails(to: index, planned: planned, section: section)
            }
            return
        }
        // The upstream did not announce the end of the break before.
        if let open = published.indexOfOpenCueBreak { published.end(open, at: date) }
        var range = DateRange(id: DateRangeID.cue(at: date))
        range.startDate = date
        range.plannedDuration = planned
        range[splice: .out] = section
        published.append(PublishedDateRange(range, start: date))
    }

    private mutating func addDetails(to index: Int, planned: Duration?, section: [UInt8]?) {
        var additions = DateRange(id: published[index].range.id)
        if published[index].range.plannedDuration == nil { additions.plannedDuration = planned }
        if published[index].range[splice: .out] == nil { additions[splice: .out] = section }
        _ = published.add(additions, to: index)
    }

    private mutating func endBreak(at date: ProgramDateTime, section: [UInt8]?) {
        if let index = published.indexOfOpenCueBreak {
            published.end(index, at: date, section: section)
        } else if !published.isInBreak(at: date.advanced(byMilliseconds: -PublishedDateRange.tolerance)) {
            counts.unmatchedBreakEnds += 1
        }
    }
}

// Ad breaks of splice commands, as date ranges.
extension AdMarkerTimeline {
    mutating func apply(_ splice: PublishedSpliceCommand) {
        switch splice.kind {
        case .out(let autoReturn): beginBreak(with: splice, autoReturn: autoReturn)
        case .in(let endsAnyEvent): endBreak(with: splice, endsAnyEvent: endsAnyEvent)
        case .command: publish(splice, as: .command)
        case .canceled:
            guard let index = published.indexOfOpenSplice(splice.eventID) else { return }
            published.end(index, at: published[index].start)
        }
    }

    private mutating func beginBreak(with splice: PublishedSpliceCommand, autoReturn: Bool) {
        // Encoders send a splice command several times.
        if published.indexOfSplice(splice.eventID, near: splice.date) != nil { return }
        if let index = published.indexOfBreak(startingNear: splice.date),
            !DateRangeID.isSplice(published[index].range.id)
        {
            if DateRangeID.isGenerated(published[index].range.id) {
                addDetails(to: index, planned: splice.duration, section: splice.section)
            }
            return
        }
        publish(splice, as: .out)
        guard autoReturn, let duration = splice.duration else { return }
        published.setAutoReturn(at: splice.date.advanced(by: duration))
    }

    /// Ends the ad break of `splice`. A return without an ad break is published as SCTE35-CMD, because SCTE35-IN needs
    /// an SCTE35-OUT.
    private mutating func endBreak(with splice: PublishedSpliceCommand, endsAnyEvent: Bool) {
        if let index = published.indexOfOpenSplice(splice.eventID)
            ?? (endsAnyEvent ? published.indexOfOnlyOpenSplice : nil)
        {
            published.end(index, at: splice.date, section: splice.section)
        } else if !published.hasSpliceEnded(near: splice.date) {
            counts.unmatchedBreakEnds += 1
            publish(splice, as: .command)
        }
    }

    private mutating func publish(_ splice: PublishedSpliceCommand, as attribute: DateRange.SpliceAttribute) {
        guard published.indexOfSplice(splice.eventID, near: splice.date) == nil else { return }
        var range = DateRange(id: DateRangeID.splice(splice.eventID, at: splice.date))
        range.startDate = splice.date
        range.plannedDuration = splice.duration
        range[splice: attribute] = splice.section
        published.append(PublishedDateRange(range, start: splice.date))
    }

    /// Ends the ad breaks that return automatically by `date`.
    mutating func endAutoReturnBreaks(by date: ProgramDateTime) {
        for index in published.ranges.indices {
            guard published[index].isOpen, let end = published[index].autoReturnDate, end <= date else { continue }
            published.end(index, at: end)
        }
    }
}

extension PublishedDateRanges {
    fileprivate func indexOfBreak(startingNear date: ProgramDateTime) -> Int? {
        ranges.lastIndex { $0.isBreak && $0.begins(near: date) }
    }

    fileprivate var indexOfOpenCueBreak: Int? { ranges.lastIndex { DateRangeID.isCue($0.range.id) && $0.isOpen } }

    /// Milliseconds after its planned end for which an ad break without an end is assumed to continue.
    private static let longestOverrun: Int64 = 10_000

    fileprivate func isInBreak(at date: ProgramDateTime) -> Bool {
        ranges.contains { published in
            guard published.isBreak, date.milliseconds(since: published.start) > -PublishedDateRange.tolerance else {
                return false
            }
            if let end = published.range.end { return end > date }
            guard let planned = published.range.plannedDuration else { return true }
            return published.start.advanced(by: planned).advanced(byMilliseconds: Self.longestOverrun) > date
        }
    }

    fileprivate func indexOfSplice(_ eventID: UInt32?, near date: ProgramDateTime) -> Int? {
        ranges.lastIndex { DateRangeID.isSplice($0.range.id, eventID) && $0.begins(near: date) }
    }

    fileprivate func indexOfOpenSplice(_ eventID: UInt32?) -> Int? {
        openSplices.last { DateRangeID.isSplice(ranges[$0].range.id, eventID) }
    }

    /// The only open splice. Some equipment gives the return an event ID of its own.
    fileprivate var indexOfOnlyOpenSplice: Int? { openSplices.count == 1 ? openSplices.first : nil }

    private var openSplices: [Int] {
        ranges.indices.filter { DateRangeID.isSplice(ranges[$0].range.id) && ranges[$0].isBreak && ranges[$0].isOpen }
    }

    fileprivate func hasSpliceEnded(near date: ProgramDateTime) -> Bool {
        ranges.contains { published in
            guard published.isBreak, DateRangeID.isSplice(published.range.id), let end = published.range.end else {
                return false
            }
            return end.milliseconds(since: date).magnitude < PublishedDateRange.tolerance.magnitude
        }
    }

    fileprivate mutating func setAutoReturn(at date: ProgramDateTime) {
        guard !ranges.isEmpty else { return }
        self[ranges.count - 1].autoReturnDate = date
    }
}
