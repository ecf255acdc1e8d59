/// The subtitle renditions of a channel, beside its picture: told what was published, they give the subtitles of each
/// segment. The picture never waits for them.
package struct SubtitleTimeline: Sendable {
    private var shown = ShownRuns()
    private var tracks: [SubtitleTrack]
    private var lastEnd: Ticks?
    private let lateness: Ticks?

    /// - Parameters:
    ///   - renditions: how many.
    ///   - lateness: media time that a rendition may be behind the picture before a segment is given without the rest of
    ///     its cues; nil: any, for a programme that is finished.
    package init(renditions: Int, lateness: Ticks?) {
        tracks = Array(repeating: SubtitleTrack(), count: renditions)
        self.lateness = lateness
    }

    package var counts: SubtitleCounts { tracks.reduce(into: SubtitleCounts()) { $0 += $1.counts } }

    /// A segment was published under `mediaSequence`.
    package mutating func note(_ segment: SplicedSegment, as mediaSequence: UInt64) -> [SettledSubtitles] {
        let end = segment.position.presentationEnd
        return note(
            segment.spans,
            of: SubtitleTrack.Pending(
                mediaSequence: mediaSequence, run: segment.description.run,
                start: lastEnd ?? end - segment.duration, end: end))
    }

    mutating func note(_ spans: [SourceSpan], of segment: SubtitleTrack.Pending) -> [SettledSubtitles] {
        for span in spans { shown.note(span) }
        lastEnd = segment.end
        for index in tracks.indices { tracks[index].expect(segment) }
        return settle()
    }

    /// A segment of pictures that is not published: its subtitles have no place.
    package mutating func skip(_ segment: SplicedSegment) {
        for span in segment.spans { shown.note(span) }
        lastEnd = segment.position.presentationEnd
    }

    package mutating func take(_ segment: SubtitleInput, of rendition: Int) -> [SettledSubtitles] {
        guard tracks.indices.contains(rendition) else { return [] }
        tracks[rendition].take(segment, shown: shown)
        return settle()
    }

    /// No more of this rendition comes.
    package mutating func end(_ rendition: Int) -> [SettledSubtitles] {
        guard tracks.indices.contains(rendition) else { return [] }
        tracks[rendition].end()
        return settle()
    }

    /// No more pictures come.
    package mutating func endPictures() -> [SettledSubtitles] {
        shown.endRun()
        return settle()
    }

    private mutating func settle() -> [SettledSubtitles] {
        tracks.indices.flatMap { index in
            tracks[index].settle(shown, lateness: lateness).map {
                SettledSubtitles(rendition: index, mediaSequence: $0.segment.mediaSequence, bytes: $0.bytes)
            }
        }
    }
}
