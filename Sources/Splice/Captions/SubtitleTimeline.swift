import Demux
package import Media
import Mux
import Transcode

/// The subtitle renditions of a channel, beside its picture: told what was published, they give the subtitles of each
/// segment. The picture never waits for them.
package struct SubtitleTimeline: Sendable {
    private var published = PublishedSpans()
    private var tracks: [CuePlacer]
    private var lastEnd: Ticks?
    private let longestLateness: Ticks?

    /// - Parameters:
    ///   - renditions: how many.
    ///   - lateness: media time that a rendition may be behind the picture before a segment is given without the rest of
    ///     its cues; nil: any, for a programme that is finished.
    package init(renditions: Int, lateness: Ticks?) {
        tracks = Array(repeating: CuePlacer(), count: renditions)
        self.longestLateness = lateness
    }

    package var counts: SubtitleCounts { tracks.reduce(into: SubtitleCounts()) { $0 += $1.counts } }

    /// A segment was published under `mediaSequence`.
    package mutating func append(_ segment: SplicedSegment, publishedAs mediaSequence: UInt64) -> [SegmentSubtitles] {
        let end = segment.position.presentationEnd
        return append(
            segment.spans,
            of: CuePlacer.PublishedSegment(
                mediaSequence: mediaSequence, period: segment.description.index,
                start: lastEnd ?? end - segment.duration, end: end))
    }

    mutating func append(_ spans: [SourceSpan], of segment: CuePlacer.PublishedSegment) -> [SegmentSubtitles] {
        for span in spans { published.append(span) }
        lastEnd = segment.end
        for index in tracks.indices { tracks[index].expect(segment) }
        return emitCompleted()
    }

    /// A segment of pictures that is not published: its subtitles have no place.
    package mutating func skip(_ segment: SplicedSegment) {
        for span in segment.spans { published.append(span) }
        lastEnd = segment.position.presentationEnd
    }

    package mutating func append(_ segment: SubtitleInput, rendition: Int) -> [SegmentSubtitles] {
        guard tracks.indices.contains(rendition) else { return [] }
        tracks[rendition].append(segment, published: published)
        return emitCompleted()
    }

    /// No more of this rendition comes.
    package mutating func end(_ rendition: Int) -> [SegmentSubtitles] {
        guard tracks.indices.contains(rendition) else { return [] }
        tracks[rendition].end()
        return emitCompleted()
    }

    /// No more pictures come.
    package mutating func endVideo() -> [SegmentSubtitles] {
        published.endClockSpan()
        return emitCompleted()
    }

    private mutating func emitCompleted() -> [SegmentSubtitles] {
        tracks.indices.flatMap { index in
            tracks[index].dequeueCompleted(published, lateness: longestLateness).map {
                SegmentSubtitles(rendition: index, mediaSequence: $0.segment.mediaSequence, bytes: $0.bytes)
            }
        }
    }
}
