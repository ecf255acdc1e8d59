import PlaylistRules

// MARK: - Frames: each once, in order, and nothing missing of what came

extension Oracle {
    /// Finds the broadcast frame that each published one is. Frames only go on in the order of the broadcast.
    mutating func judgeOrder() {
        var candidates: [FrameIdentity: [Int]] = [:]
        for (place, frame) in source.enumerated() where hasCome(place, by: .max) {
            candidates[frame.identity, default: []].append(place)
        }
        var last = -1
        var isReported = false
        for index in published.indices {
            let frame = published[index]
            let at = record.segments[frame.segment].at
            let found = candidates[frame.identity]?.first { $0 > last && hasCome($0, by: at) }
            if found == nil, !isReported, !limits.isDamaged(at: at) {
                let before = last < 0 ? "nothing" : name(of: last)
                find(.order, at: at, "\(frame.identity) is out of order or comes twice, after \(before)")
            }
            isReported = found == nil
            guard let found else { continue }
            published[index].source = found
            let segment = source[found].segment
            if firstPublished[segment] == nil { firstPublished[segment] = published[index] }
            last = found
        }
    }

    /// All frames that had to be published are. Those of the end wait for the next segment.
    mutating func judgeMissingFrames() {
        guard let first = published.lazy.compactMap(\.source).first else {
            if record.lives.contains(where: { $0.end - $0.start > 15_000 }) {
                find(.missing, at: record.lastTime, "nothing was published")
            }
            return
        }
        let known = Set(published.compactMap(\.source))
        let due = duePlacesOfStream(known)
        for segment in broadcast.segments where !cuts.contains(segment.index) {
            let missing = places[segment.index].filter {
                $0 >= first && !known.contains($0) && due?.contains($0) ?? true
            }
            guard !missing.isEmpty, due != nil || mustBePublished(segment.index), !isLate(segment),
                !mayBeUnwritten(segment), !hasOtherShowing(missing),
                !missing.allSatisfy({ mayBeDuplicate($0, known) })
            else { continue }
            find(
                .missing, at: segment.end,
                "\(missing.count) of \(places[segment.index].count) frames, which came whole, from "
                    + "\(name(of: missing[0])) on")
        }
    }

    /// Whether a segment came whole in time to be published by the process that got it. An earlier one holds it up that comes
    /// after it, or that is waited for until the process ends.
    private func mustBePublished(_ segment: Int) -> Bool {
        let givenUpAt = givenUpAt(segment) ?? .max
        return record.lives.contains { life in
            let hold = limits.hold(before: life.end)
            let limit = min(life.end - hold, givenUpAt)
            let isWaiting = life.end - broadcast.segments[segment].end < limits.patience + hold
            // A process that is killed while it publishes a segment got that at its end.
            return ownArrivals[segment].contains { $0 >= life.start && $0 <= limit && $0 < life.end }
                && !isHeldUpByPage(segment, until: life.end)
                && (max(0, segment - 6)..<segment).allSatisfy { earlier in
                    came(earlier, by: limit)
                        || neverCame(earlier) && !(isWaiting && mayFail(broadcast.segments[earlier]))
                }
        }
    }

    private func mayFail(_ segment: Broadcast.Segment) -> Bool { segment.fault != nil || isUnusable(segment) }

    /// When a segment was given up because the first gap would have been listed instead of what follows it; nil if it was not.
    private func givenUpAt(_ segment: Int) -> Int? {
        let next = published.first { frame in frame.source.map { source[$0].segment > segment } ?? false }
        guard let number = next?.segment, number > 0 else { return nil }
        let (before, at) = (record.segments[number - 1].at, record.segments[number].at)
        return at - before >= limits.silenceBeforeGap ? at : nil
    }

    /// Whether an earlier segment of a playlist that ends is a page, which is tried for a minute.
    func isHeldUpByPage(_ segment: Int, until time: Int = .min) -> Bool {
        guard let end = broadcast.endsAt, time < end + Limits.finishedPatience else { return false }
        return broadcast.segments[max(0, segment - 40)..<segment].contains {
            $0.fault?.thing == .pageSegment && $0.end > 0
        }
    }

    /// Whether gaps were listed for a segment's time, so many that it comes too late.
    func isLate(_ segment: Broadcast.Segment) -> Bool {
        var (gaps, before): ([Int], Int) = ([], 0)
        return record.segments.contains { listed in
            gaps = listed.text.isGap ? gaps + [listed.at] : []
            if gaps.isEmpty { before = listed.at }
            guard gaps.count >= Limits.gapsBeforeLateMedia else { return false }
            let silence = gaps[0] - limits.silenceBeforeGap - limits.longestSegment - burst(before: before)
            return segment.end > silence && segment.start < listed.at
        }
    }

    /// Whether the same bytes were published so shortly before that they may be taken for published media, because numbers
    /// cannot tell (decision 13).
    func mayBeDuplicate(_ place: Int, _ known: Set<Int>) -> Bool {
        let (frame, reach) = (source[place], Double(limits.repeatable))
        return (limits.rejoins + (reception?.joints ?? [])).contains { abs(frame.at - Double($0)) <= reach }
            && known.contains { other in
                let earlier = source[other]
                return earlier.identity == frame.identity && earlier.at < frame.at && frame.at - earlier.at < reach * 2
            }
    }
}

// MARK: - Segments that were not got

extension Oracle {
    /// Every segment that could be got was got.
    mutating func judgeLostSegments() {
        guard reception == nil, let first = published.lazy.compactMap(\.source).first.map({ source[$0].segment })
        else { return }
        for segment in broadcast.segments[first...] where neverCame(segment.index) && !isLate(segment) {
            guard let reason = obtainable(segment) else { continue }
            find(.lost, at: segment.end, "segment \(segment.index) \(reason)")
        }
        for (index, attempts) in Dictionary(grouping: log.attempts, by: \.segment).sorted(by: { $0.key < $1.key }) {
            let segment = broadcast.segments[index]
            if segment.fault?.thing == .gapSegment {
                find(.lost, at: segment.end, "segment \(index), a gap, was asked for")
            }
            // A body that ended too early is asked for again, unless a gap was listed in its place.
            guard attempts.count == 1, attempts[0].outcome == .cut, !limits.hidesCuts(of: segment), !isLate(segment),
                let life = record.lives.last
            else { continue }
            if limits.peace(from: attempts[0].answeredAt, until: life.end) > limits.fetchTime {
                find(.lost, at: segment.end, "segment \(index) was cut, and not asked for again")
            }
        }
        if let join = log.reloads.first, first < join.listed.upperBound - limits.longestJoin {
            find(.lost, at: join.at, "joined at segment \(first) of \(join.listed)")
        }
    }

    /// Why a segment that was not got could have been got; nil if it could not.
    private func obtainable(_ segment: Broadcast.Segment) -> String? {
        // Nothing follows an end that was believed.
        if mayEnd, let ended = log.reloads.first(where: \.hasEnded), segment.end > ended.at { return nil }
        if let end = broadcast.endsAt, segment.end > end - 20_000, isHeldUpByPage(segment.index) { return nil }
        if isUnusable(segment) { return nil }
        if let fault = segment.fault?.thing, [.goneSegment, .pageSegment, .gapSegment].contains(fault) { return nil }
        let leaves = leavingTime(segment.index)
        let seen = log.reloads.filter { $0.listed.contains(segment.index) }
        for life in record.lives {
            let first = seen.first { $0.at >= life.start && $0.at < life.end }
            guard first.map({ !isBeforeJoin(segment.index, $0) }) ?? seen.isEmpty else { continue }
            // It has to be loaded, or its playlist first.
            let (start, time) =
                first.map { ($0.at, limits.fetchTime) } ?? (max(segment.end, life.start + 1000), limits.pollTime)
            // No wait ends after the first gap is due, and one that ends an outage may begin right before.
            let before = record.segments.last { $0.at <= start && !$0.text.isGap }?.at ?? start
            if 0..<1000 ~= before + limits.silenceBeforeGap + burst(before: before) - start { continue }
            let peace = limits.peace(from: start, until: min(life.end, leaves))
            if peace > time { return "could be had for \(peace) ms from \(Double(start) / 1000) s on" }
        }
        return nil
    }

    /// Whether a segment is not asked for, because the playlist is joined after it.
    private func isBeforeJoin(_ segment: Int, _ seen: OriginLog.Reload) -> Bool {
        let isFirst = record.lives.first.map { seen.at - $0.start < 15_000 } ?? true
        if isFirst, segment < seen.listed.upperBound - Limits.joinSegments { return true }
        // Another encoder without dates is joined at its edge.
        return seen.era > 0 && !history.isDated && segment < seen.listed.upperBound - 1
    }

    /// When a segment leaves the playlist, or its numbering ends.
    private func leavingTime(_ index: Int) -> Int {
        let next = index + history.window
        let slid = next < broadcast.segments.count ? broadcast.segments[next].end : Int.max
        return min(slid, broadcast.eras.first { $0.firstSegment > index }?.at ?? .max)
    }
}
