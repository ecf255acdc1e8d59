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
            last = found
        }
        preferContinuousShowings()
        for frame in published {
            guard let segment = frame.source.map({ source[$0].segment }), firstPublished[segment] == nil else {
                continue
            }
            firstPublished[segment] = frame
        }
    }

    /// Of several showings of the same bytes, a frame is of the one with which its period goes on.
    private mutating func preferContinuousShowings() {
        for (index, next) in zip(published.indices, published.indices.dropFirst()).reversed() {
            guard let own = published[index].source, let following = published[next].source, following > own + 1,
                source[following - 1].identity == published[index].identity,
                hasCome(following - 1, by: record.segments[published[index].segment].at),
                !record.segments[published[index].segment...published[next].segment].dropFirst()
                    .contains(where: { $0.text.isDiscontinuous || $0.text.isGap })
            else { continue }
            published[index].source = following - 1
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
                !mayBeUnwritten(segment), !hasOtherShowing(missing), !isLeftByProcess(missing),
                !missing.allSatisfy({ mayBeDuplicate($0, known) })
            else { continue }
            find(
                .missing, at: segment.end,
                "\(missing.count) of \(places[segment.index].count) frames, which came whole, from "
                    + "\(name(of: missing[0])) on")
        }
    }

    /// Whether a segment came whole in time to be published by the process that got it, and so did one after it. An earlier one
    /// holds it up that comes after it, or that is waited for until the process ends.
    private func mustBePublished(_ segment: Int) -> Bool {
        let passedAt = passedAt(segment) ?? .max
        return record.lives.contains { life in
            let hold = limits.hold(before: life.end)
            let limit = min(life.end - hold, passedAt)
            func arrival(_ segment: Int) -> Int? {
                // A process that is killed while it publishes a segment got that at its end.
                ownArrivals[segment].filter { $0 >= life.start && $0 < life.end }.min()
            }
            guard let at = arrival(segment), at <= limit,
                ownArrivals.indices[segment...].dropFirst().contains(where: {
                    arrival($0).map { $0 <= limit + limits.longestSegment } ?? false
                })
            else { return false }
            let isWaiting = life.end - max(at, broadcast.segments[segment].end) < limits.patience + hold
            // The next one too: a segment ends where that begins.
            let others = max(0, segment - 20)..<min(segment + 2, broadcast.segments.count)
            return !isHeldUpByPage(segment + 1, until: life.end)
                && others.allSatisfy { other in
                    other == segment || came(other, by: other < segment ? limit : limit + limits.longestSegment)
                        || neverCame(other) && !(isWaiting && mayFail(broadcast.segments[other]))
                }
        }
    }

    /// Whether frames are the rest of a group with whose beginning a process ended: the next one cannot begin inside it.
    private func isLeftByProcess(_ missing: [Int]) -> Bool {
        let (first, last) = (source[missing[0]], source[missing[missing.count - 1]])
        let group = first.format.group
        guard first.identity.frame % group > 0, first.identity.frame / group == last.identity.frame / group,
            let end = published.first(where: { $0.source == missing[0] - 1 })?.segment
        else { return false }
        return mayBeOfProcessBefore(end)
            || record.segments.dropFirst(end + 1).first.map { $0.life > record.segments[end].life } ?? false
    }

    private func mayFail(_ segment: Broadcast.Segment) -> Bool { segment.fault != nil || isUnusable(segment) }

    /// When media after a segment was published instead of it, because the first gap was due or its wait was over; nil if it
    /// was not, or too early.
    private func passedAt(_ segment: Int) -> Int? {
        let next = published.first { frame in frame.source.map { source[$0].segment > segment } ?? false }
        guard let number = next?.segment else { return nil }
        let (at, life) = (record.segments[number].at, record.lives[record.segments[number].life])
        let listed = log.reloads.first { $0.listed.contains(segment) && $0.at >= life.start }?.at ?? at
        let gapTime = lastMedia(before: number).map { $0.at + limits.silenceBeforeGap } ?? .max
        return at + 250 >= min(listed + limits.patience, gapTime) ? at : nil
    }

    private func lastMedia(before number: Int) -> PublicationRecord.Segment? {
        record.segments[..<number].last { !$0.text.isGap }
    }

    /// Whether an earlier segment of a playlist that ends is a page, which is tried for a minute.
    func isHeldUpByPage(_ segment: Int, until time: Int = .min) -> Bool {
        guard let end = broadcast.endsAt, time < end + Limits.finishedPatience else { return false }
        return broadcast.segments[max(0, segment - 40)..<segment].contains {
            $0.fault?.thing == .pageSegment && $0.end > 0
        }
    }

    /// Whether a segment's time was listed as gaps, and that of so much media that it comes too late (docs/failover.md).
    func isLate(_ segment: Broadcast.Segment) -> Bool {
        let middle = Double(segment.start + segment.end) / 2
        return lateTimes.contains { $0.contains(middle) }
    }

    /// The source times that were listed as gaps for which media is not published.
    func madeLateTimes() -> [Range<Double>] {
        var (times, gaps, end): ([Range<Double>], [Int], Double) = ([], [], 0)
        let lasts = Dictionary(published.map { ($0.segment, $0) }) { $1 }
        for (index, listed) in record.segments.enumerated() {
            if listed.text.isGap { gaps.append(listed.text.milliseconds) }
            if gaps.count >= Limits.gapsBeforeLateMedia, listed.text.isGap {
                // Nobody knows what an encoder made last before it began again.
                let isKnown = !broadcast.eras.contains { Double($0.at) > end && $0.at < listed.at }
                let length = gaps.reduce(0, +) + (isKnown ? 0 : limits.longestSegment)
                times.append(end..<end + Double(length + 50))
            }
            guard !listed.text.isGap else { continue }
            gaps = []
            if let place = lasts[index]?.source {
                end = source[place].at + Double(source[place].format.frameDuration) / 90
            }
        }
        return times
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
                let life = record.lives.first(where: { $0.end > attempts[0].answeredAt })
            else { continue }
            let end = min(life.end, gapTime(after: attempts[0].answeredAt, of: segment))
            if limits.peace(from: attempts[0].answeredAt, until: end) > limits.fetchTime {
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
            let end = min(life.end, leaves, gapTime(after: start, of: segment))
            let peace = limits.peace(from: start, until: end)
            if peace > time { return "could be had for \(peace) ms from \(Double(start) / 1000) s on" }
        }
        return nil
    }

    /// When the wait for a segment ends that may fail, or that is disturbed: when the first gap is due. Another one is waited for.
    private func gapTime(after time: Int, of segment: Broadcast.Segment) -> Int {
        let number = record.segments.firstIndex { $0.at > time } ?? record.segments.count
        guard let media = lastMedia(before: number) else { return .max }
        let gap = media.at + limits.silenceBeforeGap + burst(before: media.at)
        let isDisturbed = gap > time && limits.peace(from: time, until: gap) < gap - time
        return isDisturbed || mayFail(segment) ? gap : .max
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
