import Conformance
import Export
package import LiveRing
import Media
import Playlist
import Splice
import Support

/// Publishes one channel on one timeline, whichever source its segments come from.
///
/// Segments are listed with the ad markers and subtitles that belong to them; missing media is listed as gaps.
struct ChannelPublisher: Sendable {
    private(set) var ring: DVRRing
    /// The end of what is published, on the output's clocks.
    private(set) var position: TimelinePosition
    var subtitles: SubtitlePipeline
    var markers: AdMarkerTimeline
    /// Judges what is published; nil if the configuration does not say so.
    var checker: PublicationChecker?
    private var hasReportedExcessMarkers = false
    /// The end of what an earlier process published, until this one has published.
    private var publishedUntil: ProgramDateTime?
    private var hasMeasuredArchive = false
    /// Counts of the sources that were active before.
    private var earlierMarkerCounts = Counts<AdMarkerCount>()
    /// Media that an earlier process published; nil if there is none.
    let publishedBefore: PublishedMedia?
    private let permit: PublicationPermit?
    /// How the segments are written as transport streams.
    private(set) var transportStream: TransportStreamTimeline
    /// Whether this process or an earlier one published anything.
    private(set) var hasBegun: Bool
    private(set) var spoolFailure = SpoolFailure()
    /// Segments that the spool refused.
    private(set) var unwrittenSegments = 0
    /// Late segments of each further video track that could not be added, by the track's index.
    private(set) var unwrittenVideo: [Int: Int] = [:]
    /// Segments listed as gaps, because media is missing or could not be written.
    private(set) var gapSegments = 0

    /// - Parameters:
    ///   - beginning: where the timeline begins if `ring` never held a segment.
    ///   - captionsToWebVTT: whether subtitle renditions are made of captions and teletext.
    ///   - isLive: whether late subtitles are skipped. Those of a finished playlist are waited for.
    ///   - permit: asked before an entry becomes visible; nil: each entry may.
    init(
        in ring: DVRRing, from beginning: TimelinePosition, captionsToWebVTT: Bool, isLive: Bool,
        permit: PublicationPermit? = nil
    ) {
        self.ring = ring
        self.permit = permit
        position = ring.resumePoint.map(TimelinePosition.init) ?? beginning
        subtitles = SubtitlePipeline(ring, makesCaptions: captionsToWebVTT, isLive: isLive)
        markers = Self.adMarkers(of: ring)
        transportStream = TransportStreamTimeline(resuming: ring.snapshot)
        publishedBefore = Self.publishedMedia(in: ring)
        hasBegun = ring.resumePoint != nil
        publishedUntil = ring.snapshot.index.newest?.programDateTimeEnd
    }

    /// Continues with the same spool, whose ring was opened again with the upstream's parameters.
    mutating func replaceRing(_ ring: DVRRing, isLive: Bool) {
        self.ring = ring
        subtitles = SubtitlePipeline(ring, makesCaptions: subtitles.makesCaptions, isLive: isLive)
    }

    /// The end of the newest entry, and of the gaps that are listed before the next one, in milliseconds since 1970; nil
    /// before the first entry.
    var datedUntil: Int64? {
        guard let newest = ring.snapshot.index.newest else { return nil }
        let pending = position.presentationEnd - Ticks(newest.resumePoint.presentationEnd)
        return newest.programDateTimeEnd.millisecondsSince1970 + max(0, pending.count) * 1000 / Ticks.perSecond
    }
    var longestSegment: Ticks { Ticks(ring.maximumSegmentDuration) }
    var markerCounts: Counts<AdMarkerCount> { earlierMarkerCounts + markers.counts }

    private static func publishedMedia(in ring: DVRRing) -> PublishedMedia? {
        // Each segment has one key frame at most, and a rewind of days has many segments.
        let listed = ring.snapshot.index.listed.suffix(2 * PublishedMedia.maxKeyFrames)
        // A ring that continues another one lists nothing of it.
        let entries = listed.isEmpty ? [ring.snapshot.index.newest].compactMap { $0 } : Array(listed)
        let positions = entries.compactMap { $0.resumePoint.upstream }
        let frames = positions.compactMap { $0.publishedFrames.flatMap(PublishedFrames.init(text:)) }
        guard !frames.isEmpty else { return nil }
        guard let last = positions.last, last.publishedFrames != nil, last.sourceIndex == 0 else {
            return PublishedMedia(frames)
        }
        return PublishedMedia(
            frames,
            until: UpstreamSegment(
                mediaSequence: last.mediaSequence, date: last.programDateTime?.millisecondsSince1970))
    }

    private static func adMarkers(of ring: DVRRing) -> AdMarkerTimeline {
        AdMarkerTimeline(resuming: ring.snapshot.index) { SpliceInfoSection.returnsByItself($0) }
    }

    /// Starts over with the ad markers, because those that follow come from another source.
    mutating func resetMarkers() {
        earlierMarkerCounts = earlierMarkerCounts + markers.counts
        let interstitials = markers.interstitials
        markers = Self.adMarkers(of: ring)
        markers.interstitials = interstitials
    }
}

// MARK: - Segments and gaps

extension ChannelPublisher {
    /// Publishes a segment, or lists it as a gap if the spool refuses it.
    /// - Parameters:
    ///   - source: where the segment ends in its source; nil if it stands in for missing media.
    ///   - hasSubtitles: whether subtitles are placed by the segment's clocks: those of the channel's own upstream.
    mutating func publish(
        _ segment: SplicedSegment, from source: UpstreamPosition?, hasSubtitles: Bool = false
    ) async -> [ChannelPipeline.Event] {
        position = segment.position
        // The markers are dequeued from a copy: those of a segment that is refused go with the next one.
        var remaining = markers
        let segmentMarkers = remaining.dequeueMarkers(for: AdMarkerTarget(segment))
        var timed = segment
        if !hasSubtitles { timed.spans = [] }
        var nextTransportStream = transportStream
        let (point, sidecars) = nextTransportStream.append(segment, after: ring.snapshot)
        var new = NewSegment(
            segment, from: source, markers: segmentMarkers, transportStream: point, sidecars: sidecars)
        if let until = publishedUntil, let absence = DateRange(absenceFrom: until, to: new.programDateTime) {
            new.adMarkers.dateRanges.append(absence)
        }
        // Only files of several segments have a size.
        if !ring.snapshot.hasOneReader { nextTransportStream.measure(&new) }
        await subtitles.addCaptionRenditions(for: segment)
        if let permit, await !permit.request(ring.seed(of: new)) { return [] }
        do throws(RingError) {
            try await ring.publish(new)
        } catch {
            unwrittenSegments += 1
            // The ring lists the segment as a gap, at the latest before the next entry.
            if ring.snapshot.hasSegments { gapSegments += 1 }
            return await failureEvents(error) + subtitles.recordPublished(timed, as: nil)
        }
        (markers, publishedUntil) = (remaining, nil)
        let dropped = dequeueMarkerEvents()
        transportStream = nextTransportStream
        hasBegun = true
        let number = ring.snapshot.newest?.mediaSequence ?? 0
        let resumed = spoolFailure.clear().map { [ChannelPipeline.Event.publishResumed(after: $0)] } ?? []
        let published = ChannelPipeline.Event.published(
            mediaSequence: number, upstream: segment.mediaSequence, duration: segment.duration)
        return await resumed + dropped + [published] + measureArchive() + check(new)
            + subtitles.recordPublished(timed, as: number)
    }

    /// Adds the video of tracks that began on demand to segments that are published. If the spool refuses it, they stay
    /// gaps of the track.
    mutating func publish(_ late: [LateVideo]) async -> [ChannelPipeline.Event] {
        var events: [ChannelPipeline.Event] = []
        for video in late {
            var isAdded = false
            do throws(RingError) {
                isAdded = try await ring.publish(
                    NewTrack(video.media), ofVideoTrack: video.track, afterFragment: UInt64(video.sequenceNumber) + 1)
            } catch {
                events += failureEvents(error)
            }
            if !isAdded { unwrittenVideo[video.track, default: 0] += 1 }
        }
        return events
    }

    /// Judges the newest version of the playlist.
    /// - Parameter segment: its last one; nil for a gap, and for a version without a new segment.
    private mutating func check(_ segment: NewSegment?) -> [ChannelPipeline.Event] {
        let snapshot = ring.snapshot
        guard checker?.isJudged(listing: snapshot.liveSegments, isLast: snapshot.hasEnded) == true,
            let text = snapshot.livePlaylist()
        else { return [] }
        let media = segment.map { segment in
            PublicationChecker.Segment(
                header: segment.header, payload: segment.payload, initialization: segment.initialization.bytes)
        }
        return checker?.append(text, segment: media).map { .outputBroke($0) } ?? []
    }

    /// Says what the archive takes on the disk as soon as that is known.
    private mutating func measureArchive() -> [ChannelPipeline.Event] {
        guard !hasMeasuredArchive, ring.snapshot.hasArchive else { return [] }
        let storage = ring.snapshot.storage
        hasMeasuredArchive = storage.bytesPerDay != nil
        return hasMeasuredArchive ? [.archiveMeasured(storage)] : []
    }

    private mutating func dequeueMarkerEvents() -> [ChannelPipeline.Event] {
        guard !hasReportedExcessMarkers, markerCounts[.excess] > 0 else { return [] }
        hasReportedExcessMarkers = true
        return [.adMarkersDropped]
    }

    mutating func publishGap(lasting duration: Ticks) async -> [ChannelPipeline.Event] {
        position = position.advanced(by: duration)
        if let permit, let seed = await ring.seed(ofGapLasting: duration.count, resumePoint: ResumePoint(position)),
            await !permit.request(seed)
        {
            return []
        }
        gapSegments += 1
        publishedUntil = nil  // The gaps stand for the time since.
        do throws(RingError) {
            try await ring.publishGap(lasting: duration.count, resumePoint: ResumePoint(position))
            return check(nil)
        } catch {
            // The ring lists the gap before the next entry.
            return failureEvents(error)
        }
    }

    private mutating func failureEvents(_ error: RingError) -> [ChannelPipeline.Event] {
        spoolFailure.record(error) ? [.publishFailed(error)] : []
    }

    /// Lists gaps for segments of an earlier process that its damaged journal no longer records.
    ///
    /// The durations of segments after the last record are unknown, so each is assumed to have had the maximum.
    mutating func publishUnrecordedGaps() async throws(RingError) -> [ChannelPipeline.Event] {
        let lost = ring.lostRecords + ring.unrecordedSegments
        guard ring.wasDamaged else { return [] }
        if ring.unrecordedSegments > 0 {
            let resumePoints = (0..<ring.unrecordedSegments).map { _ in
                position = position.advanced(by: longestSegment)
                return ResumePoint(position)
            }
            try await ring.publishUnrecordedGaps(resumePoints)
        }
        gapSegments += lost
        return [.journalDamaged(lost: lost)]
    }

    /// Ends the channel's playlists.
    /// - Parameter dateRanges: date ranges at the upstream's end that belong to no segment.
    mutating func end(with dateRanges: [DateRange]) async -> [ChannelPipeline.Event] {
        if let edge = ring.snapshot.newest {
            let added = markers.finish(
                dateRanges.filter { !$0.isSpliceCommand }, dateRanges.flatMap(PublishedSpliceCommand.commands),
                at: edge.programDateTimeEnd)
            await ring.end(adding: added)
        } else {
            await ring.end()
        }
        return await subtitles.finish() + check(nil) + [.ended]
    }
}

/// Says when an entry may become visible, for a channel that another process may take over.
package struct PublicationPermit: Sendable {
    /// Waits until the entry may become visible.
    /// - Returns: false if it may not: the channel is another process's, or ends.
    let request: @Sendable (RingSeed) async -> Bool

    package init(request: @escaping @Sendable (RingSeed) async -> Bool) { self.request = request }
}

/// Consecutive segments that the spool refused because of disk errors.
///
/// Every segment is tried all the same, since a full disk may have room again at any moment.
package struct SpoolFailure: Equatable, Sendable {
    /// The newest disk error; nil while the spool accepts segments.
    package private(set) var error: RingError?
    /// How many segments in a row were refused.
    package private(set) var segments = 0

    /// Records that a segment was refused.
    /// - Returns: whether the error is worth reporting: the first disk error of several, or any other error.
    mutating func record(_ error: RingError) -> Bool {
        guard error.isDiskError else { return true }
        let isFirst = self.error == nil
        self.error = error
        segments += 1
        return isFirst
    }

    /// Records that a segment was accepted.
    /// - Returns: how many segments were refused before it; nil if the spool accepted the previous one.
    mutating func clear() -> Int? {
        defer { self = SpoolFailure() }
        return error == nil ? nil : segments
    }
}
