package import Playlist
package import Support

/// The assignment of the upstream's ad markers to published segments.
///
/// Cue tags go to the segment that begins where they stood. EXT-X-DATERANGE tags are published with dates on the
/// published timeline as soon as these are known. A published attribute never changes; additions to a range come as
/// another tag with all of its attributes.
package struct AdMarkerTimeline: Equatable, Sendable {
    /// The maximum number of upstream segments whose first frame is not published yet.
    private static let limit = 256

    /// The ad markers of upstream segments whose first frame is not published yet, in order.
    private var pendingMarkers: [UpstreamAdMarkers] = []
    /// The cue tags of an upstream segment that began inside a published segment. The next segment gets them.
    private var deferredCueTags: [CueTag] = []
    private var upstreamDates = UpstreamDateMap()
    private var published: PublishedDateRanges
    /// The time of the first segment of the channel; nil before it.
    private var channelStart: ProgramDateTime?
    package private(set) var counts = Counts<AdMarkerCount>()
    package var interstitials = Interstitials.keep

    /// - Parameters:
    ///   - publishedRanges: the date ranges that an earlier process published.
    ///   - autoReturn: whether the ad break of a splice_info_section ends by itself after its duration.
    init(publishedRanges: [DateRange], channelStart: ProgramDateTime?, autoReturn: ([UInt8]) -> Bool) {
        published = PublishedDateRanges(publishedRanges, autoReturn: autoReturn)
        self.channelStart = channelStart
    }

    /// Appends the ad markers of the next upstream segment. Its first frame will determine its place.
    package mutating func append(_ markers: UpstreamAdMarkers) {
        var markers = markers
        counts[.otherTags] += markers.otherTags
        counts[.excess] += AdMarkerLimits.dropExcess(of: &markers.cueTags)
        pendingMarkers.append(markers)
        guard pendingMarkers.count > Self.limit else { return }
        let dropped = pendingMarkers.removeFirst()
        if !dropped.cueTags.isEmpty || !dropped.dateRanges.isEmpty || !dropped.splices.isEmpty {
            counts[.unplaced] += 1
        }
    }

    /// Removes the cue tags of an upstream segment that began in media published before, because that media already has
    /// them. Date ranges stay, because their IDs identify duplicates.
    package mutating func withdrawCueTags(of mediaSequence: UInt64) {
        for index in pendingMarkers.indices where pendingMarkers[index].mediaSequence == mediaSequence {
            pendingMarkers[index].cueTags = []
        }
    }

    /// Removes and returns the ad markers that precede `segment`, the next segment to be published.
    package mutating func dequeueMarkers(for segment: AdMarkerTarget) -> SegmentAdMarkers {
        channelStart = channelStart ?? segment.date
        var cueTags = deferredCueTags
        deferredCueTags = []
        for placement in segment.placements {
            let placed = applyPending(at: placement)
            if placement.date <= segment.date { cueTags += placed } else { deferredCueTags += placed }
        }
        counts[.excess] += AdMarkerLimits.dropExcess(of: &cueTags)
        counts[.excess] += AdMarkerLimits.dropExcess(of: &deferredCueTags)
        for splice in segment.splices.prefix(AdMarkerLimits.spliceCommands) { apply(splice) }
        counts[.excess] += max(0, segment.splices.count - AdMarkerLimits.spliceCommands)
        endAutoReturnBreaks(by: segment.date)
        var markers = published.dequeueChanges(at: segment.date)
        markers.cueTags = cueTags
        counts[.cueTags] += markers.cueTags.count
        counts[.dateRanges] += markers.dateRanges.count
        return markers
    }

    /// Ends the timeline.
    /// - Parameters:
    ///   - ranges: the date ranges that were added with the end of the upstream.
    ///   - splices: the splice commands that were added with it.
    ///   - date: the end of the published media.
    /// - Returns: the date ranges that no segment carried.
    package mutating func finish(
        _ ranges: [DateRange], _ splices: [PublishedSpliceCommand] = [], at date: ProgramDateTime
    ) -> [DateRange] {
        if !deferredCueTags.isEmpty { counts[.unplaced] += 1 }
        for markers in pendingMarkers {
            if !markers.cueTags.isEmpty { counts[.unplaced] += 1 }
            publish(markers.dateRanges, at: date)
            apply(listed: markers.splices, at: date)
        }
        publish(ranges, at: date)
        apply(listed: splices, at: date)
        (deferredCueTags, pendingMarkers) = ([], [])
        endAutoReturnBreaks(by: date)
        let changes = published.dequeueAllChanges()
        counts[.dateRanges] += changes.count
        return changes
    }

    /// Applies the pending ad markers up to the upstream segment of `placement`.
    /// - Returns: their cue tags.
    private mutating func applyPending(at placement: AdMarkerPlacement) -> [CueTag] {
        if let upstreamDate = placement.upstreamDate { upstreamDates.record(upstreamDate, as: placement.date) }
        var cueTags: [CueTag] = []
        for markers in dequeuePending(upTo: placement.mediaSequence) {
            publish(markers.dateRanges, at: placement.date)
            apply(listed: markers.splices, at: placement.date)
            apply(markers.cueTags, at: placement.date)
            cueTags += markers.cueTags
        }
        return cueTags
    }

    /// Removes and returns the ad markers up to `mediaSequence`. The markers of a segment without frames go to the next
    /// segment with frames.
    private mutating func dequeuePending(upTo mediaSequence: UInt64) -> ArraySlice<UpstreamAdMarkers> {
        guard let index = pendingMarkers.firstIndex(where: { $0.mediaSequence == mediaSequence }) else { return [] }
        defer { pendingMarkers.removeFirst(index + 1) }
        return pendingMarkers[...index]
    }
}

// MARK: - EXT-X-DATERANGE of the upstream

extension AdMarkerTimeline {
    /// Publishes the ranges that the upstream lists, new or again, with a segment that begins at `date`.
    ///
    /// If the upstream lists more ranges than may be known at once, the later ones are dropped each time.
    private mutating func publish(_ ranges: [DateRange], at date: ProgramDateTime) {
        let ranges = ranges.prefix(AdMarkerLimits.listedDateRanges).filter { !isDropped($0) }
        guard !ranges.isEmpty else { return }
        published.beginListing()
        for range in ranges {
            if let index = published.index(of: range, on: upstreamDates) { published.recordListing(of: index) }
        }
        for range in ranges { publish(range, at: date) }
    }

    /// Whether a range is an interstitial that viewers do not get. Each such range is counted once, as far as it is
    /// known.
    private mutating func isDropped(_ range: DateRange) -> Bool {
        guard interstitials == .drop, range.isInterstitial else { return false }
        if published.recordRefusal(of: range.id) { counts[.droppedInterstitials] += 1 }
        return true
    }

    private mutating func publish(_ range: DateRange, at date: ProgramDateTime) {
        if let index = published.index(of: range, on: upstreamDates) { return update(at: index, with: range) }
        guard let upstreamStart = range.startDate else {
            counts[.malformedDateRanges] += 1
            return
        }
        let start = upstreamDates.published(upstreamStart) ?? date
        var redated = redated(range, from: upstreamStart, to: start)
        guard overlapsChannel(redated, from: start) else {
            counts[.expiredDateRanges] += 1
            return
        }
        if published.contains(redated.id) { redated.id = DateRangeID.reused(redated.id, at: start) }
        guard !published.contains(redated.id) else { return }
        if !published.appendIfPossible(PublishedDateRange(range: redated, start: start, upstream: range)) {
            counts[.excess] += published.recordRefusal(of: redated.id) ? 1 : 0
        }
    }

    private mutating func update(at index: Int, with range: DateRange) {
        guard published[index].upstream != range else { return }
        published[index].upstream = range
        let start = published[index].start
        counts[.changedDateRangeAttributes] += published.add(
            redated(range, from: range.startDate ?? start, to: start), to: index)
    }

    /// `range` with published dates. Its duration stays; an end without a duration is mapped like any other date.
    private func redated(
        _ range: DateRange, from upstreamStart: ProgramDateTime, to start: ProgramDateTime
    ) -> DateRange {
        var redated = range
        if range.startDate != start { redated.startDate = start }
        guard let end = range.endDate else { return redated }
        let sameLength = start.advanced(byMilliseconds: end.milliseconds(since: upstreamStart))
        let newEnd = range.duration.map { start.advanced(by: $0) } ?? upstreamDates.published(end) ?? sameLength
        if newEnd != end { redated.endDate = max(start, newEnd) }
        return redated
    }

    /// Whether a part of `range` overlaps the published media.
    private func overlapsChannel(_ range: DateRange, from start: ProgramDateTime) -> Bool {
        guard let channelStart, start < channelStart else { return true }
        if let end = range.end { return end > channelStart }
        return range.plannedDuration != nil || range[splice: .out] != nil || range.isEndOnNext
    }
}

extension PublishedDateRanges {
    /// The index of the range that an upstream tag describes: the same ID with the same start. The same ID with another
    /// start is another range.
    fileprivate func index(of range: DateRange, on dates: UpstreamDateMap) -> Int? {
        indices(ofUpstreamID: range.id).last { index in
            let published = ranges[index]
            guard let start = range.startDate else { return true }
            if let before = published.upstream?.startDate {
                return before.milliseconds(since: start).magnitude < PublishedDateRange.tolerance.magnitude
            }
            return dates.published(start).map(published.begins) ?? true
        }
    }
}

// MARK: - Ad breaks of cue tags, as date ranges

extension AdMarkerTimeline {
    /// Applies the cue tags of one segment, which begins at `date`.
    private mutating func apply(_ cueTags: [CueTag], at date: ProgramDateTime) {
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
        published.append(PublishedDateRange(range: range, start: date))
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
            counts[.unpairedBreakEnds] += 1
        }
    }
}

// MARK: - Ad breaks of splice commands, as date ranges

extension AdMarkerTimeline {
    /// Applies splice commands that the upstream lists beside its media, with a segment that begins at `date`. Commands
    /// whose break ended before the channel began are left out.
    private mutating func apply(listed splices: [PublishedSpliceCommand], at date: ProgramDateTime) {
        for var splice in splices.prefix(AdMarkerLimits.listedDateRanges) {
            splice.date = upstreamDates.published(splice.date) ?? date
            guard mayReachChannel(splice) else {
                counts[.expiredDateRanges] += 1
                continue
            }
            apply(splice)
        }
        counts[.excess] += max(0, splices.count - AdMarkerLimits.listedDateRanges)
    }

    private func mayReachChannel(_ splice: PublishedSpliceCommand) -> Bool {
        guard let channelStart, splice.date < channelStart else { return true }
        guard case .out = splice.kind else { return false }
        return splice.duration.map { splice.date.advanced(by: $0) > channelStart } ?? true
    }

    private mutating func apply(_ splice: PublishedSpliceCommand) {
        switch splice.kind {
        case .out(let autoReturn): beginBreak(with: splice, autoReturn: autoReturn)
        case .in(let endsAnyEvent): endBreak(with: splice, endsAnyEvent: endsAnyEvent)
        case .command: publish(splice, as: .command)
        case .canceled: cancel(splice)
        }
    }

    /// Cancels a break that has not begun: it ends at its beginning, and its range gets the command. Without such a
    /// break, the command gets a range of its own, because receivers of transport streams may wait for a splice that no
    /// range shows.
    private mutating func cancel(_ splice: PublishedSpliceCommand) {
        if let index = published.indexOfOpenSplice(splice.eventID) {
            published.end(index, at: splice.date, section: splice.section, as: .command)
        } else if !published.hasCanceled(splice.eventID) {
            publish(splice, as: .command, DateRangeID.cancellation(of: splice.eventID, at: splice.date))
        }
    }

    private mutating func beginBreak(with splice: PublishedSpliceCommand, autoReturn: Bool) {
        // Encoders send a splice command several times.
        if published.hasSplice(splice) { return }
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
            counts[.unpairedBreakEnds] += 1
            publish(splice, as: .command)
        }
    }

    private mutating func publish(_ splice: PublishedSpliceCommand, as attribute: DateRange.SpliceAttribute) {
        guard !published.hasSplice(splice) else { return }
        publish(splice, as: attribute, DateRangeID.splice(splice.eventID, at: splice.date))
    }

    private mutating func publish(
        _ splice: PublishedSpliceCommand, as attribute: DateRange.SpliceAttribute, _ id: String
    ) {
        var range = DateRange(id: published.unusedID(id))
        range.startDate = splice.date
        range.plannedDuration = splice.duration
        range[splice: attribute] = splice.section
        published.append(PublishedDateRange(range: range, start: splice.date))
    }

    private mutating func endAutoReturnBreaks(by date: ProgramDateTime) {
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

    /// Whether a range contains the command. Commands without an event ID, such as encrypted ones, are compared by
    /// their bytes.
    fileprivate func hasSplice(_ splice: PublishedSpliceCommand) -> Bool {
        ranges.contains { published in
            DateRangeID.isSplice(published.range.id, splice.eventID) && published.begins(near: splice.date)
                && (splice.eventID != nil || published.range[splice: .command] == splice.section)
        }
    }

    /// `id`, with a number after it if a range already has that ID.
    fileprivate func unusedID(_ id: String) -> String {
        var (unused, number) = (id, 1)
        while contains(unused) {
            number += 1
            unused = "\(id)-\(number)"
        }
        return unused
    }

    fileprivate func indexOfOpenSplice(_ eventID: UInt32?) -> Int? {
        openSplices.last { DateRangeID.isSplice(ranges[$0].range.id, eventID) }
    }

    /// Whether the latest command about an event canceled it. Encoders send a command several times.
    fileprivate func hasCanceled(_ eventID: UInt32?) -> Bool {
        let latest = ranges.last {
            DateRangeID.isSplice($0.range.id, eventID) || DateRangeID.isCancellation($0.range.id, of: eventID)
        }
        return latest.map { $0.isCanceledBreak || !DateRangeID.isSplice($0.range.id, eventID) } ?? false
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

/// The outcomes of the upstream's ad markers, over the life of the channel.
package enum AdMarkerCount: Int, CountKey {
    /// Cue tags that were passed on.
    case cueTags
    /// EXT-X-DATERANGE tags that were written: new ranges and later additions to them.
    case dateRanges
    /// Ranges that ended before the first published segment.
    case expiredDateRanges
    /// Ranges whose START-DATE is absent or cannot be read.
    case malformedDateRanges
    /// Attributes that the upstream changed. A published attribute cannot change (RFC 8216 §4.3.2.7).
    case changedDateRangeAttributes
    /// Ends of ad breaks that never began.
    case unpairedBreakEnds
    /// Interstitials that viewers do not get, because the operator says so.
    case droppedInterstitials
    /// Tags that no standard defines.
    case otherTags
    /// Ad markers of segments that had no frame for too long.
    case unplaced
    /// Ad markers that were dropped because there were too many at once.
    case excess
}

/// A map from the dates of the upstream to the published dates.
///
/// The offset between the two is constant while both clocks run alike. If the published clock cannot follow, each span
/// of upstream dates has its own offset.
struct UpstreamDateMap: Equatable, Sendable {
    private struct DateOffset: Equatable, Sendable {
        /// The upstream date from which the offset applies.
        let start: ProgramDateTime
        /// Milliseconds from the upstream date to the published date.
        let milliseconds: Int64
    }

    private static let limit = 64

    private var offsets: [DateOffset] = []

    mutating func record(_ date: ProgramDateTime, as published: ProgramDateTime) {
        let (distance, overflows) = published.millisecondsSince1970.subtractingReportingOverflow(
            date.millisecondsSince1970)
        guard !overflows, offsets.last?.milliseconds != distance else { return }
        offsets.append(DateOffset(start: date, milliseconds: distance))
        if offsets.count > Self.limit { offsets.removeFirst() }
    }

    /// The published date of the upstream's `date`; nil if no date was recorded yet.
    func published(_ date: ProgramDateTime) -> ProgramDateTime? {
        let offset = offsets.last { $0.start <= date } ?? offsets.first
        return offset.map { date.advanced(byMilliseconds: $0.milliseconds) }
    }
}
