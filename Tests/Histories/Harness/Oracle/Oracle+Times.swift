import PlaylistRules
import Support

// MARK: - Periods, dates, markers

extension Oracle {
    /// Frames that follow each other on one clock keep their distance; a period begins only where something changes.
    mutating func judgePeriods() {
        let spans = spans
        for (before, span) in zip(spans, spans.dropFirst()) {
            let (one, other) = (source[before.places.upperBound], source[span.places.lowerBound])
            guard span.places.lowerBound == before.places.upperBound + 1, span.content == before.content,
                1..<9000 ~= other.clock - one.clock
            else { continue }
            let (last, segment) = (before.segments.upperBound - 1, record.segments[span.segments.lowerBound])
            let isSameSize = segment.video?.width == record.segments[last].video?.width
            let isNext =
                span.segments.lowerBound <= last + 1 && segment.life == record.segments[last].life
                && !mayBeOfProcessBefore(last)
            if limits.isDamaged(at: segment.at) { continue }
            if !span.beginsPeriod {
                find(.clock, in: segment, "moves \(other.identity) by \(span.shift - before.shift) ticks")
            } else if isNext, isSameSize, !mayBeginPeriod(between: one, other),
                segment.audioConfiguration == record.segments[last].audioConfiguration
            {
                find(.discontinuity, in: segment, "begins a period at \(other.identity), where nothing changes")
            }
        }
    }

    /// Whether a period may begin between two frames of one program that follow each other: at a boundary of segments where
    /// the source may be another encoder, because its numbers are new or it was lost from sight.
    private func mayBeginPeriod(between one: SourceFrame, _ next: SourceFrame) -> Bool {
        let segment = broadcast.segments[next.segment]
        guard one.segment != next.segment else { return false }
        return history.has(.backup) || segment.isAfterPause
            || broadcast.eras.contains { $0.at > 0 && abs($0.at - segment.end) < 30_000 }
    }

    /// Dates are those of the media, and never go back.
    mutating func judgeDates() {
        var end: Double?
        let isQuiet =
            record.lives.count == 1 && !record.segments.contains(where: \.text.isGap)
            && !history.has(.damagedSegment)
        let firsts = Dictionary(published.map { ($0.segment, $0) }) { first, _ in first }
        // Decode times are continuous, and the composition offset is one constant.
        let offset = firsts.values.lazy.map(lead).min() ?? 0
        for (index, segment) in record.segments.enumerated() {
            guard let time = segment.text.date.flatMap({ Self.milliseconds($0) }) else { continue }
            if let end, time < end - 2 { find(.date, in: segment, "is dated \(Int(end - time)) ms back") }
            if let end, time > end + 1000, !segment.text.isDiscontinuous {
                find(.date, in: segment, "is dated \(Int(time - end)) ms ahead inside a period")
            }
            end = time + (Double(segment.text.duration) ?? 0) * 1000
            guard history.isDated, let first = firsts[index], let place = first.source else { continue }
            // Media that is missing before the first frame is a part of the segment.
            let departure = time + Double(lead(of: first) - offset) / 90 - source[place].at
            // Gaps and lost media are dated by whole segments.
            if abs(departure) > (isQuiet ? 250 : 60_000) {
                return find(.date, in: segment, "is dated \(Int(departure)) ms after its media")
            }
        }
    }

    /// The time of a date in milliseconds since the channel began.
    static func milliseconds(_ date: String) -> Double? {
        ProgramDateTime(parsing: date).map { Double($0.millisecondsSince1970 - Origin.epoch) }
    }

    /// Ticks from the beginning of a published frame's segment, in decoding order, to the frame.
    private func lead(of frame: PublishedFrame) -> Int {
        let (media, video) = (record.segments[frame.segment].media, record.segments[frame.segment].video)
        let start = video.flatMap { track in media?.samples(of: track.number).first.map { ($0.decode, track.timescale) }
        }
        return frame.time - (start.map { Self.ticks($0, $1) } ?? frame.time)
    }

    /// Each break that begins with a published frame has its cue tags and its date range there, and its end.
    mutating func judgeMarkers() {
        for segment in broadcast.segments where !segment.cues.isEmpty {
            guard let first = firstPublished[segment.index], first.source == places[segment.index].lowerBound
            else { continue }
            let (own, lines) = (record.segments[first.segment], record.segments[first.segment].text.markerLines)
            // The backup has none.
            let life = record.lives[own.life].start...own.at
            guard ownArrivals[segment.index].contains(where: life.contains) else { continue }
            for cue in segment.cues {
                let name = cue.split(separator: ",")[0].replacing("#EXT-X-DATERANGE:", with: "")
                if !lines.contains(where: { $0.hasPrefix(name) }) {
                    find(.marker, in: own, "has no \(name), but \(lines)")
                }
            }
        }
    }
}

// MARK: - Progress, end and counts

extension Oracle {
    /// The playlist grows: in time while all is well, with gaps while not.
    mutating func judgeGrowth() {
        var growths: [(at: Int, life: Int, end: UInt64)] = []
        for version in record.versions where version.playlist.end != growths.last?.end {
            growths.append((version.at, version.life, version.playlist.end))
        }
        if let life = record.lives.last, life.sessionEnd == nil, broadcast.endsAt == nil {
            let number = record.lives.count - 1
            if let last = growths.last, last.life < number { growths.append((life.start, number, last.end)) }
            growths.append((life.end, number, .max))
        }
        for (one, next) in zip(growths, growths.dropFirst()) where one.life == next.life {
            let limit = limits.standstill(from: one.at, to: next.at) + burst(before: one.at)
            // No gap follows an end that was seen, however long its last segments are waited for.
            let isOver = log.reloads.last { $0.at < one.at + limit }?.hasEnded ?? false
            guard next.at - one.at > limit, !isOver else { continue }
            find(.standstill, at: next.at, "nothing was listed for \(next.at - one.at) ms; the limit is \(limit)")
        }
    }

    /// Milliseconds of media that were listed at once: they are played out before missing time is listed.
    func burst(before time: Int) -> Int {
        let listed = record.segments.filter { $0.at >= time - limits.burstWindow && $0.at <= time && !$0.text.isGap }
        return max(0, listed.reduce(0) { $0 + $1.text.milliseconds } - history.targetDuration * 1000)
    }

    /// Frames are published soon after they are there.
    mutating func judgeLatency() {
        for (number, first) in firstPublished.sorted(by: { $0.key < $1.key }) {
            let (segment, at) = (broadcast.segments[number], record.segments[first.segment].at)
            guard let limit = limits.latency(of: segment), at - segment.end > limit else { continue }
            return find(.latency, at: at, "segment \(number) came \(at - segment.end) ms late; the limit is \(limit)")
        }
    }

    /// A channel that ends is published to its end. One that does not goes on, unless its upstream ended for a while.
    mutating func judgeEnd() {
        guard let life = record.lives.last else { return }
        let hasEnded = record.versions.last?.playlist.hasEnded ?? false
        guard let end = broadcast.endsAt else {
            if mayEnd { return }
            if let end = life.sessionEnd { find(.end, at: life.end, "the channel ended: \(end)") }
            if hasEnded { find(.end, at: life.end, "EXT-X-ENDLIST, and no end") }
            return
        }
        // The end is believed after a while, and delivered when it is seen.
        if hasEnded, record.segments.last?.text.isGap == true, limits.isPeaceful(before: end) {
            find(.end, at: life.end, "a gap before EXT-X-ENDLIST")
        }
        // A segment of a finished playlist that fails, and is not refused, is tried for a minute.
        let isFailing = log.attempts.last.map { $0.outcome == .failed && life.end - $0.answeredAt < 2000 } ?? false
        let isHeldUp =
            isFailing && life.end < end + Limits.finishedPatience
            || isHeldUpByPage(broadcast.segments.count, until: life.end)
        let isDue = life.end > end + limits.endBelieved + limits.pollTime && !isHeldUp && !limits.isSlowed(at: life.end)
        if life.sessionEnd != nil || isDue, !hasEnded { find(.end, at: life.end, "no EXT-X-ENDLIST; \(life.state)") }
    }

    /// Whether a live channel may end: its playlist had ended for as long as decision 31 waits, or a page in the place of the
    /// first playlist of a process ends that at once.
    var mayEnd: Bool {
        let hasPage = history.has(.pagePlaylist) || history.has(.refusedStream)
        if hasPage, !limits.rejoins.isEmpty { return true }
        guard broadcast.eras.contains(where: \.followsEnd) else { return false }
        // It may end several times.
        return log.reloads.contains { ended in
            let reopened = log.reloads.first { $0.at > ended.at && !$0.hasEnded }?.at ?? .max
            return ended.hasEnded && reopened - ended.at > limits.endBelieved - 1000
        }
    }

    /// Whether a segment may have been written by a process that was killed before it was listed.
    func mayBeOfProcessBefore(_ segment: Int) -> Bool {
        let life = record.segments[segment].life
        return life > 0 && segment > 0 && record.segments[segment - 1].life != life && history.has(.killedInPublish)
    }

    /// Dropped media is counted, and nothing else is.
    mutating func judgeCounts() {
        for life in record.lives {
            if limits.rejoins.isEmpty, reception == nil, life.duplicateFrames > 0 {
                find(.count, at: life.end, "\(life.duplicateFrames) frames are taken for duplicates")
            }
            // A process may begin inside a group of the one before it.
            if life.framesBeforeSync > 0, !history.has(.damagedSegment), life.start == record.lives.first?.start {
                find(.count, at: life.end, "\(life.framesBeforeSync) frames before a random access point")
            }
        }
        guard record.lives.count == 1, broadcast.eras.count == 1, !history.has(.backup), reception == nil,
            let life = record.lives.first, !limits.isSlowed(at: life.end), let first = published.first?.source
        else { return }
        let end = life.end - limits.patience - limits.hold(before: life.end)
        // A segment that comes late is waited for from then on.
        let lost = broadcast.segments[source[first].segment...].count { segment in
            let listedAt = log.reloads.first { $0.listed.upperBound > segment.index }?.at ?? .max
            return neverCame(segment.index) && max(segment.end, listedAt) < end && segment.end > life.start
                && !isHeldUpByPage(segment.index + 1, until: life.end)
        }
        if life.lost < lost { find(.count, at: life.end, "\(lost) segments are lost, \(life.lost) are counted") }
    }
}
