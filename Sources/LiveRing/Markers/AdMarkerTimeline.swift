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
    var upstreamDates = UpstreamDateMap()
    var published: PublishedDateRanges
    /// The time of the first segment of the channel; nil before it.
    private(set) var channelStart: ProgramDateTime?
    package internal(set) var counts = AdMarkerCounts()

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
        counts.otherTags += markers.otherTags
        counts.excessMarkers += AdMarkerLimits.dropExcess(of: &markers.cueTags)
        pendingMarkers.append(markers)
        guard pendingMarkers.count > Self.limit else { return }
        let dropped = pendingMarkers.removeFirst()
        if !dropped.cueTags.isEmpty || !dropped.dateRanges.isEmpty { counts.unplacedMarkers += 1 }
    }

    /// Removes the cue tags of an upstream segment that began in media published before, which has them already. Date
    /// ranges stay, because their IDs identify duplicates.
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
        counts.excessMarkers += AdMarkerLimits.dropExcess(of: &cueTags)
        counts.excessMarkers += AdMarkerLimits.dropExcess(of: &deferredCueTags)
        for splice in segment.splices.prefix(AdMarkerLimits.spliceCommands) { apply(splice) }
        counts.excessMarkers += max(0, segment.splices.count - AdMarkerLimits.spliceCommands)
        endAutoReturnBreaks(by: segment.date)
        let markers = SegmentAdMarkers(cueTags: cueTags, dateRanges: published.dequeueChanges())
        counts.cueTags += markers.cueTags.count
        counts.dateRanges += markers.dateRanges.count
        return markers
    }

    /// Ends the timeline.
    /// - Parameters:
    ///   - ranges: the date ranges that were added with the end of the upstream.
    ///   - date: the end of the published media.
    /// - Returns: the date ranges that no segment carried.
    package mutating func finish(_ ranges: [DateRange], at date: ProgramDateTime) -> [DateRange] {
        if !deferredCueTags.isEmpty { counts.unplacedMarkers += 1 }
        for markers in pendingMarkers {
            if !markers.cueTags.isEmpty { counts.unplacedMarkers += 1 }
            publish(markers.dateRanges, at: date)
        }
        publish(ranges, at: date)
        (deferredCueTags, pendingMarkers) = ([], [])
        endAutoReturnBreaks(by: date)
        let changes = published.dequeueAllChanges()
        counts.dateRanges += changes.count
        return changes
    }

    /// Applies the pending ad markers up to the upstream segment of `placement`.
    /// - Returns: their cue tags.
    private mutating func applyPending(at placement: AdMarkerPlacement) -> [CueTag] {
        if let upstreamDate = placement.upstreamDate { upstreamDates.record(upstreamDate, as: placement.date) }
        var cueTags: [CueTag] = []
        for markers in dequeuePending(upTo: placement.mediaSequence) {
            publish(markers.dateRanges, at: placement.date)
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
