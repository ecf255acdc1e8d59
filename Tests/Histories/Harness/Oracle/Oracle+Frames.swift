// MARK: - Frames: each once, in order, and nothing missing of what came

extension Oracle {
    /// Finds the broadcast frame that each published one is. Frames only go on in the order of the broadcast.
    mutating func judgeOrder() {
        var places: [FrameIdentity: [Int]] = [:]
        for (place, frame) in source.enumerated() where !arrivals[frame.segment].isEmpty {
            places[frame.identity, default: []].append(place)
        }
        var last = -1
        var isReported = false
        for index in published.indices {
            let frame = published[index]
            let at = record.segments[frame.segment].at
            let found = places[frame.identity]?.first { $0 > last && wasThere(source[$0].segment, by: at) }
            guard let found else {
                if !isReported {
                    find(
                        .order, at: at,
                        "\(name(of: frame.identity)) is out of order or comes twice, after \(place(last))")
                }
                isReported = true
                continue
            }
            isReported = false
            published[index].source = found
            last = found
        }
    }

    private func wasThere(_ segment: Int, by time: Int) -> Bool { arrivals[segment].contains { $0 <= time } }

    func name(of identity: FrameIdentity) -> String {
        let content =
            identity.content >= Broadcast.firstCreative
            ? "ad \(identity.content - Broadcast.firstCreative)" : "program \(identity.content)"
        return "frame \(identity.frame) of \(content)"
    }

    private func place(_ index: Int) -> String {
        source.indices.contains(index)
            ? "\(name(of: source[index].identity)) in segment \(source[index].segment)" : "nothing"
    }

    /// All frames of segments that came whole are published, but those of the end that wait for the next segment.
    mutating func judgeMissingFrames() {
        guard let first = published.first(where: { $0.source != nil })?.source else {
            if record.lives.contains(where: { $0.end - $0.start > 15_000 }) {
                find(.missing, at: record.lastTime, "nothing was published")
            }
            return
        }
        let known = Set(published.compactMap(\.source))
        var missing: [Int: [Int]] = [:]
        for place in first..<source.count where !known.contains(place) {
            missing[source[place].segment, default: []].append(place)
        }
        for (segment, places) in missing.sorted(by: { $0.key < $1.key }) {
            guard cuts[segment] == nil, mustBePublished(segment),
                !Limits.isLate(broadcast.segments[segment], self),
                !places.allSatisfy({ mayBeDuplicate($0, known) })
            else { continue }
            let total = broadcast.segments[segment].parts.reduce(0) { $0 + $1.frames.count }
            find(
                .missing, at: broadcast.segments[segment].end,
                "\(places.count) of \(total) frames of segment \(segment), which came whole, from \(place(places[0])) on"
            )
        }
    }

    /// Whether a segment came whole in time to be published by the process that got it, or by the next one.
    private func mustBePublished(_ segment: Int) -> Bool {
        for life in record.lives {
            let limit = life.end - Limits.hold(history)
            // What waits for its turn is lost with the process, so all before it must have come too.
            let isInTime = ownArrivals[segment].contains {
                $0 >= life.start && $0 <= limit && !isOvertaken(segment, at: $0)
            }
            guard isInTime else { continue }
            let isFree = (0..<segment).allSatisfy { earlier in
                arrivals[earlier].isEmpty || arrivals[earlier].contains { $0 <= limit } || earlier + 3 < segment
            }
            guard isFree, !isHeldUp(segment, in: life) else { continue }
            return true
        }
        return false
    }

    /// Whether a segment came after the one behind it was published, just before a gap would have been listed.
    private func isOvertaken(_ segment: Int, at arrival: Int) -> Bool {
        let isNext: (PublishedFrame) -> Bool = { frame in
            frame.source.map { source[$0].segment == segment + 1 } ?? false
        }
        guard let next = published.first(where: isNext) else { return false }
        let at = record.segments[next.segment].at
        let silentSince = record.segments.last { $0.at < at }?.at ?? 0
        return at < arrival && at - silentSince >= Limits.silenceBeforeGap(history)
    }

    /// Whether an earlier segment that does not come holds up `segment` until the process ends.
    private func isHeldUp(_ segment: Int, in life: PublicationRecord.Life) -> Bool {
        let listed = broadcast.segments[segment].end
        if let end = broadcast.endsAt, life.end < end + Limits.finishedPatience, hasPage(before: segment) {
            return true
        }
        return life.end - listed < Limits.patience(history) + Limits.hold(history)
            && (max(0, segment - 6)..<segment).contains { earlier in
                !arrivals[earlier].contains { $0 >= life.start && $0 <= life.end - Limits.hold(history) }
                    && broadcast.segments[earlier].fault != nil
            }
    }

    /// Whether an earlier segment of a playlist that ends is a page, which is tried for a minute.
    func hasPage(before segment: Int) -> Bool {
        broadcast.segments[max(0, segment - 40)..<segment].contains { $0.fault?.thing == .pageSegment && $0.end > 0 }
    }

    /// Whether the same bytes were published so shortly before that they may be taken for published media, because numbers
    /// cannot tell (decision 13).
    private func mayBeDuplicate(_ place: Int, _ known: Set<Int>) -> Bool {
        let frame = source[place]
        return Limits.rejoins(history).contains { rejoin in
            let reach = Double(Limits.repeatable(history))
            guard frame.at >= Double(rejoin) - reach, frame.at <= Double(rejoin) + reach else { return false }
            return source.indices.contains { other in
                other != place && source[other].identity == frame.identity && known.contains(other)
                    && source[other].at < frame.at && frame.at - source[other].at < reach * 2
            }
        }
    }
}

// MARK: - Segments that were not got

extension Oracle {
    /// Every segment that could be got was got.
    mutating func judgeLostSegments() {
        guard let first = published.first(where: { $0.source != nil })?.source.map({ source[$0].segment }) else {
            return
        }
        for segment in broadcast.segments.dropFirst(first) where arrivals[segment.index].isEmpty {
            guard !Limits.isLate(segment, self), let reason = obtainable(segment) else { continue }
            find(.lost, at: segment.end, "segment \(segment.index) \(reason)")
        }
        if let join = log.reloads.first, first < join.listed.upperBound - Limits.joinSegments - 1 {
            find(.lost, at: join.at, "joined at segment \(first) of \(join.listed)")
        }
    }

    /// Why a segment that was not got could have been got; nil if it could not.
    private func obtainable(_ segment: Broadcast.Segment) -> String? {
        // Nothing follows an end that was believed.
        if let ended = log.reloads.first(where: \.hasEnded)?.at, segment.end > ended, Limits.mayEnd(broadcast, log) {
            return nil
        }
        if let end = broadcast.endsAt, segment.end > end - 20_000, hasPage(before: segment.index) { return nil }
        switch segment.fault?.thing {
        case .goneSegment, .pageSegment, .gapSegment: return nil
        default: break
        }
        for life in record.lives {
            let seen = log.reloads.first {
                $0.listed.contains(segment.index) && $0.at >= life.start && $0.at < life.end
            }
            guard let seen else { continue }
            guard !Limits.skipsAtJoin(segment.index, seen, self) else { continue }
            let peace = Limits.peace(from: seen.at, until: min(life.end, leavingTime(segment.index)), history)
            if peace > Limits.fetchTime(history) {
                return "was listed at \(Double(seen.at) / 1000) s, and could be had for \(peace) ms"
            }
        }
        let listed = segment.end..<max(segment.end, leavingTime(segment.index))
        for life in record.lives {
            let (start, end) = (max(listed.lowerBound, life.start + 1000), min(listed.upperBound, life.end))
            let wasSeen = log.reloads.contains { $0.listed.contains(segment.index) }
            guard !wasSeen, end > start else { continue }
            let peace = Limits.peace(from: start, until: end, history)
            if peace > Limits.pollTime(history) {
                return "was listed for \(peace) ms, and no playlist was loaded meanwhile"
            }
        }
        return nil
    }

    /// When a segment leaves the playlist, or its numbering ends.
    func leavingTime(_ index: Int) -> Int {
        let next = index + history.window
        let slid = next < broadcast.segments.count ? broadcast.segments[next].end : Int.max
        let restart = broadcast.eras.first { $0.firstSegment > index }?.at ?? .max
        return min(slid, restart)
    }
}
