import PlaylistRules

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
                find(
                    .clock, at: at,
                    "\(name(of: frame.identity)) is \(step) ticks after the frame before, not \(sourceStep)")
            }
            let (one, other) = (record.segments[before.segment], record.segments[frame.segment])
            let isExpected =
                lacksCompanion(source[last].segment, at: one.at)
                || one.life != other.life || frame.segment > before.segment + 1
                || Limits.mayBeginPeriod(between: source[last], source[next], self)
            if isNewPeriod, !isExpected {
                find(.discontinuity, at: at, "a period begins at \(name(of: frame.identity)), where nothing changes")
            }
        }
    }

    /// Whether a segment was published without its companion's audio. The audio that follows may have another configuration,
    /// and then begins a period.
    private func lacksCompanion(_ segment: Int, at time: Int) -> Bool {
        history.has(.companionAudio)
            && !(log.audioAttempts[.companion] ?? []).contains {
                $0.segment == segment && $0.isWhole && $0.answeredAt <= time
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
                find(
                    .date, at: segment.at,
                    "segment \(segment.number) is dated \(Int(date - end)) ms ahead inside a period")
            }
            end = date + (Double(segment.text.duration) ?? 0) * 1000
            guard history.isDated, !segment.text.isGap,
                let place = published.first(where: { $0.segment == index })?.source
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

    /// Each break that begins with a published frame has its cue tags and its date range there, and its end.
    mutating func judgeMarkers() {
        for segment in broadcast.segments where !segment.cues.isEmpty && !ownArrivals[segment.index].isEmpty {
            guard let place = source.firstIndex(where: { $0.segment == segment.index }),
                let frame = published.first(where: { $0.source == place })
            else { continue }
            let own = record.segments[frame.segment]
            for cue in segment.cues {
                let name = cue.split(separator: ",")[0].replacing("#EXT-X-DATERANGE:", with: "")
                guard !own.text.markerLines.contains(where: { $0.hasPrefix(name) }) else { continue }
                find(.marker, at: own.at, "segment \(own.number) has no \(name), but \(own.text.markerLines)")
            }
        }
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
                find(
                    .standstill, at: version.at,
                    "nothing was listed for \(version.at - start) ms; the limit is \(limit)")
            }
        }
        if let grewAt, let life = record.lives.last, life.sessionEnd == nil, broadcast.endsAt == nil {
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
            find(
                .latency, at: record.segments[frame.segment].at,
                "segment \(segment.index) came \(late) ms late; the limit is \(limit)")
        }
    }

    /// A channel that ends is published to its end.
    mutating func judgeEnd() {
        guard let life = record.lives.last else { return }
        if let end = broadcast.endsAt {
            // The end is believed after a while, and delivered when it is seen.
            let isHeldUp = hasPage(before: broadcast.segments.count) && life.end < end + Limits.finishedPatience
            let isDue = life.end > end + Limits.endDelay(history) && !isHeldUp
            guard life.sessionEnd != nil || isDue && !Limits.isSlowed(history, at: life.end) else { return }
            if record.versions.last?.playlist.hasEnded != true {
                find(.end, at: life.end, "no EXT-X-ENDLIST; \(life.state)")
            }
        } else {
            // A live channel that has ended is believed after a while.
            if Limits.mayEnd(broadcast, log) { return }
            if let end = life.sessionEnd { find(.end, at: life.end, "the channel ended: \(end)") }
            if record.versions.last?.playlist.hasEnded == true { find(.end, at: life.end, "EXT-X-ENDLIST, and no end") }
        }
    }

    /// Dropped media is counted, and nothing else is.
    mutating func judgeCounts() {
        let isQuiet = Limits.rejoins(history).isEmpty && !history.has(.backup)
        for life in record.lives {
            if isQuiet, life.duplicateFrames > 0 {
                find(.count, at: life.end, "\(life.duplicateFrames) frames are taken for duplicates")
            }
            if life.framesBeforeSync > 0 {
                find(.count, at: life.end, "\(life.framesBeforeSync) frames before a random access point")
            }
        }
        guard record.lives.count == 1, !history.has(.backup), let life = record.lives.first,
            !Limits.isSlowed(history, at: life.end), let first = published.first?.source
        else { return }
        let end = life.end - Limits.patience(history) - Limits.hold(history)
        let lost = broadcast.segments.filter {
            $0.index >= source[first].segment && arrivals[$0.index].isEmpty && $0.end < end && $0.end > life.start
        }
        let isRenumbered = broadcast.eras.count > 1
        if !isRenumbered, life.lost < lost.count {
            find(.count, at: life.end, "\(lost.count) segments are lost, \(life.lost) are counted")
        }
    }
}
