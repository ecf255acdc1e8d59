// MARK: - Subtitles: each cue at the time of its frame

extension Oracle {
    mutating func judgeSubtitles() {
        guard history.has(.subtitles) else { return }
        var times: [Int: PublishedFrame] = [:]
        for frame in published { if let place = frame.source { times[place] = frame } }
        var showings: [FrameIdentity: [Int]] = [:]
        for (place, frame) in source.enumerated() { showings[frame.identity, default: []].append(place) }
        // Frames that were lost have the time of their showing's clock.
        let shifts = Dictionary(grouping: spans) { $0.clock }.mapValues { $0.map(\.shift) }
        let cues = record.subtitles.flatMap { file in file.cues.map { (file, $0) } }
        for (file, cue) in cues {
            let places = showings[cue.identity] ?? []
            let due = places.compactMap { times[$0]?.time }
            let lost = places.filter { times[$0] == nil }.flatMap { place in
                (shifts[clock(at: place)] ?? []).map { source[place].clock + $0 }
            }
            guard !due.isEmpty, !(due + lost).contains(where: { isNear($0, cue.start) }) else { continue }
            find(.subtitle, at: file.at, "the cue of \(cue.identity) is at \(cue.start), not at \(due)")
        }
        for segment in broadcast.segments {
            for cue in segment.cuesOfSubtitles where cue.part == 0 {
                guard
                    let place = places[segment.index].first(where: { source[$0].identity == cue.identity }),
                    let frame = times[place], isDue(segment.index, frame)
                else { continue }
                if cues.contains(where: { $0.1.identity == cue.identity && isNear(frame.time, $0.1.start) }) {
                    continue
                }
                return find(
                    .subtitle, at: record.segments[frame.segment].at,
                    "no cue is at \(name(of: place))")
            }
        }
    }

    private func isNear(_ time: Int, _ wire: Int) -> Bool {
        let distance = (time - wire) & (1 << 33 - 1)
        return min(distance, 1 << 33 - distance) < 300
    }

    /// Whether the cues of a segment came in time for its video, in one process.
    private func isDue(_ segment: Int, _ frame: PublishedFrame) -> Bool {
        let at = record.segments[frame.segment].at
        let life = record.lives[record.segments[frame.segment].life]
        guard at < life.end - limits.subtitleHold else { return false }
        return log.subtitleAttempts.contains {
            $0.segment == segment && $0.isWhole && $0.answeredAt >= life.start
                && $0.answeredAt < at + limits.subtitleLateness
        }
    }
}

extension Limits {
    /// A live rendition that is later than this gets empty files (docs/timeline.md).
    var subtitleLateness: Int { max(2 * history.targetDuration * 1000, 6000) - 3000 }

    /// The time after which subtitles that came are published.
    var subtitleHold: Int {
        2 * longestSegment + max(2 * history.targetDuration * 1000, 6000) + 5000
    }
}
