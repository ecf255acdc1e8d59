import PlaylistRules

// MARK: - Endless streams: what came on the connections is published once, and connections are made in time

extension Oracle {
    /// Finds out which frames of a stream came.
    mutating func prepareStream() {
        guard let stream = broadcast.stream else { return }
        let reception = StreamReception(stream, log, broadcast, places)
        cameAt = source.map { _ in nil }
        for frame in reception.frames {
            guard let time = frame.cameAt else { continue }
            cameAt[frame.place] = time
            arrivals[frame.unit.segment] = [min(time, arrivals[frame.unit.segment].first ?? time)]
        }
        ownArrivals = arrivals
        self.reception = reception
    }

    /// The places of the frames of a stream that a perfect client would have had; nil: the upstream is none.
    ///
    /// No frame is published without those that it needs.
    mutating func duePlacesOfStream(_ known: Set<Int>) -> Set<Int>? {
        guard var reception else { return nil }
        let numbers = Dictionary(uniqueKeysWithValues: reception.frames.enumerated().map { ($1.place, $0) })
        var due: Set<Int> = []
        for (number, life) in record.lives.enumerated() {
            let last = published.last { $0.source != nil && record.segments[$0.segment].life < number }?.segment
            let tail = published.filter { $0.segment == last }.compactMap { $0.source.flatMap { numbers[$0] } }.max()
            due.formUnion(reception.duePlaces(in: life, after: tail))
        }
        self.reception = reception
        for (before, frame) in zip(reception.frames, reception.frames.dropFirst()) where !frame.isRandomAccess {
            guard known.contains(frame.place), !known.contains(before.place), !mayBeDuplicate(before.place, known)
            else { continue }
            let at = published.first { $0.source == frame.place }.map { record.segments[$0.segment].at } ?? 0
            find(.frame, at: at, "\(name(of: frame.place)) is published without the frame before it")
        }
        return due
    }

    /// There are never two connections, and another one is made in time.
    mutating func judgeConnections() {
        guard reception != nil else { return }
        let connections = log.streams.connections
        for (one, next) in zip(connections, connections.dropFirst()) {
            if let last = one.parts.last?.at, last > next.askedAt {
                find(.lost, at: next.askedAt, "there are two connections")
            }
        }
        for (index, one) in connections.enumerated() {
            guard let life = record.lives.first(where: { one.askedAt >= $0.start && one.askedAt < $0.end }) else {
                continue
            }
            let next = connections.dropFirst(index + 1).first { $0.askedAt < life.end }?.askedAt ?? life.end
            let limit = Limits.reconnection(after: one)
            guard next > limit + limits.asleep(from: one.askedAt, to: next) else { continue }
            find(.lost, at: limit, "no connection is made for \(next - limit) ms after the one of \(one.askedAt) ms")
        }
    }
}

extension Limits {
    // MARK: - docs/upstreams.md

    /// Media that waits for the end of its segment and of the next one, milliseconds: each has 1.8 s and a group, and audio
    /// is waited for.
    static let heldMedia = 10_000

    /// Segments are cut at random access points after 1.8 s.
    static let longestStreamSegment = 4000
    /// Milliseconds between two parts of a stream that comes in bursts.
    static let longestBurst = 3000

    /// The longest time without a new segment of a stream.
    func streamStandstill(from start: Int, to end: Int) -> Int {
        let isDisturbed = history.events.contains { event in
            guard event.at < end else { return false }
            if event.thing == .shortConnections { return true }
            return (event.duration > 0 || event.thing == .cutStream) && event.end + 25_000 > start
        }
        if !isDisturbed { return Self.longestStreamSegment + Self.longestBurst + history.targetDuration * 500 + 1000 }
        return silenceBeforeGap + Self.longestStreamSegment + 1000
    }

    /// When the connection after another one is made at the latest.
    static func reconnection(after one: StreamConnection) -> Int {
        // A connection that sends in bursts may be silent for 15 s.
        let silent = (one.parts.last?.at ?? one.askedAt) + 15_500
        guard let end = one.end else { return silent }
        // What brought little is followed after a pause.
        let isWorthwhile = one.received.count > 60_000 && one.parts.count > 10
        return min(silent, end) + (isWorthwhile ? 1000 : 8500)
    }
}
