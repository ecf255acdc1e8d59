package import Media
package import Support

/// Produces the subtitles of each published segment, for all subtitle renditions of a channel.
///
/// Video is published without waiting for subtitles.
package struct SubtitleTimeline: Sendable {
    private struct Rendition: Sendable {
        var placer = CuePlacer()
        var segmenter = SubtitleSegmenter()
    }

    private var published = PublishedSpans()
    private var renditions: [Rendition]
    private var lastEnd: Ticks?
    private let maxLateness: Ticks?

    /// - Parameters:
    ///   - renditions: number of renditions.
    ///   - maxLateness: media time by which a rendition may be later than the video before a segment's subtitles are
    ///     published incomplete; nil: no limit, for a VOD program.
    package init(renditions: Int, lateness maxLateness: Ticks?) {
        self.renditions = Array(repeating: Rendition(), count: renditions)
        self.maxLateness = maxLateness
    }

    package var counts: Counts<SubtitleCount> {
        renditions.reduce(into: Counts<SubtitleCount>()) {
            $0 += $1.placer.counts
            $0 += $1.segmenter.counts
        }
    }

    /// Adds a segment that was published as `mediaSequence`.
    package mutating func append(_ segment: SplicedSegment, publishedAs mediaSequence: UInt64) -> [SegmentSubtitles] {
        let end = segment.position.presentationEnd
        return append(
            segment.spans,
            of: SubtitleSegmenter.PublishedSegment(
                mediaSequence: mediaSequence, period: segment.description.index,
                start: lastEnd ?? end - segment.duration, end: end))
    }

    mutating func append(
        _ spans: [SourceSpan], of segment: SubtitleSegmenter.PublishedSegment
    ) -> [SegmentSubtitles] {
        for span in spans { published.append(span) }
        lastEnd = segment.end
        for index in renditions.indices { renditions[index].segmenter.append(segment) }
        return dequeueCompleted()
    }

    /// Adds a segment that is not published, and therefore gets no subtitles.
    package mutating func skip(_ segment: SplicedSegment) {
        for span in segment.spans { published.append(span) }
        lastEnd = segment.position.presentationEnd
    }

    /// Adds an upstream segment of the rendition with index `rendition`.
    package mutating func append(_ segment: SubtitleInput, rendition: Int) -> [SegmentSubtitles] {
        guard renditions.indices.contains(rendition) else { return [] }
        renditions[rendition].placer.append(segment, published: published)
        return dequeueCompleted()
    }

    /// Ends the rendition with index `rendition`.
    package mutating func end(_ rendition: Int) -> [SegmentSubtitles] {
        guard renditions.indices.contains(rendition) else { return [] }
        renditions[rendition].segmenter.end()
        return dequeueCompleted()
    }

    /// Ends the video.
    package mutating func endVideo() -> [SegmentSubtitles] {
        published.endClockSpan()
        return dequeueCompleted()
    }

    private mutating func dequeueCompleted() -> [SegmentSubtitles] {
        renditions.indices.flatMap { index in
            let placement = renditions[index].placer.placeCues(on: published)
            renditions[index].segmenter.append(placement)
            return renditions[index].segmenter.dequeueCompleted(on: published, maxLateness: maxLateness).map {
                SegmentSubtitles(rendition: index, mediaSequence: $0.mediaSequence, bytes: $0.bytes)
            }
        }
    }
}
