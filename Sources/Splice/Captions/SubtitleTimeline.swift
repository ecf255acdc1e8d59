package import Media
package import Support

/// Produces the subtitles of each published segment, for all subtitle renditions of a channel.
///
/// Video is published without waiting for subtitles.
package struct SubtitleTimeline: Sendable {
    private var published = PublishedSpans()
    /// The upstream's renditions, each with its index.
    private var renditions: [Int: (placer: CuePlacer, segmenter: SubtitleSegmenter)] = [:]
    private var captions: [Int: CaptionSegmenter] = [:]
    private var lastEnd: Ticks?
    private let maxLateness: Ticks?

    /// - Parameters:
    ///   - sources: what each rendition is made of; nil for a rendition of the upstream.
    ///   - maxLateness: media time by which a rendition may be later than the video before a segment's subtitles are
    ///     published incomplete; nil: no limit, for a VOD program.
    package init(sources: [CaptionSource?], lateness maxLateness: Ticks?) {
        self.maxLateness = maxLateness
        for (index, source) in sources.enumerated() { add(source, as: index) }
    }

    package mutating func add(_ source: CaptionSource?, as index: Int) {
        if let source {
            captions[index] = CaptionSegmenter(source)
        } else {
            renditions[index] = (CuePlacer(), SubtitleSegmenter())
        }
    }

    package var captionSources: [CaptionSource] { captions.values.map(\.source) }

    package func counts(of index: Int) -> Counts<SubtitleCount> {
        if let captions = captions[index] { return captions.counts }
        guard let rendition = renditions[index] else { return Counts() }
        return rendition.placer.counts + rendition.segmenter.counts
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
        let readsFrames = captions.values.contains { if case .cea608 = $0.source { true } else { false } }
        let found = SegmentCaptions(segment, from: start, readsFrames: readsFrames)
        return captions.keys.sorted().compactMap { index in
            guard var segmenter = captions[index] else { return nil }
            defer { captions[index] = segmenter }
            let bytes = segmenter.write(
                found.units(of: segmenter.source), from: start, to: published.end,
                isDiscontinuous: segment.isDiscontinuous)
            return SegmentSubtitles(rendition: index, mediaSequence: published.mediaSequence, bytes: bytes)
        }
    }

    mutating func append(
        _ spans: [SourceSpan], of segment: SubtitleSegmenter.PublishedSegment
    ) -> [SegmentSubtitles] {
        for span in spans { published.append(span) }
        lastEnd = segment.end
        for index in renditions.keys { renditions[index]?.segmenter.append(segment) }
        return dequeueCompleted()
    }

    /// Adds a segment that is not published, and therefore gets no subtitles.
    package mutating func skip(_ segment: SplicedSegment) {
        for span in segment.spans { published.append(span) }
        lastEnd = segment.position.presentationEnd
    }

    package mutating func append(_ segment: SubtitleInput, rendition: Int) -> [SegmentSubtitles] {
        renditions[rendition]?.placer.append(segment, published: published)
        return dequeueCompleted()
    }

    package mutating func end(_ rendition: Int) -> [SegmentSubtitles] {
        renditions[rendition]?.segmenter.end()
        return dequeueCompleted()
    }

    package mutating func endVideo() -> [SegmentSubtitles] {
        published.endClockSpan()
        return dequeueCompleted()
    }

    private mutating func dequeueCompleted() -> [SegmentSubtitles] {
        renditions.keys.sorted().flatMap { index in
            guard var rendition = renditions[index] else { return [SegmentSubtitles]() }
            defer { renditions[index] = rendition }
            rendition.segmenter.append(rendition.placer.placeCues(on: published))
            return rendition.segmenter.dequeueCompleted(on: published, maxLateness: maxLateness).map {
                SegmentSubtitles(rendition: index, mediaSequence: $0.mediaSequence, bytes: $0.bytes)
            }
        }
    }
}
