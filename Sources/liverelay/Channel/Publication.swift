import LiveRing
import Playlist
import Splice
import Tracker

/// What viewers get of a channel, whichever source it is of: segments on one timeline, with the marks and the subtitles
/// that belong to them, and gaps where there is nothing.
struct Publication: Sendable {
    private(set) var ring: DVRRing
    /// Where the output's clocks stand.
    private(set) var position: TimelinePosition
    private(set) var subtitles: SubtitleLine
    private var marks: MarkTimeline
    /// Of sources published before.
    private var earlierMarks = MarkCounts()
    /// By an earlier process; nil when there was nothing.
    let publishedBefore: PublishedMedia?
    /// Something was published, by this process or an earlier one.
    private(set) var hasBegun: Bool
    private(set) var trouble = SpoolTrouble()
    /// Segments that the spool did not take.
    private(set) var refused = 0
    /// Listed for what did not come, or could not be stored.
    private(set) var gaps = 0

    /// - Parameter isLive: subtitles that fall behind are not waited for; those of a finished programme are.
    init(in ring: DVRRing, isLive: Bool) {
        self.ring = ring
        position = ring.resume.map(TimelinePosition.init) ?? .beginning
        subtitles = SubtitleLine(ring, isLive: isLive)
        marks = Self.marks(of: ring)
        publishedBefore = Self.published(in: ring)
        hasBegun = ring.resume != nil
    }

    /// Goes on with the same ring, opened as the upstream is.
    mutating func use(_ ring: DVRRing, isLive: Bool) {
        self.ring = ring
        subtitles = SubtitleLine(ring, isLive: isLive)
    }

    /// Milliseconds since 1970 where the newest entry ends; nil before the first.
    var datedUntil: Int64? { ring.snapshot.edge?.programDateTimeEnd.millisecondsSince1970 }
    var longestSegment: Ticks { Ticks(ring.maximumSegmentDuration) }
    var markCounts: MarkCounts { earlierMarks + marks.counts }

    private static func published(in ring: DVRRing) -> PublishedMedia? {
        let pictures = ring.snapshot.index.listed
            .compactMap { $0.mark.source?.pictures.flatMap(PublishedPictures.init(text:)) }
        return pictures.isEmpty ? nil : PublishedMedia(Array(pictures))
    }

    private static func marks(of ring: DVRRing) -> MarkTimeline {
        MarkTimeline(resuming: ring.snapshot.index) { SpliceInformation.returnsByItself($0) }
    }
}

// MARK: - What belongs to the segments

extension Publication {
    /// Marks of a segment that is about to be taken.
    mutating func note(_ upstream: UpstreamMarks) { marks.note(upstream) }

    /// What begins in the segment was begun before.
    mutating func withdrawCues(of mediaSequence: UInt64) { marks.withdrawCues(of: mediaSequence) }

    /// The marks that come are of another source.
    mutating func turnMarks() {
        earlierMarks = earlierMarks + marks.counts
        marks = Self.marks(of: ring)
    }

    mutating func take(_ content: Delivery.Content, ofSubtitles rendition: Int) async -> [ChannelLine.Event] {
        await subtitles.take(content, of: rendition)
    }
}

// MARK: - Segments and gaps

extension Publication {
    /// - Parameters:
    ///   - source: where it ends in what it was made of; nil of what stands in for that.
    ///   - hasSubtitles: they are placed by its clocks, which are those of the channel's own upstream.
    mutating func publish(
        _ segment: SplicedSegment, from source: SourceMark?, hasSubtitles: Bool = false
    ) async -> [ChannelLine.Event] {
        position = segment.position
        // Marks that could not be published are told with the next segment.
        var next = marks
        let told = next.marks(for: MarkedSegment(segment))
        var shown = segment
        if !hasSubtitles { shown.spans = [] }
        let before = ring.snapshot.edge?.mediaSequence
        do throws(RingError) {
            try await ring.publish(NewSegment(segment, from: source, marks: told))
            marks = next
            hasBegun = true
            let number = ring.snapshot.edge?.mediaSequence ?? 0
            let published = ChannelLine.Event.published(
                mediaSequence: number, upstream: segment.mediaSequence, duration: segment.duration)
            return await trouble.end() + [published] + subtitles.note(shown, as: number)
        } catch {
            refused += 1
            // The ring lists it as a gap, if it can.
            if ring.snapshot.edge?.mediaSequence != before { gaps += 1 }
            return await trouble.note(error) + subtitles.note(shown, as: nil)
        }
    }

    mutating func publishGap(lasting duration: Ticks) async -> [ChannelLine.Event] {
        let later = position.advanced(by: duration)
        do throws(RingError) {
            try await ring.publishGap(lasting: duration.count, mark: ContinuationMark(later))
            position = later
            gaps += 1
            return []
        } catch {
            return trouble.note(error)
        }
    }

    /// Lists the segments of an earlier process of which its damaged journal tells nothing any more. Of those that nothing
    /// is known behind nobody knows how long they were: the clocks go on behind what it can have been at most.
    mutating func listUnrecorded() async throws(RingError) -> [ChannelLine.Event] {
        let lost = ring.lostRecords + ring.unrecordedSegments
        guard ring.wasDamaged else { return [] }
        if ring.unrecordedSegments > 0 {
            let marks = (0..<ring.unrecordedSegments).map { _ in
                position = position.advanced(by: longestSegment)
                return ContinuationMark(position)
            }
            try await ring.listUnrecorded(marks)
        }
        gaps += lost
        return [.journalWasDamaged(lost: lost)]
    }

    /// Nothing follows.
    /// - Parameter dateRanges: listed at the upstream's end, with no segment.
    mutating func end(with dateRanges: [DateRange]) async -> [ChannelLine.Event] {
        if let edge = ring.snapshot.edge {
            await ring.end(telling: marks.end(dateRanges, at: edge.programDateTimeEnd))
        } else {
            await ring.end()
        }
        return await subtitles.endPictures() + [.ended]
    }
}
