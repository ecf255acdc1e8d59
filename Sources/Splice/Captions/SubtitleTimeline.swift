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
    private var captions: [CaptionSegmenter]
    private var lastEnd: Ticks?
    private let maxLateness: Ticks?

    /// - Parameters:
    ///   - renditions: number of renditions of the upstream.
    ///   - captions: the channels of CEA-608, 1 ... 4, that the renditions after those are made of.
    ///   - maxLateness: media time by which a rendition may be later than the video before a segment's subtitles are
    ///     published incomplete; nil: no limit, for a VOD program.
    package init(renditions: Int, captions: [Int] = [], lateness maxLateness: Ticks?) {
        self.renditions = Array(repeating: Rendition(), count: renditions)
        self.captions = captions.map { CaptionSegmenter(channel: $0) }
        self.maxLateness = maxLateness
    }

    package var counts: Counts<SubtitleCount> {
        renditions.reduce(into: Counts<SubtitleCount>()) {
            $0 += $1.placer.counts
            $0 += $1.segmenter.counts
        } + captions.reduce(into: Counts<SubtitleCount>()) { $0 += $1.counts }
    }

    /// Adds a segment that was published as `mediaSequence`.
    package mutating func append(_ segment: SplicedSegment, publishedAs mediaSequence: UInt64) -> [SegmentSubtitles] {
        let end = segment.position.presentationEnd
        let published = SubtitleSegmenter.PublishedSegment(
            mediaSequence: mediaSequence, period: segment.description.index,
            start: lastEnd ?? end - segment.duration, end: end)
        return captionFiles(of: segment, published) + append(segment.spans, of: published)
    }

    private mutating func captionFiles(
        of segment: SplicedSegment, _ published: SubtitleSegmenter.PublishedSegment
    ) -> [SegmentSubtitles] {
        guard !captions.isEmpty else { return [] }
        let start = published.end - segment.duration
        let frames = segment.captionFrames(from: start)
        return captions.indices.map { index in
            let bytes = captions[index].write(
                frames, from: start, to: published.end, isDiscontinuous: segment.isDiscontinuous)
            return SegmentSubtitles(
                rendition: renditions.count + index, mediaSequence: published.mediaSequence, bytes: bytes)
        }
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
