import TestSupport

// MARK: - Periods, times, dates

extension Oracle {
    /// Within a showing on one clock, frames keep their distances; a period begins only where something changes.
    mutating func judgePeriods() {
        var before: PublishedFrame?
        for frame in published {
            defer { before = frame }
            guard let before, let last = before.source, let next = frame.source else { continue }
            let at = record.segments[frame.segment].at
            let isNewPeriod = (before.segment + 1..<max(before.segment + 1, frame.segment + 1)).contains {
                record.segments[$0].text.isDiscontinuous
            }
            let sourceStep = source[next].clock - source[last].clock
            let isNext = next == last + 1 && source[next].identity.content == source[last].identity.content
            guard isNext, sourceStep > 0, sourceStep < 9000 else { continue }
            let step = frame.time - before.time
            if !isNewPeriod, abs(step - sourceStep) > 2 {
                find(.clock, at: at, "\(name(of: frame.identity)) is \(step) ticks after the frame before, not \(sourceStep)")
            }
            let (one, other) = (record.segments[before.segment], record.segments[frame.segment])
            let isExpected = one.life != other.life || frame.segment > before.segment + 1
                || Limits.mayBeginPeriod(between: source[last], source[next], self)
            if isNewPeriod, !isExpected {
                find(.discontinuity, at: at, "a period begins at \(name(of: frame.identity)), where nothing changes")
            }
        }
    }

    /// Audio is where the source has it, to half an audio frame, and complete inside each showing.
    mutating func judgeAudio() {
        // Of each showing: published minus source time of its video, by place in the broadcast.
        var spans: [Span] = []
        var segment = -1
        for frame in published {
            guard let place = frame.source else { continue }
            let shift = frame.time - source[place].clock
            let format = format(of: frame.identity.content)?.frameDuration ?? 3600
            let isNewPeriod = frame.segment != segment && record.segments[frame.segment].text.isDiscontinuous
            segment = frame.segment
            if let last = spans.last, last.content == frame.identity.content, abs(last.shift - shift) < 4,
                abs(last.end - frame.time) < 4, !isNewPeriod
            {
                spans[spans.count - 1].end = frame.time + format
                spans[spans.count - 1].segments = last.segments.lowerBound..<frame.segment + 1
            } else {
                spans.append(
                    Span(content: frame.identity.content, shift: shift, start: frame.time, end: frame.time + format,
                        clock: source[place].clock - frame.identity.frame * format,
                        segments: frame.segment..<frame.segment + 1))
            }
        }
        var frames: [PublishedAudio] = []
        for (number, segment) in record.segments.enumerated() {
            guard let media = segment.media, let track = segment.initialization?.tracks.first(where: { !$0.isVideo }) else {
                continue
            }
            for sample in media.tracks.filter({ $0.number == track.number }).flatMap(\.samples) {
                frames.append(
                    PublishedAudio(
                        identity: sample.identity, segment: number,
                        time: Int((Double(sample.presentation) * 90_000 / Double(track.timescale)).rounded()),
                        duration: Int((Double(sample.duration) * 90_000 / Double(track.timescale)).rounded()), at: segment.at,
                        configuration: track.configuration.first ?? []))
            }
        }
        judgeAudio(frames, spans)
    }

    struct Span {
        let content: Int
        /// Published minus source time, ticks.
        let shift: Int
        let start: Int
        var end: Int
        /// Source time of the content's frame 0.
        let clock: Int
        /// Indices in the record.
        var segments: Range<Int>
    }

    struct PublishedAudio {
        let identity: FrameIdentity?
        let segment: Int
        let time: Int
        let duration: Int
        let at: Int
        let configuration: [UInt8]
    }

    private mutating func judgeAudio(_ frames: [PublishedAudio], _ spans: [Span]) {
        var index = 0
        for span in spans {
            while index < frames.count, frames[index].segment < span.segments.lowerBound { index += 1 }
            guard let format = format(of: span.content) else { continue }
            let length = 1024 * 90_000 / format.sampleRate
            var heard: Set<Int> = []
            var position = index
            while position < frames.count, frames[position].segment < span.segments.upperBound {
                let frame = frames[position]
                if let identity = frame.identity, identity.content == span.content {
                    let due = span.clock + format.audioTime(identity.frame) + span.shift
                    // The first frame of a period carries what is left of the audio before it.
                    let isOnTime = abs(frame.time - due) <= 1080
                        || heard.isEmpty && abs(frame.time + frame.duration - due - length) <= 1080
                    if !isOnTime {
                        // Another round of a loop, or the showing before.
                        if abs(frame.time - due) < 90_000 {
                            find(.audio, at: frame.at, "audio \(name(of: identity)) is \((frame.time - due) / 90) ms late")
                            return
                        }
                    } else {
                        heard.insert(identity.frame)
                        if frame.configuration != format.audioConfiguration {
                            find(.audio, at: frame.at, "audio \(name(of: identity)) has another configuration's init section")
                            return
                        }
                    }
                }
                position += 1
            }
            // At both ends frames may be trimmed, or wait for their video.
            let margin = 3 * length
            let first = format.audioFrame(from: max(0, span.start + margin - span.shift - span.clock))
            let last = format.audioFrame(from: max(0, span.end - margin - span.shift - span.clock))
            let missing = first < last ? (first..<last).filter { !heard.contains($0) } : []
            if let frame = missing.first {
                let at = Int(Double(span.start) / 90)
                find(
                    .audio, at: at,
                    "\(missing.count) of \(last - first) audio frames from \(name(of: FrameIdentity(content: span.content, frame: frame))) on are missing")
                return
            }
        }
    }

    /// Dates are those of the media, and never go back.
    mutating func judgeDates() {
        var end: Double?
        for (index, segment) in record.segments.enumerated() {
            guard let date = segment.text.date.flatMap(Self.milliseconds) else { continue }
            if let end, date < end - 2 {
                find(.date, at: segment.at, "segment \(segment.number) is dated \(Int(end - date)) ms back")
            }
            if let end, date > end + 1000, !segment.text.isDiscontinuous {
                find(.date, at: segment.at, "segment \(segment.number) is dated \(Int(date - end)) ms ahead inside a period")
            }
            end = date + (Double(segment.text.duration) ?? 0) * 1000
            guard history.isDated, !segment.text.isGap, let place = published.first(where: { $0.segment == index })?.source
            else { continue }
            let departure = date - source[place].at
            if abs(departure) > Limits.dateTolerance(self) {
                find(.date, at: segment.at, "segment \(segment.number) is dated \(Int(departure)) ms after its media")
                return
            }
        }
    }

    /// Milliseconds since the channel began of a date such as 2026-03-01T00:00:12.345Z of the channel's days.
    static func milliseconds(_ date: String) -> Double? {
        let parts = date.split { "-T:Z".contains($0) }
        guard parts.count == 6, let day = Double(parts[2]), let hour = Double(parts[3]), let minute = Double(parts[4]),
            let second = Double(parts[5])
        else { return nil }
        // The channel begins at midnight of 2026-03-01, and lists some media of the day before.
        let days = parts[1] == "02" ? -1 : day - 1
        return (((days * 24 + hour) * 60 + minute) * 60 + second) * 1000
    }

    /// The playlist grows: in time while all is well, with gaps while not.
    mutating func judgeProgress() {
        var grewAt: Int?
        var life = -1
        var last: UInt64?
        for version in record.versions {
            guard version.playlist.end != last else { continue }
            last = version.playlist.end
            let start = version.life == life ? grewAt : nil
            (life, grewAt) = (version.life, version.at)
            guard let start else { continue }
            let limit = Limits.standstill(from: start, to: version.at, history)
            if version.at - start > limit {
                find(.standstill, at: version.at, "nothing was listed for \(version.at - start) ms; the limit is \(limit)")
            }
        }
        if let grewAt, let life = record.lives.last, life.sessionEnd == nil {
            let limit = Limits.standstill(from: grewAt, to: life.end, history)
            if life.end - grewAt > limit {
                find(.standstill, at: life.end, "nothing was listed for \(life.end - grewAt) ms at the end")
            }
        }
        judgeLatency()
    }

    /// Frames are published soon after they are there.
    private mutating func judgeLatency() {
        var isReported = false
        var seen: Set<Int> = []
        for frame in published where !isReported {
            guard let place = frame.source, seen.insert(source[place].segment).inserted else { continue }
            let segment = broadcast.segments[source[place].segment]
            let late = record.segments[frame.segment].at - segment.end
            guard let limit = Limits.latency(of: segment, history), late > limit else { continue }
            isReported = true
            find(.latency, at: record.segments[frame.segment].at, "segment \(segment.index) came \(late) ms late; the limit is \(limit)")
        }
    }

    /// A channel that ends is published to its end.
    mutating func judgeEnd() {
        guard let life = record.lives.last else { return }
        if broadcast.endsAt != nil {
            if record.versions.last?.playlist.hasEnded != true { find(.end, at: life.end, "no EXT-X-ENDLIST; \(life.state)") }
        } else {
            // A live channel that has ended is believed after a while.
            if Limits.mayEnd(broadcast) { return }
            if let end = life.sessionEnd { find(.end, at: life.end, "the channel ended: \(end)") }
            if record.versions.last?.playlist.hasEnded == true { find(.end, at: life.end, "EXT-X-ENDLIST, and no end") }
        }
    }

    /// Dropped media is counted, and nothing else is.
    mutating func judgeCounts() {
        let isQuiet = Limits.rejoins(history).isEmpty
        for life in record.lives {
            if isQuiet, life.duplicateFrames > 0 {
                find(.count, at: life.end, "\(life.duplicateFrames) frames are taken for duplicates")
            }
            if life.framesBeforeSync > 0 { find(.count, at: life.end, "\(life.framesBeforeSync) frames before a random access point") }
        }
        guard record.lives.count == 1, let life = record.lives.first, let first = published.first?.source else { return }
        let end = life.end - Limits.patience(history) - Limits.hold(history)
        let lost = broadcast.segments.filter {
            $0.index >= source[first].segment && arrivals[$0.index].isEmpty && $0.end < end && $0.end > life.start
        }
        let isRenumbered = broadcast.eras.count > 1
        if !isRenumbered, life.lost < lost.count { find(.count, at: life.end, "\(lost.count) segments are lost, \(life.lost) are counted") }
    }
}
