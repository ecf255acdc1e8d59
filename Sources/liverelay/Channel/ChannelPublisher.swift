import LiveRing
import Media
import Playlist
import Splice
import Tracker

/// What viewers get of a channel, whichever source it is of: segments on one timeline, with the marks and the subtitles
/// that belong to them, and gaps where there is nothing.
struct ChannelPublisher: Sendable {
    private(set) var ring: DVRRing
    /// Where the output's clocks stand.
    private(set) var position: TimelinePosition
    private(set) var subtitles: SubtitlePipeline
    private var markers: AdMarkerTimeline
    /// Of sources published before.
    private var earlierMarkerCounts = AdMarkerCounts()
    /// By an earlier process; nil when there was nothing.
    let publishedBefore: PublishedMedia?
    /// Something was published, by this process or an earlier one.
    private(set) var hasBegun: Bool
    private(set) var spoolFailure = SpoolFailure()
    /// Segments that the spool did not take.
    private(set) var unwrittenSegments = 0
    /// Listed for what did not come, or could not be stored.
    private(set) var gapSegments = 0

    /// - Parameter isLive: subtitles that fall behind are not waited for; those of a finished programme are.
    init(in ring: DVRRing, isLive: Bool) {
        self.ring = ring
        position = ring.resumePoint.map(TimelinePosition.init) ?? .beginning
        subtitles = SubtitlePipeline(ring, isLive: isLive)
        markers = Self.adMarkers(of: ring)
        publishedBefore = Self.publishedMedia(in: ring)
        hasBegun = ring.resumePoint != nil
    }

    /// Goes on with the same ring, opened as the upstream is.
    mutating func replaceRing(_ ring: DVRRing, isLive: Bool) {
        self.ring = ring
        subtitles = SubtitlePipeline(ring, isLive: isLive)
    }

    /// Milliseconds since 1970 where the newest entry ends; nil before the first.
    var datedUntil: Int64? { ring.snapshot.edge?.programDateTimeEnd.millisecondsSince1970 }
    var longestSegment: Ticks { Ticks(ring.maximumSegmentDuration) }
    var markerCounts: AdMarkerCounts { earlierMarkerCounts + markers.counts }

    private static func publishedMedia(in ring: DVRRing) -> PublishedMedia? {
        let pictures = ring.snapshot.index.listed
            .compactMap { $0.resumePoint.upstream?.publishedFrames.flatMap(PublishedFrames.init(text:)) }
        return pictures.isEmpty ? nil : PublishedMedia(Array(pictures))
    }

    private static func adMarkers(of ring: DVRRing) -> AdMarkerTimeline {
        AdMarkerTimeline(resuming: ring.snapshot.index) { SpliceInfoSection.returnsByItself($0) }
    }
}

// MARK: - What belongs to the segments

extension ChannelPublisher {
    /// Marks of a segment that is about to be taken.
    mutating func append(_ upstream: UpstreamAdMarkers) { markers.append(upstream) }

    /// What begins in the segment was begun before.
    mutating func discardCues(of mediaSequence: UInt64) { markers.withdrawCueTags(of: mediaSequence) }

    /// The marks that come are of another source.
    mutating func resetMarkers() {
        earlierMarkerCounts = earlierMarkerCounts + markers.counts
        markers = Self.adMarkers(of: ring)
    }

    mutating func process(_ content: Delivery.Content, ofSubtitles rendition: Int) async -> [ChannelPipeline.Event] {
        await subtitles.process(content, of: rendition)
    }
}

// MARK: - Segments and gaps

extension ChannelPublisher {
    /// - Parameters:
    ///   - source: where it ends in what it was made of; nil of what stands in for that.
    ///   - hasSubtitles: they are placed by its clocks, which are those of the channel's own upstream.
    mutating func publish(
        _ segment: SplicedSegment, from source: UpstreamPosition?, hasSubtitles: Bool = false
    ) async -> [ChannelPipeline.Event] {
        position = segment.position
        // Marks that could not be published are told with the next segment.
        var next = markers
        let told = next.dequeueMarkers(for: AdMarkerTarget(segment))
        var shown = segment
        if !hasSubtitles { shown.spans = [] }
        let before = ring.snapshot.edge?.mediaSequence
        do throws(RingError) {
            try await ring.publish(NewSegment(segment, from: source, marks: told))
            markers = next
            hasBegun = true
            let number = ring.snapshot.edge?.mediaSequence ?? 0
            let published = ChannelPipeline.Event.published(
                mediaSequence: number, upstream: segment.mediaSequence, duration: segment.duration)
            return await spoolFailure.clear() + [published] + subtitles.recordPublished(shown, as: number)
        } catch {
            unwrittenSegments += 1
            // The ring lists it as a gap, if it can.
            if ring.snapshot.edge?.mediaSequence != before { gapSegments += 1 }
            return await spoolFailure.record(error) + subtitles.recordPublished(shown, as: nil)
        }
    }

    mutating func publishGap(lasting duration: Ticks) async -> [ChannelPipeline.Event] {
        let later = position.advanced(by: duration)
        do throws(RingError) {
            try await ring.publishGap(lasting: duration.count, resumePoint: ResumePoint(later))
            position = later
            gapSegments += 1
            return []
        } catch {
            return spoolFailure.record(error)
        }
    }

    /// Lists the segments of an earlier process of which its damaged journal tells nothing any more. Of those that nothing
    /// is known behind nobody knows how long they were: the clocks go on behind what it can have been at most.
    mutating func publishUnrecordedGaps() async throws(RingError) -> [ChannelPipeline.Event] {
        let lost = ring.lostRecords + ring.unrecordedSegments
        guard ring.wasDamaged else { return [] }
        if ring.unrecordedSegments > 0 {
            let marks = (0..<ring.unrecordedSegments).map { _ in
                position = position.advanced(by: longestSegment)
                return ResumePoint(position)
            }
            try await ring.publishUnrecordedGaps(marks)
        }
        gapSegments += lost
        return [.journalDamaged(lost: lost)]
    }

    /// Nothing follows.
    /// - Parameter dateRanges: listed at the upstream's end, with no segment.
    mutating func end(with dateRanges: [DateRange]) async -> [ChannelPipeline.Event] {
        if let edge = ring.snapshot.edge {
            await ring.end(adding: markers.finish(dateRanges, at: edge.programDateTimeEnd))
        } else {
            await ring.end()
        }
        return await subtitles.finish() + [.ended]
    }
}
